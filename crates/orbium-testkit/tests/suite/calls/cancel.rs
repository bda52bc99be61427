// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that their caller no longer waits for.

use orbium::config::ServerStrategy;
use orbium::giop::{CancelRequest, ReplyStatus, Version};
use orbium_cdr::ByteOrder;
use orbium_testkit::{Peer, RequestLine, Served, each_strategy, request};

fn cancel(id: u32) -> [u8; 16] {
    CancelRequest { request_id: id }.message(Version::V1_2, ByteOrder::NATIVE)
}

/// Conformance: GIOP 2: 9.4.4 - CancelRequest
#[test]
fn requests_cancelled_while_they_run_elsewhere_are_not_answered() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let gated = Served::new(ServerStrategy::ThreadPerConnection);
        let behind = gated.seen_by(&served.orb);
        served.state.on_act(move |_, v| behind.gate().map(|()| v));
        let mut peer = Peer::connect(served.port());
        for id in [2, 4] {
            peer.send(&request(RequestLine::new(id, "act"), |w| w.write_u32(id)));
        }
        gated.state.gate.await_waiting(2);
        peer.send(&cancel(2));
        // Behind the cancellation, so that it was read.
        peer.send(&request(RequestLine::new(6, "noop"), |_| {}));
        assert_eq!(peer.receive().reply().0, 6);
        gated.state.gate.open();
        assert_eq!(peer.receive().reply().0, 4);
        peer.send(&request(RequestLine::new(8, "noop"), |_| {}));
        assert_eq!(peer.receive().reply().0, 8);
        served.end();
        gated.end();
    });
}

/// Conformance: GIOP 2: 9.4.4 - CancelRequest
#[test]
fn cancelling_what_is_done_or_was_never_asked_does_nothing() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for id in 0..100 {
            peer.send(&cancel(id));
            peer.send(&request(RequestLine::new(id, "noop"), |_| {}));
            assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
            peer.send(&cancel(id));
        }
        served.end();
    });
}

/// Conformance: GIOP 2: 9.4.4 - CancelRequest
#[test]
fn an_id_may_be_used_again_after_it_was_cancelled_and_answered() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let gated = Served::new(ServerStrategy::ThreadPerConnection);
        let behind = gated.seen_by(&served.orb);
        served.state.on_act(move |_, v| behind.gate().map(|()| v));
        let mut peer = Peer::connect(served.port());
        // Keeps the connection shared between threads.
        peer.send(&request(RequestLine::new(2, "act"), |w| w.write_u32(2)));
        gated.state.gate.await_waiting(1);
        for _ in 0..3 {
            peer.send(&request(RequestLine::new(4, "noop"), |_| {}));
            assert_eq!(peer.receive().reply().0, 4);
            peer.send(&cancel(4));
        }
        gated.state.gate.open();
        assert_eq!(peer.receive().reply().0, 2);
        served.end();
        gated.end();
    });
}
