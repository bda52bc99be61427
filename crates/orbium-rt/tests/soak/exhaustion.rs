// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that cannot be made, and descriptors that run out.

use std::fs::File;

use orbium_core::{ExceptionKind, LaneConfig, OrbError, Policies, Priority, ServerStrategy};
use orbium_rt::{ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, Served, descriptors, eventually, reference, request, within,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::common::{seen_by, server, teller};
use crate::measure::{Fault, Run};
use crate::parties::{each_client, each_server, seen_by_each};

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "a lane whose threads cannot be made",
        most: usize::MAX,
        run: no_thread_for_a_lane,
    },
    Fault {
        name: "a pool whose threads cannot be made",
        most: usize::MAX,
        run: no_thread_for_a_pool,
    },
    Fault {
        name: "a connection whose thread cannot be made",
        most: usize::MAX,
        run: no_thread_for_a_connection,
    },
    Fault {
        name: "a busy lane that gets no further thread",
        most: usize::MAX,
        run: no_further_thread,
    },
    Fault {
        name: "a client without a descriptor",
        most: usize::MAX,
        run: client_without_descriptors,
    },
    // A server that runs out accepts nothing for 50 ms.
    Fault {
        name: "a server without a descriptor",
        most: 2_000,
        run: server_without_descriptors,
    },
];

/// So much that no thread of it fits below the limit.
const STACK: usize = 4 << 30;

/// A limit that is lowered until it is dropped.
struct Lowered(Resource, Rlimit);

impl Lowered {
    fn to(resource: Resource, limit: u64) -> Self {
        let before = getrlimit(resource);
        let lowered = Rlimit {
            current: Some(limit),
            ..before
        };
        setrlimit(resource, lowered).unwrap();
        Self(resource, before)
    }

    /// Threads with a stack of [`STACK`] cannot be made, everything else can.
    fn memory() -> Self {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = text.split(' ').next().unwrap().parse().unwrap();
        Self::to(Resource::As, pages * 4096 + STACK as u64 / 2)
    }
}

impl Drop for Lowered {
    fn drop(&mut self) {
        setrlimit(self.0, self.1).unwrap();
    }
}

fn lane(strategy: ServerStrategy) -> LaneConfig {
    LaneConfig {
        priority: Priority::new(1),
        strategy,
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        stack_size: Some(STACK),
        ..LaneConfig::default()
    }
}

fn port(lane: &orbium_core::Lane) -> u16 {
    let channels = lane.channels();
    let port = channels[0].address.rsplit(':').next().unwrap();
    port.parse().unwrap()
}

fn no_thread_for_a_lane(run: &mut Run) {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    run.with_caller(served.client().1);
    let lanes = [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
        ServerStrategy::WorkerPool {
            workers: 2,
            queue: 8,
        },
    ]
    .map(lane);
    let lowered = Lowered::memory();
    run.cycles(|n| {
        let refused = served.orb.add_lane(&lanes[n % lanes.len()]);
        assert!(matches!(refused, Err(OrbError::Threads(..))), "{refused:?}");
    });
    drop(lowered);
    served.end();
}

fn no_thread_for_a_pool(run: &mut Run) {
    let (orb, rt) = server();
    let other: Target = orb.root_poa().activate(teller()).unwrap();
    run.with_caller(seen_by(&orbium_testkit::client(), &orb, &other));
    let config = ThreadpoolConfig {
        stack_size: STACK,
        ..ThreadpoolConfig::default()
    };
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let lowered = Lowered::memory();
    run.cycles(|_| {
        let refused = rt.create_threadpool_with_lanes(&lanes, config);
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::NoResources);
    });
    drop(lowered);
    drop(other);
    within("the server's shutdown", move || orb.shutdown(true)).unwrap();
}

fn no_thread_for_a_connection(run: &mut Run) {
    let served = Served::new(ServerStrategy::Reactive);
    run.with_caller(served.client().1);
    let lane = served
        .orb
        .add_lane(&lane(ServerStrategy::ThreadPerConnection))
        .unwrap();
    let noop = request(RequestLine::new(2, "noop"), |_| {});
    let lowered = Lowered::memory();
    run.cycles(|_| {
        let mut peer = Peer::connect(port(&lane));
        // It may be closed by now.
        peer.try_send(&noop);
        assert_eq!(peer.receive_rest(), []);
    });
    drop(lowered);
    let mut peer = Peer::connect(port(&lane));
    peer.send(&noop);
    assert_eq!(peer.receive().reply().0, 2);
    drop(peer);
    served.end();
}

fn no_further_thread(run: &mut Run) {
    let served = Served::new(ServerStrategy::Reactive);
    run.with_caller(served.client().1);
    let lane = served
        .orb
        .add_lane(&LaneConfig {
            dynamic_threads: 3,
            ..lane(ServerStrategy::WorkerPool {
                workers: 1,
                queue: 16,
            })
        })
        .unwrap();
    let policies = Policies {
        lanes: vec![lane.clone()],
        ..Policies::default()
    };
    let root = served.orb.root_poa();
    let poa = root.create_poa("Behind", Some(root.manager()), policies);
    let target: Target = poa.unwrap().activate(teller()).unwrap();
    served.orb.bind_key_in_place("Behind", &target).unwrap();
    let mut peers = [(); 4].map(|()| Peer::connect(port(&lane)));
    let line = RequestLine {
        key: b"Behind",
        ..RequestLine::new(2, "echo_octets")
    };
    let echo = request(line, |writer| writer.write_octets(&[7; 8192]));
    let lowered = Lowered::memory();
    run.cycles(|_| {
        for peer in &mut peers {
            peer.send(&echo);
        }
        for peer in &mut peers {
            assert_eq!(peer.receive().reply().0, 2);
        }
    });
    drop((lowered, peers));
    served.end();
}

/// Takes all descriptors that the process may have.
fn take_all() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

fn client_without_descriptors(run: &mut Run) {
    let well = Served::new(ServerStrategy::ThreadPerConnection);
    let clients = each_client(&well, run);
    let second = Served::new(ServerStrategy::Reactive);
    let text = reference(2, &[second.port()], b"Target", &[]).to_string();
    let targets = seen_by_each(&clients, &text);
    run.batches(|numbers| {
        let lowered = Lowered::to(Resource::Nofile, descriptors() as u64 + 20);
        let taken = take_all();
        for n in numbers {
            let refused = targets[n % targets.len()].echo_long(1).unwrap_err();
            assert_eq!(refused.kind, ExceptionKind::NoResources, "{refused}");
        }
        drop((taken, lowered));
    });
    for target in &targets {
        assert_eq!(target.echo_long(3), Ok(3));
    }
    drop((clients, targets));
    second.end();
    well.end();
}

fn server_without_descriptors(run: &mut Run) {
    let servers = each_server(run);
    let noop = request(RequestLine::new(2, "noop"), |_| {});
    // They stay: what a server gave back later would be a descriptor too many.
    let firsts: Vec<_> = servers
        .iter()
        .map(|server| {
            let mut first = Peer::connect(server.port());
            first.send(&noop);
            first.receive();
            first
        })
        .collect();
    let mut at_rest = usize::MAX;
    let lowered = Lowered::to(Resource::Nofile, descriptors() as u64 + 100);
    run.cycles(|n| {
        // Nothing of what was there before is given back in between.
        eventually("the last connection is closed", || {
            let now = descriptors();
            let is_least = now <= at_rest;
            at_rest = at_rest.min(now);
            is_least
        });
        let server = &servers[n % servers.len()];
        let kept = File::open("/dev/null").unwrap();
        let taken = take_all();
        drop(kept);
        // The last one is the client's own end.
        let mut waiting = Peer::connect(server.port());
        waiting.send(&noop);
        assert!(File::open("/dev/null").is_err());
        drop(taken);
        assert_eq!(waiting.receive().reply().0, 2);
    });
    drop((lowered, firsts));
    servers.into_iter().for_each(Served::end);
}
