// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that take turns to lead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use orbium::config::ServerStrategy;
use orbium_testkit::{Peer, RequestLine, Served, request, within};

fn team(threads: usize) -> Served {
    Served::new(ServerStrategy::LeaderFollowers { threads })
}

fn ask(served: &Served, id: u32, operation: &str) -> Peer {
    let mut peer = Peer::connect(served.port());
    peer.send(&request(RequestLine::new(id, operation), |_| {}));
    peer
}

/// Conformance: TAO 6 - a long upcall never stops other requests - with leader-followers up to N
/// are served at once
/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority) - leader/followers
#[test]
fn as_many_are_served_at_once_as_there_are_threads() {
    let served = team(3);
    let mut busy: Vec<Peer> = (0..3).map(|id| ask(&served, id, "gate")).collect();
    served.state.gate.await_waiting(3);
    let mut late = ask(&served, 9, "noop");
    assert!(late.is_silent(std::time::Duration::from_millis(50)));
    served.state.gate.open();
    for (id, peer) in (0..).zip(&mut busy) {
        assert_eq!(peer.receive().reply().0, id);
    }
    assert_eq!(late.receive().reply().0, 9);
    served.end();
}

/// Conformance: TAO 6 - a long upcall never stops other requests - with leader-followers up to N
/// are served at once
/// Conformance: TAO 7 - a long oneway does not delay a twoway on the same connection - other
/// connections are served
/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority) - leader/followers
#[test]
fn a_busy_thread_keeps_no_other_request_waiting() {
    let served = team(2);
    let mut busy = ask(&served, 1, "gate");
    served.state.gate.await_waiting(1);
    let (_client, target) = served.client();
    for v in 0..200 {
        assert_eq!(target.echo_long(v), Ok(v));
    }
    // Nor later ones.
    for id in 0..20 {
        assert_eq!(ask(&served, id, "noop").receive().reply().0, id);
    }
    served.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    served.end();
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority) - leader/followers
#[test]
fn one_connection_is_served_by_one_thread_at_a_time_and_in_order() {
    let served = team(4);
    let inside = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (inner, greatest) = (Arc::clone(&inside), Arc::clone(&most));
    served.state.on_act(move |_, v| {
        let now = inner.fetch_add(1, Ordering::SeqCst) + 1;
        greatest.fetch_max(now, Ordering::SeqCst);
        thread::yield_now();
        inner.fetch_sub(1, Ordering::SeqCst);
        Ok(v)
    });
    let mut peer = Peer::connect(served.port());
    const COUNT: u32 = 500;
    for id in 0..COUNT {
        peer.send(&request(RequestLine::new(id, "act"), |w| w.write_u32(id)));
    }
    for id in 0..COUNT {
        assert_eq!(peer.receive().reply().0, id);
    }
    assert_eq!(most.load(Ordering::SeqCst), 1);
    served.end();
}

/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority) - leader/followers
#[test]
fn many_callers_are_all_answered() {
    for threads in [1, 2, 4] {
        let served = team(threads);
        let (client, target) = served.client();
        within("all calls", move || {
            thread::scope(|scope| {
                for caller in 0..16 {
                    let target = &target;
                    scope.spawn(move || {
                        for v in 0..300 {
                            assert_eq!(target.echo_long(caller * 1000 + v), Ok(caller * 1000 + v));
                        }
                    });
                }
            });
        });
        assert_eq!(served.state.calls(), 16 * 300);
        drop(client);
        served.end();
    }
}

/// Conformance: complaint 1 - a dynamic pool hangs: the leader times out while all others are busy
/// Conformance: ORB - serving strategies with bounds: threads, queue, TRANSIENT beyond, priority of
/// requests (RTCorbaPriority) - leader/followers
#[test]
fn after_nested_calls_there_are_as_many_threads_as_before() {
    let served = team(2);
    let gated = Served::new(ServerStrategy::ThreadPerConnection);
    let behind = gated.seen_by(&served.orb);
    served.state.on_act(move |_, v| behind.gate().map(|()| v));
    let mut peer = Peer::connect(served.port());
    for id in 0..8u32 {
        peer.send(&request(RequestLine::new(id, "act"), |w| w.write_u32(id)));
    }
    gated.state.gate.await_waiting(8);
    gated.state.gate.open();
    for _ in 0..8 {
        peer.receive();
    }
    let mut busy = [ask(&served, 1, "gate"), ask(&served, 2, "gate")];
    served.state.gate.await_waiting(2);
    let mut late = ask(&served, 9, "noop");
    assert!(late.is_silent(std::time::Duration::from_millis(50)));
    served.state.gate.open();
    for peer in &mut busy {
        peer.receive();
    }
    assert_eq!(late.receive().reply().0, 9);
    served.end();
    gated.end();
}
