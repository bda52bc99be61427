// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls between well-behaved peers.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::{GiopMinor, ServerStrategy},
    policy::{BufferingConstraint, SyncScope},
};
use orbium_demo::check::{self, Check, Facts, Outcome};
use orbium_demo::{Served as Demo, serve};

use crate::transport_suite::Subject;
use crate::{each_strategy, eventually, within};

/// The object of another ORB, as a client reads it.
fn received<I: Interface>(client: &Orb, server: &Orb, object: &I) -> I {
    let text = server.object_to_string(object);
    let read = client.string_to_object(&text).expect("a reference");
    orbium::narrow(read).expect("the interface")
}

fn judge(checks: &[Check], facts: &Facts) {
    // A char beyond ASCII is not one octet of UTF-8, and GIOP 1.0 only transmits Latin-1.
    let excused = |name| name == "kitchen.char_latin1" || facts.giop_minor == 0;
    let bad = checks.iter().filter(|check| match check.outcome {
        Outcome::Passed => false,
        Outcome::Failed(_) => true,
        Outcome::Skipped(_) => !excused(check.name),
    });
    let bad: Vec<_> = bad.map(ToString::to_string).collect();
    assert!(
        bad.is_empty(),
        "{} of {}:\n{}",
        bad.len(),
        checks.len(),
        bad.join("\n")
    );
    assert!(checks.len() > 150, "only {} checks", checks.len());
}

/// All checks of the demonstration; call-backs use the same transport.
fn check_all(subject: &Subject, strategy: ServerStrategy, change: impl Fn(&mut Config)) {
    let built = |mut config: Config| {
        change(&mut config);
        Orb::new(config).expect("an ORB")
    };
    let server = built(subject.server_config(subject.endpoint(), strategy));
    let served = serve(&server).expect("the servants");
    // Its objects are called back.
    let client = built(subject.peer_config(subject.endpoint(), strategy));
    let facts = Facts::of_giop(client.config().giop_minor.number());
    let remote = Demo {
        cube: received(&client, &server, &served.cube),
        receiver: received(&client, &server, &served.receiver),
        peer: received(&client, &server, &served.peer),
    };
    let mut checks = check::receiver(&remote.receiver, &facts);
    checks.extend(check::peer(&client, &remote.peer, &facts));
    checks.extend(check::cube(&remote.cube, &facts));
    let (cube, peer) = (&remote.cube, &remote.peer);
    checks.extend(check::asynchronous(&client, cube, peer, &facts));
    checks.push(check::shutdown(&remote.cube));
    judge(&checks, &facts);
    within("the ends of both", move || {
        // `Cube::shutdown` may have ended it already.
        let _ = server.shutdown(true);
        client.shutdown(true).expect("shutdown");
    });
}

/// Every operation of the three interfaces of the demonstration.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
/// Conformance: TAO 46 - asynchronous calls and servers - every operation in all forms, against
/// every strategy and transport
pub fn every_operation_is_answered(subject: &Subject) {
    let check = |strategy| check_all(subject, strategy, |_| {});
    if subject.all_strategies {
        each_strategy(check);
    } else {
        [ServerStrategy::Reactive, HANDS_OVER]
            .into_iter()
            .for_each(check);
    }
}

/// The same with messages in fragments of 1 KiB.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn every_operation_is_answered_in_fragments(subject: &Subject) {
    for strategy in [ServerStrategy::Reactive, HANDS_OVER] {
        check_all(subject, strategy, |config| {
            config.fragment_size = Some(1024);
        });
    }
}

/// The same with GIOP 1.0.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn every_operation_is_answered_in_giop_1_0(subject: &Subject) {
    for strategy in [ServerStrategy::ThreadPerConnection, HANDS_OVER] {
        check_all(subject, strategy, |config| {
            config.giop_minor = GiopMinor::new(0).expect("a minor version");
        });
    }
}

/// The form of a message matters if one thread receives it and another one serves the request, and
/// if both are one: other strategies do not differ in that.
const HANDS_OVER: ServerStrategy = ServerStrategy::WorkerPool {
    workers: 2,
    queue: 4096,
};

/// Several client ORBs with several threads each.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn many_clients_are_served_at_once(subject: &Subject) {
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let clients: Vec<_> = (0..4).map(|_| subject.client_orb()).collect();
        let targets: Vec<_> = clients.iter().map(|orb| served.seen_by(orb)).collect();
        within("many clients", move || {
            thread::scope(|scope| {
                for (number, target) in (0..32).zip(targets.iter().cycle()) {
                    scope.spawn(move || {
                        for call in 0..50 {
                            let v = number * 1000 + call;
                            assert_eq!(target.echo_long(v), Ok(v));
                            let octets = vec![number as u8; v as usize];
                            assert!(target.echo_octets(&octets).unwrap() == octets);
                        }
                    });
                }
            });
            for client in clients {
                client.shutdown(true).expect("shutdown");
            }
        });
        assert_eq!(served.state.calls(), 32 * 50 * 2);
        served.end();
    });
}

/// Two ORBs send each other more than the buffers between them hold, all at once.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn large_messages_cross(subject: &Subject) {
    const SIZE: usize = 8 << 20;
    each_strategy(|strategy| {
        let (a, b) = (subject.serve(strategy), subject.serve(strategy));
        let targets = [
            (b.seen_by(&a.orb), 1),
            (a.seen_by(&b.orb), 2),
            (b.seen_by(&a.orb), 3),
            (a.seen_by(&b.orb), 4),
        ];
        within("large messages", move || {
            let together = Barrier::new(targets.len());
            thread::scope(|scope| {
                for (target, mark) in &targets {
                    let together = &together;
                    scope.spawn(move || {
                        together.wait();
                        let sent = vec![*mark; SIZE];
                        assert!(target.echo_octets(&sent).unwrap() == sent);
                    });
                }
            });
        });
        a.end();
        b.end();
    });
}

/// Two ORBs call each other back, ten levels deep, from several threads.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn nested_calls_complete(subject: &Subject) {
    each_strategy(|strategy| {
        let (a, b) = (subject.serve(strategy), subject.serve(strategy));
        let b_in_a = b.seen_by(&a.orb);
        let from_a = a.target.clone();
        within("nested calls", move || {
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for depth in [1, 5, 10] {
                            assert_eq!(b_in_a.nest(Some(&from_a), depth), Ok(depth));
                        }
                    });
                }
            });
        });
        assert_eq!(a.state.calls() + b.state.calls(), 8 * (2 + 6 + 11));
        a.end();
        b.end();
    });
}

/// Oneways arrive in the order in which they were sent, each once.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn oneways_arrive_in_order(subject: &Subject) {
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        for v in 0..2000 {
            target.post(v).unwrap();
        }
        target.noop().unwrap();
        eventually("all oneways arrive", || served.state.posted().len() == 2000);
        assert_eq!(served.state.posted(), (0..2000).collect::<Vec<_>>());
        client.shutdown(true).expect("shutdown");
        served.end();
    });
}

/// Oneways under SYNC_NONE arrive in the order in which they were sent, each once, also if the
/// buffer is full at times, and before a call with a reply.
///
/// Conformance: Messaging - buffered oneways - over every transport
pub fn buffered_oneways_arrive_in_order(subject: &Subject) {
    const ROUNDS: i32 = 20;
    const ROUND: i32 = 50;
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        let at_once = target.with_sync_scope(SyncScope::None);
        let held = target.with_buffering(BufferingConstraint {
            message_count: Some(20),
            ..BufferingConstraint::default()
        });
        let patient = at_once.with_timeout(Duration::from_secs(600));
        for round in 0..ROUNDS {
            let sender = match round % 2 {
                0 => &at_once,
                _ => &held,
            };
            (0..ROUND).for_each(|v| sender.post(ROUND * round + v).unwrap());
            patient.pour(&[7; 200_000]).unwrap();
            held.noop().unwrap();
        }
        let all = ROUNDS * ROUND;
        eventually("all arrive", || served.state.posted().len() == all as usize);
        let mut posted = served.state.posted();
        if matches!(strategy, ServerStrategy::WorkerPool { .. }) {
            // Workers begin requests of a connection concurrently.
            posted.sort_unstable();
        }
        assert_eq!(posted, (0..all).collect::<Vec<_>>());
        client.shutdown(true).expect("shutdown");
        served.end();
    });
}

/// A call ends with its time-out, and its late reply is discarded.
///
/// Conformance: streams - calls: every operation, GIOP 1.0, fragments, nesting, crossing, order,
/// deadlines
pub fn a_call_that_takes_too_long_is_given_up(subject: &Subject) {
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        served.state.gate.close();
        for _ in 0..3 {
            let impatient = target.with_timeout(Duration::from_millis(100));
            let exception = within("a call", move || impatient.gate()).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Timeout);
        }
        served.state.gate.open();
        for v in 0..100 {
            assert_eq!(target.echo_long(v), Ok(v));
        }
        client.shutdown(true).expect("shutdown");
        served.end();
    });
}
