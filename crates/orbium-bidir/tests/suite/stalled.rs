// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that are called back and do not read what they have asked for.

use std::time::Duration;

use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_bidir::ListenPoint;
use orbium_cdr::ByteOrder;
use orbium_giop::{MessageHeader, MessageKind, Version};
use orbium_testkit::{
    PATIENCE, Peer, RequestLine, Served, dead_port, each_strategy, eventually, in_own_process,
    request, within,
};

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

/// The end of the client's direction counted as that of the connection: a reactor dropped what it
/// had kept for the client.
///
/// Conformance: connections - bidirectional GIOP: a client that has ended its side, and is slow to
/// read
#[test]
fn a_client_that_has_half_closed_receives_the_kept_reply() {
    each_strategy(|strategy| {
        let (server, mut peer) = stalled(strategy, Limits::default());
        let mut other = Peer::connect(server.port());
        let mut round_trip = |id| {
            other.send(&request(RequestLine::new(id, "noop"), |_| {}));
            assert_eq!(other.receive().reply().0, id);
        };
        // A reactor has kept the reply before it serves another client, and receives the end
        // before it serves that once more.
        round_trip(2);
        peer.finish_sending();
        [4, 6].into_iter().for_each(round_trip);
        let rest = within("the rest", move || peer.receive_rest());
        assert!(rest.len() > REPLY as usize, "{strategy:?}");
        server.end();
    });
}

/// Processor time of this process, in hundredths of a second.
fn processor_time() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = stat.rsplit_once(") ").unwrap().1;
    let fields = behind_name.split(' ').skip(11).take(2);
    fields.map(|it| it.parse::<u64>().unwrap()).sum()
}

/// A thread that waited for room to send received the end of the stream again and again.
///
/// Conformance: connections - bidirectional GIOP: a client that has ended its side, and is slow to
/// read
#[test]
fn a_reply_to_a_client_that_has_half_closed_waits_without_a_processor() {
    in_own_process!(|| {
        let limits = Limits {
            send_time: 10 * PATIENCE,
            initial_idle_time: None,
            ..Limits::default()
        };
        let (server, mut peer) = stalled(ServerStrategy::ThreadPerConnection, limits);
        let mut other = Peer::connect(server.port());
        peer.finish_sending();
        let moment = Duration::from_millis(200);
        // It takes time to make the reply.
        eventually("the server waits", || {
            let before = processor_time();
            assert!(other.is_silent(moment));
            processor_time() - before <= 3
        });
        let rest = within("the rest", move || peer.receive_rest());
        assert!(rest.len() > REPLY as usize);
        server.end();
    });
}
