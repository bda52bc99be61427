// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers of replies: on threads that have the caller's priority.

use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread;

use orbium_core::{Config, ExceptionKind, Limits, Orb, Priority};
use orbium_rt::RtOrb;
use orbium_testkit::probe::Target;
use orbium_testkit::within;

use super::{act, act_at, handled, result};
use crate::common::{adapter, client, propagated, seen_by, server, soft, teller};

/// A server that says at which priority it serves, and its object as a client sees
/// it.
struct Called {
    orb: Orb,
    rt: RtOrb,
    target: Target,
    _server: Orb,
}

fn called_by((orb, rt): (Orb, RtOrb)) -> Called {
    let (server_orb, server_rt) = server();
    let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
        .activate(teller())
        .unwrap();
    Called {
        target: seen_by(&orb, &server_orb, &object),
        orb,
        rt,
        _server: server_orb,
    }
}

/// A client with handlers that take turns on one thread.
fn one_at_a_time() -> (Orb, RtOrb) {
    let orb = Orb::new(Config {
        limits: Limits {
            reply_threads: 1,
            ..Limits::default()
        },
        ..Config::default()
    });
    let orb = orb.unwrap();
    let rt = soft().install(&orb).unwrap();
    (orb, rt)
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: handlers run at the priority and carry it
/// on, whatever others made of their thread
#[test]
fn a_handler_has_its_callers_priority() {
    let called = called_by(client());
    for priority in [40, 0, 98, 40] {
        let current = called.rt.current();
        let call = act_at(&called.rt, &called.target, priority);
        let (served_at, own) = handled(call, move |it| (it, current.the_priority()));
        assert_eq!(served_at, Ok(priority.into()));
        assert_eq!(own.unwrap().number(), priority);
    }
    // A caller without one.
    let current = called.rt.current();
    let own = handled(act(&called.target, 0), move |_| current.the_priority());
    assert_eq!(own.unwrap_err().kind, ExceptionKind::Initialize);
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: handlers run at the priority and carry it
/// on, whatever others made of their thread
#[test]
fn calls_of_a_handler_carry_it_on() {
    let called = called_by(client());
    for priority in [40, 7] {
        let target = called.target.clone();
        let call = act_at(&called.rt, &called.target, priority);
        let (waited, begun) = handled(call, move |_| (target.act(0), act(&target, 0)));
        assert_eq!(waited, Ok(priority.into()));
        let target = called.target.clone();
        let beyond = handled(begun, move |it| (it, target.act(0)));
        assert_eq!(beyond, (Ok(priority.into()), Ok(priority.into())));
    }
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: handlers run at the priority and carry it
/// on, whatever others made of their thread
#[test]
fn a_handler_that_changes_its_priority_changes_nothing_for_others() {
    let called = called_by(one_at_a_time());
    for own in [Some(40), None] {
        let (rt, target) = (&called.rt, &called.target);
        let begin = || match own {
            Some(priority) => act_at(rt, target, priority),
            None => {
                let target = target.clone();
                thread::spawn(move || act(&target, 0)).join().unwrap()
            }
        };
        for ends_well in [true, false] {
            let current = rt.current();
            let (report, reported) = channel();
            begin().on_reply(move |_| {
                current.set_the_priority(90).unwrap();
                report.send(()).unwrap();
                if !ends_well {
                    resume_unwind(Box::new("reported to"));
                }
            });
            within("the handler", move || reported.recv().unwrap());
            let seen = handled(begin(), |_| orbium_core::priority::current());
            assert_eq!(seen, own.and_then(Priority::new));
        }
    }
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: handlers run at the priority and carry it
/// on, whatever others made of their thread
#[test]
fn a_handler_that_comes_late_has_it_too() {
    let called = called_by(client());
    let call = act_at(&called.rt, &called.target, 40);
    let call = within("the reply", move || {
        assert!(call.is_ready(None));
        call
    });
    let current = called.rt.current();
    let own = handled(call, move |it| (it, current.the_priority()));
    assert_eq!(own, (Ok(40), Ok(Priority::new(40).unwrap())));
}

#[test]
fn many_handlers_take_turns_on_one_thread() {
    let called = called_by(one_at_a_time());
    let (report, reported) = channel();
    let (rt, target) = (called.rt.clone(), called.target.clone());
    let calls = crate::common::on_a_thread(move || {
        rt.current().set_the_priority(40).unwrap();
        (0..200).map(|_| act(&target, 0)).collect::<Vec<_>>()
    });
    for (number, call) in calls.into_iter().enumerate() {
        let report = report.clone();
        call.on_reply(move |it| report.send((number, it)).unwrap());
    }
    drop(report);
    let seen = within("all handlers", move || reported.iter().collect::<Vec<_>>());
    let mut numbers: Vec<_> = seen.iter().map(|(number, _)| *number).collect();
    assert!(seen.iter().all(|(_, served_at)| *served_at == Ok(40)));
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: handlers run at the priority and carry it
/// on, whatever others made of their thread
#[test]
fn a_handler_is_called_whenever_the_orb_ends() {
    for _ in 0..50 {
        let called = called_by(client());
        assert_eq!(result(act_at(&called.rt, &called.target, 40)), Ok(40));
        let calls: Vec<_> = (0..20)
            .map(|_| act_at(&called.rt, &called.target, 40))
            .collect();
        let orb = called.orb.clone();
        let ending = thread::spawn(move || orb.shutdown(true).unwrap());
        let (report, reported) = channel();
        for call in calls {
            let report = report.clone();
            call.on_reply(move |_| report.send(()).unwrap());
        }
        drop(report);
        let count = within("the handlers", move || reported.iter().count());
        assert_eq!(count, 20);
        within("the end", move || ending.join().unwrap());
    }
}
