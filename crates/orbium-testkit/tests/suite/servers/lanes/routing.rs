// SPDX-License-Identifier: MIT OR Apache-2.0
//! Routing of requests to lanes, and their priorities.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use orbium::giop::ReplyStatus;
use orbium::{
    config::ServerStrategy,
    lane::{Priority, priority},
};
use orbium_testkit::{Peer, Served, client, each_strategy, within};

use super::{Behind, act, expect_refusal, lane, name_of_thread, port};

/// Many clients ask for all priorities at all endpoints, which are not those of
/// the lanes they mean; the servant sees at which priority and by whose thread it
/// is run.
///
/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
#[test]
fn no_request_is_served_at_a_wrong_priority() {
    const CALLERS: u32 = 8;
    const CALLS: u32 = 400;
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lanes: Vec<_> = [10, 20, 30]
            .map(|number| lane(&served.orb, number, strategy))
            .into();
        let behind = Behind::new(&served.orb, "Behind", &lanes, None);
        let own = Behind::new(&served.orb, "Own", &lanes, Some(20));
        let wrong = Arc::new(AtomicU64::new(0));
        for (state, fixed) in [(&behind.state, None), (&own.state, Some(20))] {
            let wrong = Arc::clone(&wrong);
            state.on_act(move |call, id| {
                // What `asked` below says.
                let asked = [10, 20, 30, 29, 1000][id as usize % 5];
                let expected = fixed.unwrap_or(asked / 10 * 10).min(30);
                let here = name_of_thread() == format!("lane-{expected}");
                if call.priority() != Priority::new(expected) || !here {
                    wrong.fetch_add(1, Ordering::SeqCst);
                }
                Ok(id)
            });
        }
        let mut ports: Vec<_> = lanes.iter().map(port).collect();
        ports.push(served.port());
        within("all calls", move || {
            thread::scope(|scope| {
                for caller in 0..CALLERS {
                    let port = ports[caller as usize % ports.len()];
                    scope.spawn(move || {
                        let mut peer = Peer::connect(port);
                        for id in 0..CALLS {
                            let asked = [10, 20, 30, 29, 1000][id as usize % 5];
                            let key = if id % 3 == 0 { "Own" } else { "Behind" };
                            peer.send(&act(key, id, Some(asked)));
                            let (answered, status, _) = peer.receive().reply();
                            assert_eq!((answered, status), (id, ReplyStatus::NoException));
                        }
                    });
                }
            });
        });
        assert_eq!(wrong.load(Ordering::SeqCst), 0);
        // An object without lanes is the ORB's own, wherever the request comes.
        let mut peer = Peer::connect(port(&lanes[0]));
        served.state.on_act(|call, id| {
            assert_eq!(
                (call.priority(), name_of_thread()),
                (None, "orbium-serve".into())
            );
            Ok(id)
        });
        for id in 0..10 {
            peer.send(&act("Target", id, None));
            assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
        }
        served.end();
    });
}

/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
/// Conformance: faults - a priority outside the lanes: INV_POLICY, completed NO
#[test]
fn a_priority_below_all_lanes_is_refused() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lanes = [20, 30].map(|number| lane(&served.orb, number, strategy));
        let _behind = Behind::new(&served.orb, "Behind", &lanes, None);
        let mut peer = Peer::connect(port(&lanes[0]));
        peer.send(&act("Behind", 1, Some(10)));
        expect_refusal(&mut peer, "INV_POLICY");
        served.end();
    });
}

/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
#[test]
fn a_request_without_a_priority_stays_in_its_lane() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lanes = [20, 30].map(|number| lane(&served.orb, number, strategy));
        let behind = Behind::new(&served.orb, "Behind", &lanes, None);
        behind.state.on_act(|call, _| {
            assert_eq!(
                name_of_thread(),
                format!("lane-{}", call.priority().unwrap())
            );
            Ok(call.priority().unwrap().number().into())
        });
        // At the ORB's own endpoint, by the lowest.
        let ports = [port(&lanes[0]), port(&lanes[1]), served.port()];
        for (port, expected) in ports.into_iter().zip([20, 30, 20]) {
            let mut peer = Peer::connect(port);
            for id in 0..10 {
                peer.send(&act("Behind", id, None));
                let (_, status, body) = peer.receive().reply();
                assert_eq!(status, ReplyStatus::NoException);
                assert_eq!(body[..4], i32::to_ne_bytes(expected));
            }
        }
        // A client's thread finds the endpoint of its priority in the reference.
        let client = client();
        let target = behind.seen_by(&served.orb, &client);
        for (own, expected) in [(20, 20), (29, 20), (30, 30), (1000, 30)] {
            priority::set_current(Priority::new(own));
            assert_eq!(target.act(1), Ok(expected));
        }
        priority::set_current(None);
        served.end();
    });
}

/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
#[test]
fn references_name_the_endpoints_of_the_lanes() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let strategy = ServerStrategy::Reactive;
    let lanes = [10, 20].map(|number| lane(&served.orb, number, strategy));
    let both = Behind::new(&served.orb, "Both", &lanes, None);
    let low = Behind::new(&served.orb, "Low", &lanes, Some(15));
    let client = client();
    // The most urgent first, or that of the object's own priority.
    for (behind, name) in [(&both, "lane-20"), (&low, "lane-10")] {
        behind.state.on_act(move |_, v| {
            assert_eq!(name_of_thread(), name);
            Ok(v)
        });
    }
    let own = low.seen_by(&served.orb, &client);
    assert_eq!(own.act(1), Ok(1));
    // The other one asks for no priority, which is below all lanes.
    let mut peer = Peer::connect(port(&lanes[1]));
    peer.send(&act("Both", 1, Some(20)));
    assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
    // A call within the process is served at the priority too.
    low.state.on_act(|call, v| {
        assert_eq!(call.priority(), Priority::new(10));
        Ok(v)
    });
    assert_eq!(low.target.act(2), Ok(2));
    assert_eq!(priority::current(), None);
    served.end();
}

/// Whatever a servant does to its thread, the next request finds it as it was.
///
/// Conformance: ORB - lanes (Real-time CORBA 1.2, clause 5.9): threads at a priority, endpoints,
/// connections and a queue for each
#[test]
fn a_servant_that_changes_its_priority_changes_nothing_for_others() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lanes = [lane(&served.orb, 10, strategy)];
        let behind = Behind::new(&served.orb, "Behind", &lanes, None);
        let states = [(&behind.state, Priority::new(10)), (&served.state, None)];
        for (state, expected) in states {
            state.on_act(move |call, v| {
                assert_eq!(call.priority(), expected);
                priority::set_current(Priority::new(77));
                Ok(v)
            });
        }
        let client = client();
        let targets = [
            behind.seen_by(&served.orb, &client),
            served.seen_by(&client),
        ];
        for v in 0..20 {
            for target in &targets {
                assert_eq!(target.act(v), Ok(v));
            }
        }
        served.end();
    });
}
