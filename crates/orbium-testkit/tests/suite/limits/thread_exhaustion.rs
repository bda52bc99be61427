// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes to which the system gives no further thread serve with those they have.

use std::sync::Arc;
use std::time::Duration;

use orbium::giop::ReplyStatus;
use orbium::{
    OrbError,
    config::ServerStrategy,
    lane::{LaneConfig, Priority},
    poa::Policies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, Served, TargetState, eventually, in_own_process, request};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// So much that no thread of it fits below the limit.
const STACK: usize = 4 << 30;

fn occupied() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').next().unwrap().parse().unwrap();
    pages * 4096
}

fn ask(port: u16, id: u32, operation: &str) -> Peer {
    let line = RequestLine {
        key: b"Behind",
        ..RequestLine::new(id, operation)
    };
    let mut peer = Peer::connect(port);
    peer.send(&request(line, |_| {}));
    peer
}

/// Conformance: ORB - lanes: static and dynamic threads; threads that cannot be had
/// Conformance: faults - no thread for a lane, a pool, a connection, or for more at once:
/// `OrbError::Threads`; NO_RESOURCES; the connection ends; what waits is served
/// Conformance: complaint 2 - a pool starves: no thread can be had, or all wait in nested calls
#[test]
fn without_further_threads_those_that_are_there_serve() {
    in_own_process!(|| {
        for strategy in [
            ServerStrategy::LeaderFollowers { threads: 1 },
            ServerStrategy::WorkerPool {
                workers: 1,
                queue: 8,
            },
        ] {
            let served = Served::new(ServerStrategy::Reactive);
            let config = LaneConfig {
                priority: Priority::new(1),
                strategy,
                endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
                dynamic_threads: 3,
                idle_time: Duration::from_millis(10),
                stack_size: Some(STACK),
                ..LaneConfig::default()
            };
            let lane = served.orb.add_lane(&config).unwrap();
            let policies = Policies {
                lanes: vec![lane.clone()],
                ..Policies::default()
            };
            let manager = Some(served.orb.root_poa().manager());
            let poa = served
                .orb
                .root_poa()
                .create_poa("Behind", manager, policies);
            let state = Arc::new(TargetState::default());
            let target: Target = poa.unwrap().activate(Arc::clone(&state)).unwrap();
            served.orb.bind_key_in_place("Behind", &target).unwrap();
            let channels = lane.channels();
            let port = channels[0].address.rsplit(':').next().unwrap();
            let port: u16 = port.parse().unwrap();
            assert_eq!(ask(port, 1, "noop").receive().reply().0, 1);

            let before = getrlimit(Resource::As);
            let lowered = Rlimit {
                current: Some(occupied() + STACK as u64 / 2),
                ..before
            };
            setrlimit(Resource::As, lowered).unwrap();
            // One is served, the others wait, as no thread is to be had for them.
            let mut busy = ask(port, 2, "gate");
            state.gate.await_waiting(1);
            let mut others: Vec<_> = (3..6).map(|id| ask(port, id, "gate")).collect();
            assert!(others[0].is_silent(Duration::from_millis(20)));
            // A lane that has no thread at all is not there.
            let none = served.orb.add_lane(&config);
            assert!(matches!(none, Err(OrbError::Threads(..))), "{none:?}");
            // What stood in the way was not said: "the operation would block".
            let text = none.unwrap_err().to_string();
            for part in [
                "no further thread",
                "os error",
                "RLIMIT_AS",
                "of stack each",
            ] {
                assert!(text.contains(part), "{text}");
            }
            // The ORB's own lane goes on, and refuses what only that one can serve
            // when there is no room left to wait.
            let mut own = Peer::connect(served.port());
            own.send(&request(RequestLine::new(9, "noop"), |_| {}));
            assert_eq!(own.receive().reply().1, ReplyStatus::NoException);
            state.gate.open();
            assert_eq!(busy.receive().reply().0, 2);
            for (id, peer) in (3..).zip(&mut others) {
                assert_eq!(peer.receive().reply().0, id);
            }
            setrlimit(Resource::As, before).unwrap();

            // Now there are threads again.
            state.gate.close();
            let mut busy: Vec<_> = (10..14).map(|id| ask(port, id, "gate")).collect();
            eventually("four at once", || state.gate.waiting() == 4);
            state.gate.open();
            for (id, peer) in (10..).zip(&mut busy) {
                assert_eq!(peer.receive().reply().0, id);
            }
            served.end();
        }
    });
}
