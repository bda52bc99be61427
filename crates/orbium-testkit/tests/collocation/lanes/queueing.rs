// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous calls that wait in the queue of their object's lane: its bounds, what happens
//! to them there, and its end.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::{
    Call, Completion, DeferredReply, ExceptionKind, Interface, SystemException,
    asynchronous::Asynchronous,
    config::Collocation,
    lane::{LaneConfig, QueueBounds},
};
use orbium_core::idl_interface;
use orbium_testkit::{Served, client, eventually, within};

use super::super::config;
use super::{Behind, Seen, TRANSIENT, lane_config};

/// Runs a test where calls wait in lanes: lent, and by messages.
fn each_queued(test: impl Fn(Served)) {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let served = Served::with(config(way));
        let orb = served.orb.clone();
        test(served);
        within("the ORB's end", move || orb.shutdown(true)).unwrap();
    }
}

impl Behind {
    /// Has all threads of the lanes, one each, wait at the gate.
    fn occupied(served: &Served, lanes: &[LaneConfig]) -> Self {
        let behind = Self::new(served, lanes);
        behind.seen.gate_async().detach();
        behind.watch.gate.await_waiting(1);
        behind
    }
}

fn result(call: Asynchronous<u32>) -> Result<u32, SystemException> {
    within("the call", move || call.wait())
}

/// Conformance: ORB - lanes: asynchronous calls of the ORB itself wait in the queue, by its bounds
#[test]
fn a_full_queue_is_transient() {
    each_queued(|served| {
        let behind = Behind::occupied(&served, &[lane_config(10, 1, 2)]);
        let Behind {
            lanes, seen, watch, ..
        } = &behind;
        let waiting = [1, 2].map(|number| seen.order_async(number));
        assert_eq!(seen.order_async(3).wait(), Err(TRANSIENT));
        let story = orbium::diagnostics::last_failure().expect("the story of the call");
        assert_eq!(story.operation, "order");
        let counts = (lanes[0].waiting_requests(), lanes[0].refused_requests());
        assert_eq!(counts, (2, 1));
        // They do not fill it for a client of another ORB.
        let other = client();
        let text = served.orb.object_to_string(seen);
        let remote = other.string_to_object(&text).unwrap().unwrap();
        let remote = Seen::from_object(remote);
        let remote = thread::spawn(move || remote.order(4));
        eventually("it waits", || lanes[0].waiting_requests() == 3);
        watch.gate.open();
        assert_eq!(waiting.map(result), [Ok(1), Ok(2)]);
        assert_eq!(within("the call", move || remote.join().unwrap()), Ok(4));
        assert_eq!(watch.numbers(), [1, 2, 4]);
    });
}

/// A call that was dropped leaves its place to others at once.
///
/// Conformance: ORB - lanes: asynchronous calls of the ORB itself wait in the queue, by its bounds
#[test]
fn a_call_that_is_dropped_leaves_the_queue() {
    each_queued(|served| {
        let behind = Behind::occupied(&served, &[lane_config(10, 1, 1)]);
        let Behind {
            lanes, seen, watch, ..
        } = &behind;
        let dropped = seen.order_async(1);
        assert_eq!(lanes[0].waiting_requests(), 1);
        drop(dropped);
        assert_eq!(lanes[0].waiting_requests(), 0);
        let waiting = seen.order_async(2);
        watch.gate.open();
        assert_eq!(result(waiting), Ok(2));
        assert_eq!(watch.numbers(), [2]);
    });
}

/// Conformance: ORB - lanes: asynchronous calls of the ORB itself wait in the queue, by its bounds
#[test]
fn octets_of_calls_are_bounded_where_those_of_requests_are() {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let by_lane = LaneConfig {
            queue_octets: Some(300),
            ..lane_config(10, 1, 8)
        };
        let together = LaneConfig {
            queue_bounds: Some(QueueBounds::new(8, 300)),
            ..lane_config(11, 1, 8)
        };
        for (lane, name) in [
            (by_lane, "by its own bound"),
            (together, "by that of several"),
        ] {
            let served = Served::with(config(way));
            let behind = Behind::occupied(&served, &[lane]);
            let text = "x".repeat(200);
            let waits = behind.seen.swap_async(&text);
            let refused = behind.seen.swap_async(&text);
            let refused = within("the call", move || refused.wait());
            assert_eq!(refused, Err(TRANSIENT), "{name}");
            let small = behind.seen.swap_async("a");
            behind.watch.gate.open();
            assert_eq!(small.wait().unwrap(), "a!");
            assert_eq!(waits.wait().unwrap().len(), 201);
            served.end();
        }
    }
}

/// Conformance: ORB - lanes: asynchronous calls of the ORB itself wait in the queue, by its bounds
#[test]
fn a_deadline_that_passes_in_the_queue_leaves_nothing_done() {
    each_queued(|served| {
        let behind = Behind::occupied(&served, &[lane_config(10, 1, 1)]);
        let Behind {
            lanes, seen, watch, ..
        } = &behind;
        let hasty = seen.with_timeout(Duration::from_millis(30));
        let late = result(hasty.order_async(1)).unwrap_err();
        let expected = (ExceptionKind::Timeout, Completion::No);
        assert_eq!((late.kind, late.completed), expected);
        assert_eq!(lanes[0].waiting_requests(), 0);
        let waits = seen.order_async(2);
        watch.gate.open();
        assert_eq!(result(waits), Ok(2));
        assert_eq!(watch.numbers(), [2]);
    });
}

#[test]
fn an_object_may_go_while_its_calls_wait() {
    each_queued(|served| {
        let behind = Behind::occupied(&served, &[lane_config(10, 1, 2)]);
        let other: Seen = behind.poa.activate(Arc::clone(&behind.watch)).unwrap();
        let waits = other.order_async(1);
        let object = other.as_object();
        let id = behind.poa.reference_to_id(object).unwrap();
        behind.poa.deactivate(&id).unwrap();
        behind.watch.gate.open();
        let gone = result(waits).unwrap_err();
        let expected = (ExceptionKind::ObjectNotExist, Completion::No);
        assert_eq!((gone.kind, gone.completed), expected);
        assert_eq!(behind.watch.numbers(), []);
        assert_eq!(result(behind.seen.order_async(2)), Ok(2));
    });
}

/// Conformance: ORB - lanes: asynchronous calls of the ORB itself end with the lane
#[test]
fn calls_that_wait_end_with_the_lane() {
    each_queued(|served| {
        let behind = Behind::occupied(&served, &[lane_config(10, 1, 2)]);
        let served_last = behind.seen.order_async(1);
        let lane = behind.lanes[0].clone();
        let ending = thread::spawn(move || lane.stop());
        // The lane waits for the gate, but the call does not.
        assert_eq!(result(served_last), Err(TRANSIENT));
        behind.watch.gate.open();
        within("the lane's end", move || ending.join().unwrap()).unwrap();
        assert_eq!(result(behind.seen.order_async(2)), Err(TRANSIENT));
        assert_eq!(behind.watch.numbers(), []);
    });
}

/// Conformance: ORB - lanes: asynchronous calls of the ORB itself end with the lane
#[test]
fn calls_that_wait_end_with_the_orb() {
    each_queued(|served| {
        let behind = Behind::occupied(&served, &[lane_config(10, 1, 2)]);
        let waits = behind.seen.order_async(1);
        let orb = served.orb.clone();
        let ending = thread::spawn(move || orb.shutdown(true));
        assert_eq!(result(waits), Err(TRANSIENT));
        behind.watch.gate.open();
        within("the ORB's end", move || ending.join().unwrap()).unwrap();
        assert_eq!(behind.watch.numbers(), []);
    });
}

/// What a client has its answer of is over: a lane without a queue takes the next call.
#[test]
fn a_lane_without_a_queue_serves_one_call_after_the_other() {
    each_queued(|served| {
        let behind = Behind::new(&served, &[lane_config(10, 1, 0)]);
        for number in 0..200 {
            assert_eq!(behind.seen.order_async(number).wait(), Ok(number));
        }
        assert_eq!(behind.lanes[0].refused_requests(), 0);
    });
}

/// Threads of other strategies have no queue of their own, but take what is handed over.
#[test]
fn every_strategy_serves_calls_of_its_own_orb() {
    orbium_testkit::each_strategy(|strategy| {
        let served = Served::with(config(Collocation::ThroughPoa));
        let lane = LaneConfig {
            strategy,
            ..lane_config(10, 1, 8)
        };
        let behind = Behind::new(&served, &[lane]);
        let calls: Vec<_> = (0..20)
            .map(|number| behind.seen.order_async(number))
            .collect();
        for (number, call) in (0..).zip(calls) {
            assert_eq!(result(call), Ok(number), "{strategy}");
        }
        let calls = behind.watch.take();
        assert!(calls.iter().all(|it| *it == behind.of_lane()), "{calls:?}");
        eventually("nothing waits", || behind.lanes[0].waiting_requests() == 0);
        served.end();
    });
}

idl_interface! {
    /// Answers later.
    pub struct Later = "IDL:InLanes/Later:1.0";
    operations by_octet(0, 111, &[0]);
    pub trait LaterServant;

    fn open() -> Result<u32> = "open" { async open_async, deferred u32, };
}

#[derive(Default)]
struct Opened(Mutex<Vec<DeferredReply<u32>>>);

impl LaterServant for Opened {
    fn open(&self, _: &Call<'_>, reply: DeferredReply<u32>) {
        self.0.lock().unwrap().push(reply);
    }
}

/// The only thread of the lane is not replaced while it waits, and is not to wait.
#[test]
fn a_call_that_is_answered_later_leaves_the_thread_of_the_lane() {
    let served = Served::with(config(Collocation::ThroughPoa));
    let lane = LaneConfig {
        replaces_waiting: false,
        ..lane_config(10, 1, 2)
    };
    let behind = Behind::new(&served, &[lane]);
    let opened = Arc::new(Opened::default());
    let later: Later = behind.poa.activate(Arc::clone(&opened)).unwrap();
    let calls = [later.open_async(), later.open_async()];
    assert_eq!(result(behind.seen.order_async(1)), Ok(1));
    let open = std::mem::take(&mut *opened.0.lock().unwrap());
    assert_eq!(open.len(), 2);
    for (number, token) in (5..).zip(open) {
        token.ok(number).unwrap();
    }
    assert_eq!(calls.map(result), [Ok(5), Ok(6)]);
    served.end();
}
