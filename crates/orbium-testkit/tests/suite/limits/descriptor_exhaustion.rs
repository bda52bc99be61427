// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that has no descriptor left serves on, and recovers.

use std::fs::File;
use std::time::{Duration, Instant};

use orbium::giop::MessageKind;
use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_testkit::{
    PATIENCE, Peer, RequestLine, Served, descriptors, each_strategy, eventually, in_own_process,
    request,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// All descriptors of this process but one, for a client's end of a connection.
struct Exhausted {
    before: Rlimit,
    files: Vec<File>,
}

impl Exhausted {
    fn but_for_one() -> Self {
        let before = getrlimit(Resource::Nofile);
        let lowered = Rlimit {
            current: Some(descriptors() as u64 + 60),
            ..before
        };
        setrlimit(Resource::Nofile, lowered).unwrap();
        let kept = File::open("/dev/null").unwrap();
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        drop(kept);
        Self { before, files }
    }
}

impl Drop for Exhausted {
    fn drop(&mut self) {
        self.files.clear();
        setrlimit(Resource::Nofile, self.before).unwrap();
    }
}

fn served(strategy: ServerStrategy, initial_idle_time: Option<Duration>) -> Served {
    Served::with(Config {
        strategy,
        limits: Limits {
            initial_idle_time,
            ..Limits::default()
        },
        ..Config::default()
    })
}

/// A connection that the server has accepted.
fn accepted(served: &Served) -> Peer {
    let before = descriptors();
    let peer = Peer::connect(served.port());
    eventually("the connection is accepted", || descriptors() >= before + 2);
    peer
}

fn call(peer: &mut Peer, id: u32) {
    peer.send(&request(RequestLine::new(id, "noop"), |_| {}));
}

fn called(served: &Served) -> Peer {
    let mut peer = Peer::connect(served.port());
    call(&mut peer, 2);
    assert_eq!(peer.receive().reply().0, 2);
    peer
}

/// Conformance: faults - no descriptor at the server: it serves its clients, and accepts again
/// later
/// Conformance: TAO 31 - `accept` without descriptors recovers
#[test]
fn a_server_without_descriptors_serves_its_clients_and_takes_new_ones_later() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let served = Served::new(strategy);
            let (_client, target) = served.client();
            target.noop().unwrap();
            let exhausted = Exhausted::but_for_one();
            let mut waiting = Peer::connect(served.port());
            call(&mut waiting, 2);
            let calls = served.state.calls();
            for v in 0..50 {
                assert_eq!(target.echo_long(v), Ok(v));
            }
            // The last one went to the new client's own end: it cannot have been
            // accepted, let alone served.
            assert!(File::open("/dev/null").is_err());
            assert_eq!(served.state.calls(), calls + 50);
            drop(exhausted);
            assert_eq!(waiting.receive().reply().0, 2);
            // Not only once.
            called(&served);
            assert_eq!(target.echo_long(50), Ok(50));
            served.end();
        });
    });
}

/// Below `limits.connections` they held the last descriptors for as long as they liked.
///
/// Conformance: faults - without a descriptor the emptiest connections make room, as at the limit of
/// connections
#[test]
fn without_a_descriptor_silent_connections_make_room() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let served = served(strategy, None);
            let mut client = called(&served);
            let mut silent: Vec<_> = (0..3).map(|_| accepted(&served)).collect();
            let exhausted = Exhausted::but_for_one();
            let mut newcomer = called(&served);
            silent[0].expect(MessageKind::CloseConnection);
            silent[0].expect_end();
            for id in [4, 6] {
                for peer in [&mut client, &mut newcomer] {
                    call(peer, id);
                    assert_eq!(peer.receive().reply().0, id);
                }
            }
            drop(exhausted);
            served.end();
        });
    });
}

/// Conformance: faults - without a descriptor the emptiest connections make room, as at the limit of
/// connections
#[test]
fn without_a_descriptor_the_longest_idle_connection_makes_room() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let served = served(strategy, Some(Duration::from_millis(600)));
            let mut busy = called(&served);
            let mut idle = called(&served);
            let exhausted = Exhausted::but_for_one();
            let mut newcomer = Peer::connect(served.port());
            call(&mut newcomer, 2);
            let limit = Instant::now() + PATIENCE;
            let mut id = 4;
            while newcomer.is_silent(Duration::from_millis(50)) {
                assert!(Instant::now() < limit, "no room is made");
                call(&mut busy, id);
                assert_eq!(busy.receive().reply().0, id, "one that is used was closed");
                id += 2;
            }
            assert_eq!(newcomer.receive().reply().0, 2);
            idle.expect(MessageKind::CloseConnection);
            drop(exhausted);
            served.end();
        });
    });
}
