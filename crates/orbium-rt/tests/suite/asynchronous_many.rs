// SPDX-License-Identifier: MIT OR Apache-2.0
//! Very many asynchronous invocations of several priorities. A program of its
//! own, for it counts threads and descriptors.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::common::{adapter, client, propagated, seen_by, server, teller};
use orbium_cdr::{Decode, Encode};
use orbium_core::asynchronous::Asynchronous;
use orbium_core::{Interface, Operation, SystemException};
use orbium_rt::RtOrb;
use orbium_testkit::probe::Target;
use orbium_testkit::{block_on, descriptors, eventually, in_own_process, threads, within};

static ACT: Operation = Operation::new("act");

const PRIORITIES: [i16; 5] = [0, 7, 40, 41, 98];
const CALLERS: usize = 4;
/// Calls that a caller begins before it looks for answers.
const AT_ONCE: usize = 32;

fn act(target: &Target) -> Asynchronous<i32> {
    target
        .as_object()
        .call_async(&ACT, 0, Encode::encode, i32::decode)
}

/// What came of calls.
#[derive(Default)]
struct Tally {
    right: AtomicU32,
    wrong: AtomicU32,
    refused: AtomicU32,
    handled: AtomicU32,
}

impl Tally {
    fn add(&self, priority: i16, result: Result<i32, SystemException>) {
        let count = match result {
            Ok(served_at) if served_at == i32::from(priority) => &self.right,
            Ok(_) => &self.wrong,
            Err(_) => &self.refused,
        };
        count.fetch_add(1, Ordering::SeqCst);
    }

    fn all(&self) -> [u32; 3] {
        [&self.right, &self.wrong, &self.refused].map(|it| it.load(Ordering::SeqCst))
    }
}

/// Makes calls of all forms at all priorities, in turn.
fn call_around(rt: &RtOrb, target: &Target, calls: usize, tally: &Arc<Tally>) {
    let mut begun = VecDeque::new();
    let current = rt.current();
    for number in 0..calls {
        let priority = PRIORITIES[number % PRIORITIES.len()];
        current.set_the_priority(priority).unwrap();
        let call = act(target);
        if number % 3 == 0 {
            let (tally, current) = (Arc::clone(tally), current.clone());
            tally.handled.fetch_add(1, Ordering::SeqCst);
            call.on_reply(move |result| {
                assert_eq!(current.the_priority().unwrap().number(), priority);
                tally.handled.fetch_sub(1, Ordering::SeqCst);
                tally.add(priority, result);
            });
        } else {
            begun.push_back((number, priority, call));
        }
        if begun.len() >= AT_ONCE
            && let Some((number, priority, mut call)) = begun.pop_front()
        {
            let result = match number % 3 {
                1 => block_on(call),
                _ => call.response(None),
            };
            tally.add(priority, result);
        }
    }
    for (_, priority, call) in begun {
        tally.add(priority, call.wait());
    }
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: 100,000 of mixed priorities and forms: none
/// wrong, none lost, nothing left; also while an ORB ends
#[test]
fn a_hundred_thousand_calls_are_each_served_at_their_priority_and_leave_nothing() {
    in_own_process!(|| {
        const CALLS: usize = 100_000;
        let (server_orb, server_rt) = server();
        let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
            .activate(teller())
            .unwrap();
        let tally = Arc::new(Tally::default());
        // What is made once is there after the first round.
        for calls in [CALLS / 100, CALLS] {
            let before = (descriptors(), threads());
            let (orb, rt) = client();
            let target = seen_by(&orb, &server_orb, &object);
            let callers: Vec<_> = (0..CALLERS)
                .map(|_| {
                    let (rt, target, tally) = (rt.clone(), target.clone(), Arc::clone(&tally));
                    thread::spawn(move || call_around(&rt, &target, calls / CALLERS, &tally))
                })
                .collect();
            for caller in callers {
                caller.join().unwrap();
            }
            eventually("all handlers have run", || {
                tally.handled.load(Ordering::SeqCst) == 0
            });
            drop((rt, target));
            within("the client's end", move || orb.shutdown(true).unwrap());
            if calls == CALLS {
                eventually("nothing is left", || {
                    descriptors() <= before.0 && threads() <= before.1
                });
            }
        }
        let all = u32::try_from(CALLS / 100 + CALLS).unwrap();
        assert_eq!(tally.all(), [all, 0, 0]);
        server_orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: 100,000 of mixed priorities and forms: none
/// wrong, none lost, nothing left; also while an ORB ends
#[test]
fn every_call_comes_to_an_end_when_the_orb_does() {
    in_own_process!(|| {
        for round in 0..20 {
            let before = threads();
            let (server_orb, server_rt) = server();
            let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
                .activate(teller())
                .unwrap();
            let (orb, rt) = client();
            let target = seen_by(&orb, &server_orb, &object);
            let tally = Arc::new(Tally::default());
            let (report, reported) = channel();
            let callers: Vec<_> = (0..CALLERS)
                .map(|_| {
                    let (rt, target, tally) = (rt.clone(), target.clone(), Arc::clone(&tally));
                    let report = report.clone();
                    thread::spawn(move || {
                        call_around(&rt, &target, 50, &tally);
                        report.send(()).unwrap();
                        call_around(&rt, &target, 250, &tally);
                    })
                })
                .collect();
            reported.recv().unwrap();
            let ending = if round % 2 == 0 { &orb } else { &server_orb }.clone();
            within("the end", move || ending.shutdown(true).unwrap());
            within("the callers", move || {
                for caller in callers {
                    caller.join().unwrap();
                }
            });
            eventually("all handlers have run", || {
                tally.handled.load(Ordering::SeqCst) == 0
            });
            let [right, wrong, refused] = tally.all();
            assert_eq!((right + refused, wrong), (CALLERS as u32 * 300, 0));
            drop((rt, target, object, server_rt));
            within("both ends", move || {
                orb.shutdown(true).unwrap();
                server_orb.shutdown(true).unwrap();
            });
            eventually("no thread is left", || threads() <= before);
        }
    });
}
