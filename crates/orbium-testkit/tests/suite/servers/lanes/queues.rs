// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues of lanes, and their bounds.

use std::sync::{Arc, Mutex};

use orbium::giop::{CancelRequest, ReplyStatus, ResponseFlags, Version};
use orbium::{
    Completion, Config, ExceptionKind, SystemException,
    config::ServerStrategy,
    lane::{LaneConfig, QueueBounds},
    poa::{ManagerState, Policies},
};
use orbium_cdr::ByteOrder;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, Served, TargetState, client, each_strategy, eventually, request,
};

use super::{Behind, act, at_the_gate, config, expect_refusal, lane, pool, port};

/// The bound of a lane's queue, in requests and in octets.
///
/// Conformance: ORB - lanes: request buffering with both bounds, TRANSIENT beyond
/// Conformance: faults - a full pool, a full queue: TRANSIENT 1, completed NO
#[test]
fn a_full_queue_is_transient() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let by_number = config(10, pool(1, 2));
    let by_octets = LaneConfig {
        queue_octets: Some(300),
        ..config(20, pool(1, 100))
    };
    let none = config(30, pool(1, 0));
    for (name, config, room) in [("A", by_number, 2), ("B", by_octets, 2), ("C", none, 0)] {
        let lane = served.orb.add_lane(&config).unwrap();
        let behind = Behind::new(&served.orb, name, std::slice::from_ref(&lane), None);
        // From its own connections, and handed over from another's.
        for port in [port(&lane), served.port()] {
            let before = lane.refused_requests();
            let mut busy = at_the_gate(port, name, 1);
            behind.state.gate.await_waiting(1);
            let mut peer = Peer::connect(port);
            let mut large = act(name, 2, Some(9));
            if name == "B" {
                // Of more than a third of the octets.
                let line = RequestLine {
                    key: name.as_bytes(),
                    ..RequestLine::new(2, "pour")
                };
                large = request(line, |w| w.write_octets(&[0; 80]));
            }
            for _ in 0..=room {
                peer.send(&large);
            }
            expect_refusal(&mut peer, "TRANSIENT");
            assert_eq!(lane.refused_requests(), before + 1);
            assert_eq!(lane.waiting_requests(), room);
            behind.state.gate.open();
            assert_eq!(busy.receive().reply().0, 1);
            for _ in 0..room {
                assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
            }
            // The worker is free a moment after its answer.
            eventually("it can be called again", || {
                peer.send(&act(name, 3, None));
                peer.receive().reply().1 == ReplyStatus::NoException
            });
            behind.state.gate.close();
        }
    }
    served.end();
}

/// The others heard TRANSIENT (`fair_queues.rs`), of whatever lane their connections were.
#[test]
fn one_connection_does_not_fill_a_queue_for_the_others() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lane = lane(&served.orb, 10, pool(1, 4));
    let behind = Behind::new(&served.orb, "Behind", std::slice::from_ref(&lane), None);
    for port_of_other in [port(&lane), served.port()] {
        let mut busy = at_the_gate(port(&lane), "Behind", 1);
        behind.state.gate.await_waiting(1);
        let mut greedy = Peer::connect(port(&lane));
        for id in 0..5 {
            greedy.send(&act("Behind", 2 * id + 3, None));
        }
        expect_refusal(&mut greedy, "TRANSIENT");
        let mut other = Peer::connect(port_of_other);
        other.send(&act("Behind", 1, None));
        eventually("it waits for a place", || lane.waiting_requests() == 5);
        behind.state.gate.open();
        assert_eq!(other.receive().reply().1, ReplyStatus::NoException);
        assert_eq!(busy.receive().reply().0, 1);
        for _ in 0..4 {
            assert_eq!(greedy.receive().reply().1, ReplyStatus::NoException);
        }
        // It is read again.
        other.send(&act("Behind", 3, None));
        assert_eq!(other.receive().reply().1, ReplyStatus::NoException);
        behind.state.gate.close();
    }
    served.end();
}

/// Conformance: ORB - lanes: request buffering with both bounds, TRANSIENT beyond
#[test]
fn requests_cancelled_before_another_lane_begins_them_are_not_begun() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lanes = [lane(&served.orb, 10, pool(1, 8))];
    let behind = Behind::new(&served.orb, "Behind", &lanes, None);
    let record = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&record);
    behind.state.on_act(move |_, v| {
        kept.lock().unwrap().push(v);
        Ok(v)
    });
    let _busy = at_the_gate(port(&lanes[0]), "Behind", 1);
    behind.state.gate.await_waiting(1);
    let mut peer = Peer::connect(served.port());
    for id in [2, 4, 6] {
        peer.send(&act("Behind", id, None));
    }
    eventually("they wait", || lanes[0].waiting_requests() == 3);
    let cancel = CancelRequest { request_id: 4 };
    peer.send(&cancel.message(Version::V1_2, ByteOrder::NATIVE));
    // Answered by who reads: what was sent before it was heeded.
    peer.send(&request(RequestLine::new(9, "noop"), |_| {}));
    assert_eq!(peer.receive().reply().0, 9);
    behind.state.gate.open();
    assert_eq!([peer.receive().reply().0, peer.receive().reply().0], [2, 6]);
    assert_eq!(*record.lock().unwrap(), [2, 6]);
    served.end();
}

/// Requests that a manager holds do not keep a lane's other requests waiting,
/// nor its end.
///
/// Conformance: ORB - lanes: nested calls, held requests and busy lanes
#[test]
fn held_requests_keep_no_lane_from_serving() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lanes = [lane(&served.orb, 10, strategy)];
        let policies = Policies {
            lanes: lanes.to_vec(),
            ..Policies::default()
        };
        let poa = served.orb.root_poa().create_poa("Held", None, policies);
        let poa = poa.unwrap();
        assert_eq!(poa.manager().state(), ManagerState::Holding);
        let held: Target = poa.activate(Arc::new(TargetState::default())).unwrap();
        served.orb.bind_key_in_place("Held", &held).unwrap();
        let behind = Behind::new(&served.orb, "Behind", &lanes, None);
        let mut waiting: Vec<_> = [port(&lanes[0]), served.port()].map(Peer::connect).into();
        for peer in &mut waiting {
            for id in 0..4 {
                peer.send(&act("Held", id, None));
            }
        }
        for port in [port(&lanes[0]), served.port()] {
            let mut peer = Peer::connect(port);
            for id in 0..20 {
                peer.send(&act("Behind", id, None));
                assert_eq!(peer.receive().reply().0, id);
            }
        }
        assert_eq!(behind.state.calls(), 40);
        poa.manager().activate().unwrap();
        for peer in &mut waiting {
            let mut answered: Vec<_> = (0..4).map(|_| peer.receive().reply().0).collect();
            answered.sort_unstable();
            assert_eq!(answered, [0, 1, 2, 3]);
        }
        served.end();
    });
}

/// Without a thread to serve what was handed over, it is refused.
///
/// Conformance: ORB - lanes: nested calls, held requests and busy lanes
#[test]
fn a_busy_reactive_lane_takes_what_others_hand_over() {
    let served = Served::with(Config {
        strategy: ServerStrategy::Reactive,
        ..Config::default()
    });
    let lanes = [lane(&served.orb, 10, ServerStrategy::Reactive)];
    let behind = Behind::new(&served.orb, "Behind", &lanes, None);
    let mut busy = at_the_gate(port(&lanes[0]), "Behind", 1);
    behind.state.gate.await_waiting(1);
    // The ORB's own lane goes on meanwhile, and so does what it hands over.
    let mut peer = Peer::connect(served.port());
    for key in ["Target", "Behind"] {
        peer.send(&act(key, 7, None));
        assert_eq!(peer.receive().reply().0, 7);
    }
    behind.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    let exception = SystemException::new(ExceptionKind::NoPermission, 5, Completion::No);
    behind.state.on_act(move |_, _| Err(exception));
    let client = client();
    let target = behind.seen_by(&served.orb, &client);
    assert_eq!(target.act(1), Err(exception));
    served.end();
}

/// Two lanes with bounds in common: a request that waits in one leaves no place in the other.
///
/// Conformance: ORB - lanes: request buffering with both bounds, TRANSIENT beyond
#[test]
fn lanes_may_have_room_for_what_waits_together() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let bounds = QueueBounds::new(1, usize::MAX);
    let lanes = [10, 20].map(|number| {
        let config = LaneConfig {
            queue_bounds: Some(bounds.clone()),
            ..config(number, pool(1, 8))
        };
        served.orb.add_lane(&config).unwrap()
    });
    let objects = [("Low", &lanes[0]), ("High", &lanes[1])].map(|(name, lane)| {
        (
            Behind::new(&served.orb, name, std::slice::from_ref(lane), None),
            name,
        )
    });
    let busy = [0, 1].map(|at| {
        let (behind, name) = &objects[at];
        let peer = at_the_gate(port(&lanes[at]), name, 1);
        behind.state.gate.await_waiting(1);
        peer
    });
    for (first, second) in [(0, 1), (1, 0)] {
        let mut waits = Peer::connect(port(&lanes[first]));
        waits.send(&act(objects[first].1, 2, None));
        eventually("it waits", || lanes[first].waiting_requests() == 1);
        let mut none = Peer::connect(port(&lanes[second]));
        none.send(&act(objects[second].1, 3, None));
        expect_refusal(&mut none, "TRANSIENT");
        assert_eq!(lanes[second].refused_requests(), 1);
        // Who gives up leaves its place to others.
        let cancel = CancelRequest { request_id: 2 };
        waits.send(&cancel.message(Version::V1_2, ByteOrder::NATIVE));
        eventually("there is room", || lanes[first].waiting_requests() == 0);
    }
    for (behind, _) in &objects {
        behind.state.gate.open();
    }
    for mut peer in busy {
        assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
    }
    served.end();
}

/// It was confirmed, and dropped.
///
/// Conformance: ORB - lanes: request buffering with both bounds, TRANSIENT beyond
#[test]
fn a_oneway_that_a_lane_has_no_room_for_is_not_confirmed() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lane = lane(&served.orb, 10, pool(1, 0));
    let behind = Behind::new(&served.orb, "Behind", std::slice::from_ref(&lane), None);
    let mut busy = at_the_gate(port(&lane), "Behind", 1);
    behind.state.gate.await_waiting(1);
    for at in [port(&lane), served.port()] {
        let mut peer = Peer::connect(at);
        let line = RequestLine {
            key: b"Behind",
            response: ResponseFlags::SyncWithServer,
            ..RequestLine::new(2, "post")
        };
        peer.send(&request(line, |w| w.write_u32(7)));
        expect_refusal(&mut peer, "TRANSIENT");
    }
    assert_eq!(lane.refused_requests(), 2);
    behind.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    assert!(behind.state.posted().is_empty());
    served.end();
}
