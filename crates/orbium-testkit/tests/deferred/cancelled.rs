// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that wait no longer.

use orbium::giop::{CancelRequest, Version};
use orbium_cdr::ByteOrder;
use orbium_testkit::{Peer, RequestLine, each_strategy, eventually, request};

use crate::fixture::Served;

/// Conformance: Messaging - asynchronous method handling: CancelRequest reaches the token
#[test]
fn a_cancelled_request_says_so_and_is_not_answered() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(2, "take"), |w| w.write_u32(2)));
        let (_, token) = served.token();
        assert!(!token.is_cancelled());
        let cancel = CancelRequest { request_id: 2 };
        peer.send(&cancel.message(Version::V1_2, ByteOrder::NATIVE));
        eventually("the token is cancelled", || token.is_cancelled());
        assert_eq!(served.orb.open_requests().count(), 0);
        token.ok(1).unwrap();
        // The id may be used again, and the next reply is the one to that.
        peer.send(&request(RequestLine::new(2, "take"), |w| w.write_u32(3)));
        let (number, token) = served.token();
        assert!(!token.is_cancelled());
        token.ok(number).unwrap();
        assert_eq!(peer.receive().reply().0, 2);
        served.end();
    });
}

/// Conformance: Messaging - asynchronous method handling: the token of a client that is gone
#[test]
fn a_client_that_is_gone_cancels_its_requests() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let mut tokens = Vec::new();
        for id in [2, 4] {
            peer.send(&request(RequestLine::new(id, "take"), |w| w.write_u32(id)));
            tokens.push(served.token().1);
        }
        drop(peer);
        eventually("the tokens are cancelled", || {
            tokens.iter().all(orbium::DeferredReply::is_cancelled)
        });
        assert_eq!(served.orb.open_requests().count(), 0);
        for token in tokens {
            token.ok(1).unwrap();
        }
        assert_eq!(served.desk.now(7), Ok(7));
        served.end();
    });
}
