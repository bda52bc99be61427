// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that has no descriptor left serves on, and recovers.

use std::fs::File;

use orbium_testkit::{
    Peer, RequestLine, Served, descriptors, each_strategy, in_own_process, request,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

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
            let before = getrlimit(Resource::Nofile);
            setrlimit(
                Resource::Nofile,
                Rlimit {
                    current: Some(descriptors() as u64 + 60),
                    ..before
                },
            )
            .unwrap();
            // One is kept for the client's end of a connection.
            let kept = File::open("/dev/null").unwrap();
            let mut files = Vec::new();
            while let Ok(file) = File::open("/dev/null") {
                files.push(file);
            }
            drop(kept);
            let mut waiting = Peer::connect(served.port());
            waiting.send(&request(RequestLine::new(2, "noop"), |_| {}));
            let calls = served.state.calls();
            for v in 0..50 {
                assert_eq!(target.echo_long(v), Ok(v));
            }
            // The last one went to the new client's own end: it cannot have been
            // accepted, let alone served.
            assert!(File::open("/dev/null").is_err());
            assert_eq!(served.state.calls(), calls + 50);
            drop(files);
            assert_eq!(waiting.receive().reply().0, 2);
            // Not only once.
            let mut next = Peer::connect(served.port());
            next.send(&request(RequestLine::new(4, "noop"), |_| {}));
            assert_eq!(next.receive().reply().0, 4);
            assert_eq!(target.echo_long(50), Ok(50));
            setrlimit(Resource::Nofile, before).unwrap();
            served.end();
        });
    });
}
