// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thousands of connections in a lane, and the memory of each.
//!
//! Alone in its process, whose memory is measured.

use std::net::TcpStream;

use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_testkit::{
    Peer, RequestLine, Served, held_octets, in_own_process, request, resident_octets,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const MAX_OCTETS: usize = 8 * 1024;

/// As many as the limit of descriptors allows, two for each, up to `wanted`.
fn connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum.or(Some(1 << 20)),
        ..limit
    };
    // Whatever is allowed is used.
    let _ = setrlimit(Resource::Nofile, raised);
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    wanted.min(usize::try_from(allowed).unwrap().saturating_sub(100) / 2)
}

/// Heap and resident octets for each connection that has called once.
fn measure(strategy: ServerStrategy, count: usize) -> (usize, usize) {
    let served = Served::with(Config {
        strategy,
        limits: Limits {
            connections: count + 10,
            ..Limits::default()
        },
        ..Config::default()
    });
    let call = |peer: &mut Peer, id: u32| {
        peer.send(&request(RequestLine::new(id, "noop"), |_| {}));
        assert_eq!(peer.receive().reply().0, id);
    };
    let mut first = Peer::connect(served.port());
    call(&mut first, 1);
    let before = (held_octets(), resident_octets());
    let mut open: Vec<TcpStream> = Vec::with_capacity(count);
    let message = request(RequestLine::new(2, "noop"), |_| {});
    for _ in 0..count {
        use std::io::{Read, Write};
        let mut stream = TcpStream::connect(("127.0.0.1", served.port())).unwrap();
        stream.write_all(&message).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        open.push(stream);
    }
    let after = (held_octets(), resident_octets());
    // All of them are still served.
    call(&mut first, 3);
    let each = |a: usize, b: usize| b.saturating_sub(a) / count;
    drop(open);
    served.end();
    (each(before.0, after.0), each(before.1, after.1))
}

fn within_bounds(wanted: usize) {
    for strategy in [
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
    ] {
        let count = connections(wanted);
        let (heap, resident) = measure(strategy, count);
        eprintln!(
            "{strategy}: {count} connections, each {heap} octets of heap, {resident} resident"
        );
        assert!(heap <= MAX_OCTETS, "{strategy}: {heap} octets");
    }
}

/// Conformance: ORB - memory of an idle connection
#[test]
fn an_idle_connection_takes_little_memory() {
    in_own_process!(|| {
        within_bounds(400);
    });
}

/// For the figure in the documentation: `--ignored --nocapture`.
#[test]
#[ignore = "a measurement: many descriptors"]
fn five_thousand_connections() {
    in_own_process!(|| {
        within_bounds(5_000);
    });
}
