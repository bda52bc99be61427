// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that are called back and do not read what they have asked for.

use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_bidir::ListenPoint;
use orbium_cdr::ByteOrder;
use orbium_giop::{MessageHeader, MessageKind, Version};
use orbium_testkit::{Peer, RequestLine, Served, dead_port, each_strategy, request, within};

use crate::common::with;
use crate::listen_points::{announcing, point};

/// Octets of a reply, more than the sockets take.
const REPLY: u32 = 16 << 20;

/// A server, and a client over the connection to which requests of both may go. It has asked
/// for a large reply, of which it has read the beginning.
fn stalled(strategy: ServerStrategy, limits: Limits) -> (Served, Peer) {
    let server = Served::with(Config {
        limits,
        ..with(strategy)
    });
    let mut peer = Peer::connect(server.port());
    let points = ListenPoint::encode(&[point("127.0.0.1", dead_port())]).unwrap();
    peer.send(&announcing(2, &points));
    assert_eq!(peer.receive().reply().0, 2);
    let make = RequestLine::new(4, "make");
    peer.send(&request(make, |writer| writer.write_u32(REPLY)));
    peer.receive_octets(&mut [0; 16]);
    (server, peer)
}

/// A CancelRequest of a request that is not open.
fn cancel() -> Vec<u8> {
    let header = MessageHeader {
        version: Version::V1_2,
        order: ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::CancelRequest,
        size: 4,
    };
    [&header.encode()[..], &0xdead_u32.to_ne_bytes()].concat()
}

/// What was read ahead of the server engine was charged to the budget, but for what is no
/// message: each CancelRequest took some 80 bytes, without a bound.
///
/// Conformance: connections - bidirectional GIOP: what is read ahead is charged to the budget
#[test]
fn cancels_read_ahead_of_the_engine_end_the_connection_at_the_budget() {
    each_strategy(|strategy| {
        let limits = Limits {
            peer_memory: Some(48 << 20),
            ..Limits::default()
        };
        let (server, mut peer) = stalled(strategy, limits);
        let some = cancel().repeat(1000);
        let ended = within("the end", move || (0..1000).any(|_| !peer.try_send(&some)));
        assert!(ended, "{strategy:?}");
        let orb = server.orb.clone();
        server.end();
        assert_eq!(orb.peer_memory().held, 0, "{strategy:?}");
    });
}
