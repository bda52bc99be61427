// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of lanes: their number, their lane, and when they wait.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::giop::ReplyStatus;
use orbium::{
    config::ServerStrategy,
    lane::{Lane, LaneConfig, Priority},
};
use orbium_testkit::{Peer, Served, client, each_strategy, eventually, within};

use super::{Behind, act, at_the_gate, config, lane, name_of_thread, pool, port, threads_called};

/// Static threads, then dynamic ones, then the queue; later the static ones
/// again.
///
/// Conformance: ORB - lanes: static and dynamic threads; threads that cannot be had
/// Conformance: TAO 47 - queueing dispatch, dynamic thread pools
/// Conformance: complaint 1 - a dynamic pool hangs: the leader times out while all others are busy
#[test]
fn threads_are_added_up_to_the_bound_and_end_when_idle() {
    for (name, strategy) in [
        ("growing-pool", pool(1, 1)),
        (
            "growing-team",
            ServerStrategy::LeaderFollowers { threads: 1 },
        ),
    ] {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let lane = served.orb.add_lane(&LaneConfig {
            name: name.into(),
            dynamic_threads: 2,
            idle_time: Duration::from_millis(20),
            ..config(10, strategy)
        });
        let lanes = [lane.unwrap()];
        let behind = Behind::new(&served.orb, "Behind", &lanes, None);
        let gate = |id| at_the_gate(port(&lanes[0]), "Behind", id);
        for _ in 0..3 {
            behind.state.gate.close();
            let mut busy = [gate(1), gate(2), gate(3)];
            behind.state.gate.await_waiting(3);
            let calls = behind.state.calls();
            let mut late = gate(4);
            assert!(late.is_silent(Duration::from_millis(20)));
            assert_eq!(behind.state.calls(), calls);
            behind.state.gate.open();
            for peer in busy.iter_mut().chain([&mut late]) {
                peer.receive();
            }
        }
        // A pool has a reading thread besides its workers.
        eventually("the others end", || threads_called(name) <= 2);
        let mut again = gate(5);
        again.receive();
        served.end();
    }
}

/// A lane without a thread to spare takes one of a lower lane, at its priority.
///
/// Conformance: ORB - lanes: borrowing, downward only
#[test]
fn an_exhausted_lane_borrows_a_thread_of_a_lower_one() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let low = lane(&served.orb, 10, pool(2, 4));
    let high = served.orb.add_lane(&LaneConfig {
        borrows_from: vec![low.clone()],
        ..config(20, pool(1, 0))
    });
    let high = high.unwrap();
    let lower = Behind::new(&served.orb, "Lower", std::slice::from_ref(&low), None);
    let upper = Behind::new(&served.orb, "Upper", std::slice::from_ref(&high), None);
    let seen = Arc::new(Mutex::new(Vec::new()));
    for state in [&lower.state, &upper.state] {
        let seen = Arc::clone(&seen);
        state.on_act(move |call, v| {
            let number = call.priority().map(Priority::number);
            seen.lock().unwrap().push((name_of_thread(), number));
            Ok(v)
        });
    }
    let gate = |key: &str, lane: &Lane| at_the_gate(port(lane), key, 1);
    let ask = |key: &str, lane: &Lane| {
        let mut peer = Peer::connect(port(lane));
        peer.send(&act(key, 2, None));
        peer.receive().reply().1
    };
    let mut busy = gate("Upper", &high);
    upper.state.gate.await_waiting(1);
    let mut taken = std::iter::from_fn(|| seen.lock().unwrap().pop());
    for _ in 0..20 {
        // A thread is idle a moment after its answer.
        eventually("one is idle", || {
            ask("Upper", &high) == ReplyStatus::NoException
        });
        assert_eq!(taken.next(), Some(("lane-10".into(), Some(20))));
        // It has its own priority again, and serves its own lane.
        assert_eq!(ask("Lower", &low), ReplyStatus::NoException);
        assert_eq!(taken.next(), Some(("lane-10".into(), Some(10))));
    }
    // With no idle thread there either, there is no room.
    let mut others = [gate("Lower", &low), gate("Lower", &low)];
    lower.state.gate.await_waiting(2);
    assert_eq!(ask("Upper", &high), ReplyStatus::SystemException);
    // Never upward: the low lane waits, though the high one has nothing to do.
    upper.state.gate.open();
    assert_eq!(busy.receive().reply().0, 1);
    let mut waiting = Peer::connect(port(&low));
    waiting.send(&act("Lower", 5, None));
    assert!(waiting.is_silent(Duration::from_millis(50)));
    lower.state.gate.open();
    for peer in &mut others {
        peer.receive();
    }
    assert_eq!(waiting.receive().reply().0, 5);
    served.end();
}

/// Chains of calls between lanes of two ORBs, which borrow, wait and are called
/// back, from many callers at once.
///
/// Conformance: ORB - lanes: nested calls, held requests and busy lanes
#[test]
fn nested_calls_between_lanes_complete() {
    each_strategy(|strategy| {
        let (a, b) = (Served::new(strategy), Served::new(strategy));
        let ends = [&a, &b].map(|served| {
            let lanes = [10, 20].map(|number| lane(&served.orb, number, strategy));
            [10, 20].map(|own| Behind::new(&served.orb, &format!("At{own}"), &lanes, Some(own)))
        });
        let [in_a, in_b] = ends;
        let callers = client();
        let targets: Vec<_> = in_a.iter().map(|it| it.seen_by(&a.orb, &callers)).collect();
        let others: Vec<_> = in_b.iter().map(|it| it.seen_by(&b.orb, &callers)).collect();
        within("all chains", move || {
            thread::scope(|scope| {
                for caller in 0..8 {
                    let target = &targets[caller % 2];
                    let other = &others[caller / 2 % 2];
                    scope.spawn(move || {
                        for depth in [1, 4, 8] {
                            assert_eq!(target.nest(Some(other), depth), Ok(depth));
                            target.post_nest(Some(other)).unwrap();
                        }
                    });
                }
            });
        });
        a.end();
        b.end();
    });
}

/// A pool that replaces nobody has no more threads than it began with: what
/// comes while they wait in calls of their own waits for them.
///
/// Conformance: ORB - lanes: static and dynamic threads; threads that cannot be had
#[test]
fn a_lane_may_have_its_own_threads_and_no_others() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lane = served.orb.add_lane(&LaneConfig {
        name: "own-threads".into(),
        replaces_waiting: false,
        ..config(10, pool(1, 8))
    });
    let lanes = [lane.unwrap()];
    let behind = Behind::new(&served.orb, "Behind", &lanes, None);
    let elsewhere = Served::new(ServerStrategy::ThreadPerConnection);
    let caller = client();
    let (target, other) = (
        behind.seen_by(&served.orb, &caller),
        elsewhere.seen_by(&caller),
    );
    let far = elsewhere.seen_by(&served.orb);
    behind.state.on_act(move |_, v| far.gate().map(|()| v));
    let waiting = orbium_testkit::spawn(move || target.act(1));
    elsewhere.state.gate.await_waiting(1);
    let mut peer = Peer::connect(port(&lanes[0]));
    peer.send(&act("Behind", 2, None));
    eventually("it waits", || lanes[0].waiting_requests() == 1);
    // While threads of other tests end, the list of threads may lack some.
    eventually("one reads, one serves", || {
        threads_called("own-threads") == 2
    });
    elsewhere.state.gate.open();
    assert_eq!(waiting.join().unwrap(), Ok(1));
    assert_eq!(peer.receive().reply().0, 2);
    assert_eq!(other.act(3), Ok(3));
    served.end();
    elsewhere.end();
}
