// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use orbium::{
    Config, ExceptionKind, Interface, Orb,
    asynchronous::Asynchronous,
    config::{GiopMinor, Limits},
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;

use super::lifetime::is_lost;
use crate::probe::{RefusedError, Target};
use crate::transport_suite::Subject;
use crate::transport_suite::child::Process;
use crate::{Served, descriptors, each_strategy, eventually, reach, threads, within};

static ECHO_LONG: Operation = Operation::new("echo_long");
static ECHO_OCTETS: Operation = Operation::new("echo_octets");
static REFUSE: Operation = Operation::new("refuse");
static RAISE_SYSTEM: Operation = Operation::new("raise_system");
static ACT: Operation = Operation::new("act");
static GATE: Operation = Operation::new("gate");

/// More than the buffers between peers hold, so that it is sent in parts.
const LARGE: usize = 3 << 20;

fn of_long(target: &Target, operation: &'static Operation, v: i32) -> Asynchronous<i32> {
    target
        .as_object()
        .call_async(operation, v, Encode::encode, i32::decode)
}

fn echo(target: &Target, v: i32) -> Asynchronous<i32> {
    of_long(target, &ECHO_LONG, v)
}

fn echo_octets(target: &Target, octets: Vec<u8>) -> Asynchronous<Vec<u8>> {
    target
        .as_object()
        .call_async(&ECHO_OCTETS, octets, Encode::encode, Vec::decode)
}

fn refuse(target: &Target, code: i32) -> Asynchronous<i32, RefusedError> {
    target
        .as_object()
        .call_async(&REFUSE, code, Encode::encode, i32::decode)
}

fn raise_system(target: &Target, name: &str) -> Asynchronous<()> {
    target
        .as_object()
        .call_async(&RAISE_SYSTEM, name.to_owned(), Encode::encode, |_| Ok(()))
}

fn gate(target: &Target) -> Asynchronous<()> {
    target
        .as_object()
        .call_async(&GATE, (), |(), _| {}, |_| Ok(()))
}

/// Octets that depend on their position.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    let period: Vec<u8> = (0..256).map(|place| (place * 31 + seed) as u8).collect();
    let mut octets = period.repeat(len.div_ceil(period.len()));
    octets.truncate(len);
    octets
}

fn end(client: Orb) {
    within("the client's end", move || client.shutdown(true)).expect("shutdown");
}

/// Calls of each kind, in each form.
fn check(target: &Target) {
    assert_eq!(echo(target, 7).wait(), Ok(7));
    for len in [0, 1, 100, 70_000] {
        let octets = pattern(len, len);
        assert!(echo_octets(target, octets.clone()).wait().unwrap() == octets);
    }
    match refuse(target, 9).wait() {
        Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 9),
        other => panic!("{other:?}"),
    }
    let raised = raise_system(target, "NO_MEMORY").wait().unwrap_err();
    assert_eq!((raised.kind, raised.minor), (ExceptionKind::NoMemory, 77));
    let (results, received) = channel();
    echo(target, 8).on_reply(move |result| results.send(result).unwrap());
    assert_eq!(received.recv().unwrap(), Ok(8));
    let mut polled = echo(target, 9);
    eventually("the reply comes", || polled.is_ready(Some(Duration::ZERO)));
    assert_eq!(polled.response(Some(Duration::ZERO)), Ok(9));
}

fn checked(subject: &Subject, change: impl Fn(&mut Config)) {
    each_strategy(|strategy| {
        let mut config = subject.server_config(subject.endpoint(), strategy);
        change(&mut config);
        let served = Served::with(config);
        let mut config = subject.client_config();
        change(&mut config);
        let client = Orb::new(config).expect("an ORB");
        let remote = served.seen_by(&client);
        let local = served.target.clone();
        within("the calls", move || {
            check(&remote);
            check(&local);
        });
        end(client);
        served.end();
    });
}

/// Asynchronous invocations get their replies in each form, within the process too.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn asynchronous_calls_are_answered(subject: &Subject) {
    checked(subject, |_| {});
}

/// The same with messages in fragments, and with GIOP 1.0.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn asynchronous_calls_are_answered_in_fragments_and_in_giop_1_0(subject: &Subject) {
    checked(subject, |config| config.fragment_size = Some(1024));
    checked(subject, |config| {
        config.giop_minor = GiopMinor::new(0).expect("a minor version");
    });
}

/// Many calls are outstanding at once, over one connection.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn many_asynchronous_calls_are_answered(subject: &Subject) {
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        within("many calls", move || {
            thread::scope(|scope| {
                for seed in 0..4 {
                    let target = &target;
                    scope.spawn(move || {
                        let calls: Vec<_> = (0..100)
                            .map(|number| {
                                let octets = pattern(number * 97 % 5000, seed);
                                (octets.clone(), echo_octets(target, octets))
                            })
                            .collect();
                        for (octets, call) in calls {
                            assert!(call.wait().unwrap() == octets);
                        }
                    });
                }
            });
        });
        assert_eq!(served.state.calls(), 400);
        end(client);
        served.end();
    });
}

/// Two ORBs send each other more than the buffers between them hold, several times at once, without
/// a deadlock over buffer space.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn large_asynchronous_messages_cross(subject: &Subject) {
    each_strategy(|strategy| {
        let (a, b) = (subject.serve(strategy), subject.serve(strategy));
        let targets = [b.seen_by(&a.orb), a.seen_by(&b.orb)];
        within("large messages", move || {
            let calls: Vec<_> = (0..6)
                .map(|seed| echo_octets(&targets[seed % 2], pattern(LARGE, seed)))
                .collect();
            for (seed, call) in calls.into_iter().enumerate() {
                assert!(call.wait().unwrap() == pattern(LARGE, seed));
            }
        });
        a.end();
        b.end();
    });
}

/// A server that does not read blocks no caller; pending data are sent once it does, except those
/// of abandoned calls.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn a_server_that_does_not_read_keeps_no_caller(subject: &Subject) {
    let served = subject.serve(orbium::config::ServerStrategy::Reactive);
    let client = subject.client_orb();
    let target = served.seen_by(&client);
    let others = gate(&target);
    served.state.gate.await_waiting(1);
    let mut calls: Vec<_> = (0..6)
        .map(|seed| echo_octets(&target, pattern(LARGE, seed)))
        .collect();
    // One that is being sent, and one that waits.
    drop(calls.remove(0));
    drop(calls.remove(3));
    let late = of_long(&target, &ACT, 5);
    served.state.gate.open();
    within("the calls", move || {
        assert_eq!(others.wait(), Ok(()));
        for (call, seed) in calls.into_iter().zip([1, 2, 3, 5]) {
            assert!(call.wait().unwrap() == pattern(LARGE, seed), "{seed}");
        }
        assert_eq!(late.wait(), Ok(5));
    });
    end(client);
    served.end();
}

/// The end of a client ends its calls, including those that are not completely sent.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn the_end_of_a_client_ends_its_asynchronous_calls(subject: &Subject) {
    let served = subject.serve(orbium::config::ServerStrategy::Reactive);
    let client = subject.client_orb();
    let target = served.seen_by(&client);
    let first = gate(&target);
    served.state.gate.await_waiting(1);
    let second = echo_octets(&target, pattern(LARGE, 1));
    let (results, received) = channel();
    echo(&target, 1).on_reply(move |result| results.send(result).unwrap());
    end(client);
    within("the calls", move || {
        assert!(first.wait().is_err());
        assert!(second.wait().is_err());
        assert!(received.recv().unwrap().is_err());
    });
    assert!(echo(&target, 2).wait().is_err());
    served.state.gate.open();
    served.end();
}

/// Outstanding calls to a killed process end.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn a_server_that_is_killed_ends_its_asynchronous_calls(subject: &Subject) {
    for strategy in ["thread-per-connection", "reactive"] {
        let Some(mut server) = Process::start(subject, &format!("serve {strategy}")) else {
            return;
        };
        let client = subject.client_orb();
        let at: orbium_transport::Endpoint = server.said().parse().expect("an endpoint");
        let target = reach(&client, &server.said());
        assert_eq!(echo(&target, 1).wait(), Ok(1));
        let mut calls: Vec<_> = (0..3).map(|_| gate(&target)).collect();
        assert_eq!(server.said(), "waiting");
        // And one that is not completely sent.
        let large = echo_octets(&target, pattern(LARGE, 1));
        server.kill();
        let (results, received) = channel();
        if let Some(call) = calls.pop() {
            call.on_reply(move |result| results.send(result).unwrap());
        }
        within("calls to a killed server", move || {
            for call in calls {
                assert!(is_lost(&call.wait()));
            }
            assert!(is_lost(&received.recv().unwrap()));
            assert!(is_lost(&large.wait()));
            assert!(is_lost(&echo(&target, 2).wait()));
        });
        end(client);
        // Remove the remains of the process.
        drop(subject.try_listen(&at));
    }
}

/// Clients with asynchronous invocations start and end without leaving threads or descriptors:
/// neither when they end nor, after a while, when they are idle.
///
/// Conformance: TAO 46 - asynchronous calls and servers - over every transport and messaging
/// protocol
pub fn asynchronous_calls_leave_nothing(subject: &Subject) {
    each_strategy(|strategy| {
        // Resources that are opened once are open after the first round.
        let mut before = (0, 0);
        for round in 0..4 {
            if round == 1 {
                before = (descriptors(), threads());
            }
            let served = subject.serve(strategy);
            let mut config = subject.client_config();
            config.limits = Limits {
                client_idle_time: Some(Duration::from_millis(50)),
                ..config.limits
            };
            let client = Orb::new(config).expect("an ORB");
            let target = served.seen_by(&client);
            let calls: Vec<_> = (0..50).map(|v| (v, echo(&target, v))).collect();
            let late = gate(&target);
            for (v, call) in calls {
                match v % 3 {
                    0 => assert_eq!(within("a call", move || call.wait()), Ok(v)),
                    1 => drop(call),
                    _ => call.detach(),
                }
            }
            drop(late);
            served.state.gate.open();
            // In either order.
            if round % 2 == 0 {
                end(client);
                served.end();
            } else {
                served.end();
                end(client);
            }
        }
        eventually("descriptors and threads are given back", || {
            let now = (descriptors(), threads());
            now.0 <= before.0 && now.1 <= before.1
        });
    });
}
