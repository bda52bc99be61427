// SPDX-License-Identifier: MIT OR Apache-2.0
//! Life cycle of lanes, and lanes that cannot be.

use std::time::Duration;

use orbium::giop::ReplyStatus;
use orbium::{
    OrbError,
    config::ServerStrategy,
    lane::{LaneConfig, Priority},
};
use orbium_testkit::{
    Peer, Served, descriptors, each_strategy, eventually, in_own_process, threads, within,
};

use super::{Behind, act, config, expect_refusal, lane, pool, port};

/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
#[test]
fn a_lane_that_was_stopped_is_answered_for() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lane = lane(&served.orb, 10, strategy);
        let behind = Behind::new(&served.orb, "Behind", std::slice::from_ref(&lane), None);
        let mut own = Peer::connect(port(&lane));
        let mut other = Peer::connect(served.port());
        for peer in [&mut own, &mut other] {
            peer.send(&act("Behind", 1, None));
            assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
        }
        // Not from within one of its own requests.
        let stopping = lane.clone();
        behind.state.on_act(move |_, v| match stopping.stop() {
            Ok(()) => Ok(v),
            Err(exception) => Err(exception),
        });
        other.send(&act("Behind", 2, None));
        expect_refusal(&mut other, "BAD_INV_ORDER");
        let ending = lane.clone();
        within("the lane's end", move || ending.stop()).unwrap();
        own.expect(orbium::giop::MessageKind::CloseConnection);
        other.send(&act("Behind", 3, None));
        expect_refusal(&mut other, "TRANSIENT");
        assert_eq!(served.orb.lanes(), []);
        lane.stop().unwrap();
        served.end();
    });
}

/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
#[test]
fn lanes_come_and_go_and_leave_nothing() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let served = Served::new(strategy);
            let mut before = (0, 0);
            for round in 0..60 {
                let lanes = [10, 20].map(|number| lane(&served.orb, number, strategy));
                let mut peer = Peer::connect(port(&lanes[0]));
                peer.send(&act("Target", round, None));
                assert_eq!(peer.receive().reply().0, round);
                drop(peer);
                for lane in lanes {
                    within("the lane's end", move || lane.stop()).unwrap();
                }
                if round == 20 {
                    before = (descriptors(), threads());
                }
            }
            // Others may come and go meanwhile, but not forty times two.
            eventually("descriptors and threads are given back", || {
                descriptors() < before.0 + 40 && threads() < before.1 + 40
            });
            served.end();
        });
    });
}

/// Conformance: ORB - lanes: static and dynamic threads; threads that cannot be had
#[test]
fn senseless_and_unavailable_lanes_are_refused() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let low = lane(&served.orb, 10, pool(1, 1));
    let refused = |config: LaneConfig| match served.orb.add_lane(&config) {
        Err(error) => error.to_string(),
        Ok(lane) => panic!("{lane:?}"),
    };
    let no_pool = config(20, ServerStrategy::Reactive);
    let cases = [
        (config(1, pool(0, 1)), "at least 1 static thread"),
        (
            LaneConfig {
                dynamic_threads: 1,
                ..no_pool.clone()
            },
            "dynamic_threads must be 0",
        ),
        (
            LaneConfig {
                borrows_from: vec![low.clone()],
                ..no_pool
            },
            "between worker pools",
        ),
        (
            LaneConfig {
                borrows_from: vec![low.clone()],
                ..config(10, pool(1, 1))
            },
            "lower priority",
        ),
        (config(1, pool(100_000, 1)), "raise serving_threads"),
        (
            LaneConfig {
                stack_size: Some(1 << 60),
                ..config(1, pool(1, 1))
            },
            "no threads or descriptors",
        ),
        (
            LaneConfig {
                processors: Some(vec![100_000]),
                ..config(1, pool(1, 1))
            },
            "none of the processors",
        ),
    ];
    for (config, reason) in cases {
        let text = refused(config);
        assert!(text.contains(reason), "{reason}: {text}");
    }
    // A soft lane goes on without what the host does not have.
    let soft = served.orb.add_lane(&LaneConfig {
        processors: Some(vec![100_000]),
        soft: true,
        ..config(30, pool(1, 1))
    });
    assert_eq!(soft.unwrap().priority(), Priority::new(30));
    let orb = served.orb.clone();
    served.end();
    let late = orb.add_lane(&config(1, pool(1, 1)));
    assert!(matches!(late, Err(OrbError::Config(_))), "{late:?}");
}

/// One without threads served nothing any more, and a drain time that no clock counts ended the caller by a panic.
///
/// Conformance: ORB - lanes: static and dynamic threads; threads that cannot be had
#[test]
fn a_lane_keeps_a_thread_until_it_ends() {
    for strategy in [pool(2, 4), ServerStrategy::LeaderFollowers { threads: 2 }] {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let lane = lane(&served.orb, 10, strategy);
        let none = match strategy {
            ServerStrategy::WorkerPool { queue, .. } => pool(0, queue),
            _ => ServerStrategy::LeaderFollowers { threads: 0 },
        };
        let refused = lane.resize(&config(10, none).sizes());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("at least 1 static thread"), "{refused}");
        let mut peer = Peer::connect(port(&lane));
        peer.send(&act("Target", 1, None));
        assert_eq!(peer.receive().reply().0, 1);
        assert_eq!(lane.drain(Duration::MAX), 0);
        served.end();
    }
}

/// Conformance: ORB - lanes: nested calls, held requests and busy lanes
#[test]
fn threads_of_the_program_that_serve_a_lane_may_call() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lane = served.orb.add_lane(&LaneConfig {
        served_by_callers: true,
        ..config(10, pool(0, 4))
    });
    let lane = lane.unwrap();
    let behind = Behind::new(&served.orb, "Behind", std::slice::from_ref(&lane), None);
    let other = Served::new(ServerStrategy::Reactive);
    let nested = other.seen_by(&served.orb);
    behind.state.on_act(move |_, v| nested.noop().map(|()| v));
    let mut peer = Peer::connect(port(&lane));
    peer.send(&act("Behind", 2, None));
    assert!(lane.serve_one(true));
    assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
    served.end();
    other.end();
}
