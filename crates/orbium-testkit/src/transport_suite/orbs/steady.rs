// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resources of calls and ORBs: allocations in steady state, and leaks.

use std::thread;

use crate::transport_suite::Subject;
use crate::{
    Counted, count_allocations, descriptors, each_strategy, eventually, fewest_allocations,
    frugal_calls, held_octets, threads, within,
};

/// Calls of several kinds do not allocate on either side, once buffers have their size.
///
/// Conformance: streams - no allocation per call; nothing left behind
pub fn calls_in_steady_state_take_nothing_from_the_heap(subject: &Subject) {
    const CALLS: usize = 200;
    let counts = count_allocations(|| drop(std::hint::black_box(Box::new(1))));
    assert_ne!(counts.allocations, 0, "the heap is not counted");
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        let mut calls = frugal_calls(&target);
        for (what, call) in &mut calls {
            for _ in 0..CALLS {
                call();
            }
            let Counted {
                allocations,
                octets,
            } = fewest_allocations(CALLS * subject.allocations, || {
                for _ in 0..CALLS {
                    call();
                }
            });
            assert!(
                allocations <= CALLS * subject.allocations,
                "{what}, {strategy}: {allocations} allocations of {octets} octets in {CALLS} calls"
            );
        }
        drop(calls);
        client.shutdown(true).expect("shutdown");
        served.end();
    });
}

/// Connections return to small buffers after large messages, whether they continue with small ones
/// or idle, on either side. Regression: they retained their largest buffer while they existed.
///
/// Conformance: ORB - memory after large messages
pub fn large_messages_leave_nothing(subject: &Subject) {
    const CONNECTIONS: usize = 4;
    const LARGE: usize = 6 << 20;
    each_strategy(|strategy| {
        let served = subject.serve(strategy);
        let client = subject.client_orb();
        let target = served.seen_by(&client);
        let octets = vec![7; LARGE];
        let call = |large: bool| {
            thread::scope(|scope| {
                for _ in 0..CONNECTIONS {
                    scope.spawn(|| {
                        if large {
                            assert_eq!(target.echo_octets(&octets).unwrap().len(), LARGE);
                        } else {
                            // Concurrently, so that there are as many connections.
                            for v in 0..50 {
                                assert_eq!(target.echo_long(v), Ok(v));
                            }
                        }
                    });
                }
            });
        };
        call(false);
        let before = held_octets();
        for goes_on in [false, true] {
            call(true);
            if goes_on {
                call(false);
            }
            // The maximum that connections retain is little compared with one message.
            eventually("the memory of large messages is given back", || {
                held_octets() < before + LARGE / 2
            });
            for (side, orb) in [("server", &served.orb), ("client", &client)] {
                eventually("nothing is charged any more", || {
                    orb.peer_memory().held == 0
                });
                assert!(orb.peer_memory().most >= LARGE, "the {side}'s are charged");
            }
        }
        client.shutdown(true).expect("shutdown");
        served.end();
    });
}

/// Servers and clients start and end without leaving threads or descriptors.
///
/// Conformance: streams - no allocation per call; nothing left behind
pub fn orbs_leave_nothing(subject: &Subject) {
    each_strategy(|strategy| {
        // Resources that are opened once are open after the first round.
        let mut before = (0, 0);
        for round in 0..4 {
            if round == 1 {
                before = (descriptors(), threads());
            }
            let served = subject.serve(strategy);
            let client = subject.client_orb();
            let target = served.seen_by(&client);
            thread::scope(|scope| {
                for _ in 0..10 {
                    scope.spawn(|| {
                        for v in 0..10 {
                            assert_eq!(target.echo_long(v), Ok(v));
                        }
                    });
                }
            });
            // In either order.
            if round % 2 == 0 {
                within("the client's end", move || client.shutdown(true)).expect("shutdown");
                served.end();
            } else {
                served.end();
                within("the client's end", move || client.shutdown(true)).expect("shutdown");
            }
        }
        eventually("descriptors and threads are given back", || {
            let now = (descriptors(), threads());
            now.0 <= before.0 && now.1 <= before.1
        });
    });
}
