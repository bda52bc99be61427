// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads and queues of serving lanes.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use orbium::{
    Config, ExceptionKind, Orb, SystemException, config::Configure as _, lane::Lane, poa::Policies,
};
use orbium_configurator::{Configurator, ReconfigureError};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, client, eventually, within};

use crate::load::Load;
use crate::{threads_called, with};

/// An ORB with one lane, and an object served only by this lane.
struct InLane {
    orb: Orb,
    lane: Lane,
    configurator: Configurator,
    state: Arc<TargetState>,
    target: Target,
}

impl InLane {
    fn new(name: &str, keys: &[(&str, &str)]) -> Self {
        let mut config = Config::default();
        let listens = [("priority", "1"), ("endpoint", "iiop://127.0.0.1:0")];
        for (key, value) in listens.iter().chain(keys) {
            config.set(&format!("lane.{name}.{key}"), value).unwrap();
        }
        let orb = Orb::new(config.clone()).unwrap();
        let lane = orb.lane(name).unwrap();
        let policies = Policies {
            lanes: vec![lane.clone()],
            ..Policies::default()
        };
        let adapter = orb.root_poa().create_poa(name, None, policies).unwrap();
        adapter.manager().activate().unwrap();
        let state = Arc::new(TargetState::default());
        let object: Target = adapter.activate(Arc::clone(&state)).unwrap();
        let caller = client();
        let text = orb.object_to_string(&object);
        Self {
            configurator: Configurator::new(&orb, config),
            target: orbium_testkit::reach(&caller, &text),
            orb,
            lane,
            state,
        }
    }

    /// Sets a key of the lane.
    fn set(&self, key: &str, value: &str) -> Result<Vec<String>, ReconfigureError> {
        let key = format!("lane.{}.{key}", self.lane.name());
        let config = with(&self.configurator, &[(&key, value)]);
        let changes = self.configurator.reconfigure(config)?;
        Ok(changes.iter().map(ToString::to_string).collect())
    }

    fn threads(&self) -> usize {
        threads_called(self.lane.name())
    }

    fn await_threads(&self, count: usize) {
        eventually("the lane has its threads", || self.threads() == count);
    }

    /// A call on a separate thread.
    fn call<R: Send + 'static>(
        &self,
        call: impl FnOnce(&Target) -> Result<R, SystemException> + Send + 'static,
    ) -> JoinHandle<Result<R, SystemException>> {
        let target = self.target.clone();
        thread::spawn(move || call(&target))
    }

    fn end(self) {
        within("shutdown", move || self.orb.shutdown(true)).unwrap();
    }
}

/// Regression: each ORB that was dropped, and not shut down, left a thread that waited five seconds
/// for another connection.
#[test]
fn threads_that_wait_for_a_connection_end_with_a_dropped_orb() {
    let served = InLane::new("waiting", &[("idle_time", "60 min")]);
    served.call(Target::noop).join().unwrap().unwrap();
    drop(served);
    eventually("its threads have ended", || threads_called("waiting") == 0);
}

/// Conformance: ORB - a running ORB is reconfigured: threads and queues of lanes
#[test]
fn workers_come_and_go_under_load_and_no_call_is_lost() {
    let served = InLane::new(
        "workers",
        &[("strategy", "worker-pool:2/64"), ("idle_time", "10 ms")],
    );
    let load = Load::on(&served.target, 4);
    // Including the reader.
    served.await_threads(3);
    for _ in 0..3 {
        let changes = served.set("strategy", "worker-pool:6/64").unwrap();
        let change = "lane.workers.strategy: worker-pool:2/64 → worker-pool:6/64";
        assert_eq!(changes, [change]);
        assert_eq!(served.threads(), 7, "they have begun");
        load.goes_on();
        served.set("strategy", "worker-pool:2/64").unwrap();
        served.await_threads(3);
        load.goes_on();
    }
    assert_eq!(served.lane.strategy().to_string(), "worker-pool:2/64");
    assert_eq!(served.lane.snapshot().strategy, served.lane.strategy());
    load.end();
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: threads and queues of lanes
#[test]
fn leaders_and_followers_come_and_go_under_load_and_no_call_is_lost() {
    let served = InLane::new(
        "team",
        &[("strategy", "leader-followers:1"), ("idle_time", "10 ms")],
    );
    let load = Load::on(&served.target, 4);
    served.await_threads(1);
    for _ in 0..3 {
        served.set("strategy", "leader-followers:5").unwrap();
        assert_eq!(served.threads(), 5, "they have begun");
        load.goes_on();
        served.set("strategy", "leader-followers:1").unwrap();
        served.await_threads(1);
        load.goes_on();
    }
    load.end();
    // Without load, too: idle threads are woken.
    served.set("strategy", "leader-followers:4").unwrap();
    served.set("dynamic_threads", "3").unwrap();
    served.set("strategy", "leader-followers:1").unwrap();
    served.await_threads(1);
    assert_eq!(served.target.echo_long(7), Ok(7));
    served.end();
}

/// An additional static thread serves the requests blocked by the others.
///
/// Conformance: ORB - a running ORB is reconfigured: threads and queues of lanes
#[test]
fn threads_that_are_added_serve_what_waits() {
    for (name, before, after) in [
        ("more-w", "worker-pool:1/8", "worker-pool:2/8"),
        ("more-l", "leader-followers:1", "leader-followers:2"),
    ] {
        let served = InLane::new(name, &[("strategy", before)]);
        let blocked = served.call(Target::gate);
        served.state.gate.await_waiting(1);
        let waits = served.call(|it| it.echo_long(1));
        if name == "more-w" {
            eventually("it waits", || served.lane.waiting_requests() == 1);
        }
        assert!(!waits.is_finished());
        served.set("strategy", after).unwrap();
        assert_eq!(waits.join().unwrap(), Ok(1));
        // A surplus thread ends when it has served its request.
        served.set("strategy", before).unwrap();
        served.state.gate.open();
        assert!(blocked.join().unwrap().is_ok());
        assert_eq!(served.target.echo_long(2), Ok(2));
        served.end();
    }
}

/// Conformance: ORB - a running ORB is reconfigured: threads and queues of lanes
#[test]
fn a_smaller_queue_keeps_what_waits_and_refuses_what_comes() {
    let served = InLane::new("queued", &[("strategy", "worker-pool:1/1")]);
    let blocked = served.call(Target::gate);
    served.state.gate.await_waiting(1);
    let waits = |count| eventually("they wait", || served.lane.waiting_requests() == count);
    let first = served.call(|it| it.echo_long(1));
    waits(1);
    let refused = |result: Result<i32, SystemException>| {
        assert_eq!(result.unwrap_err().kind, ExceptionKind::Transient);
    };
    refused(served.call(|it| it.echo_long(2)).join().unwrap());
    served.set("strategy", "worker-pool:1/3").unwrap();
    assert_eq!(served.lane.snapshot().queue, 3);
    let second = served.call(|it| it.echo_long(2));
    waits(2);
    served.set("strategy", "worker-pool:1/1").unwrap();
    refused(served.call(|it| it.echo_long(3)).join().unwrap());
    // The size of queued requests is limited likewise.
    served.set("strategy", "worker-pool:1/9").unwrap();
    served.set("queue_octets", "1").unwrap();
    refused(served.call(|it| it.echo_long(3)).join().unwrap());
    served.set("queue_octets", "none").unwrap();
    let third = served.call(|it| it.echo_long(3));
    waits(3);
    served.state.gate.open();
    assert!(blocked.join().unwrap().is_ok());
    for (number, call) in [(1, first), (2, second), (3, third)] {
        assert_eq!(call.join().unwrap(), Ok(number));
    }
    assert_eq!(served.lane.refused_requests(), 3);
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: threads and queues of lanes
#[test]
fn wrong_numbers_are_refused_and_nothing_is_changed() {
    let served = InLane::new("kept", &[("strategy", "worker-pool:2/8")]);
    let before = served.configurator.config();
    for (key, value, why) in [
        ("strategy", "worker-pool:0/8", "no thread would serve"),
        ("strategy", "worker-pool:100000/8", "raise serving_threads"),
        ("dynamic_threads", "100000", "raise serving_threads"),
        (
            "priority",
            "7",
            "cannot change while the ORB runs: lane.kept.priority",
        ),
    ] {
        let refused = served.set(key, value).unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    // Both, or neither.
    let both = with(
        &served.configurator,
        &[
            ("lane.kept.strategy", "worker-pool:5/8"),
            ("lane.kept.endpoint", "iiop://192.0.2.1:1"),
        ],
    );
    served.configurator.reconfigure(both).unwrap_err();
    assert_eq!(served.configurator.config(), before);
    served.await_threads(3);
    assert_eq!(served.lane.strategy().to_string(), "worker-pool:2/8");
    served.end();
}

/// The ORB's own lane, by its strategy.
///
/// Conformance: ORB - a running ORB is reconfigured: threads and queues of lanes
#[test]
fn the_lane_of_the_orb_gets_other_threads() {
    let mut config = Config::default();
    config.set("server_strategy", "leader-followers:2").unwrap();
    let (served, configurator) = crate::served(config);
    let (_client, target) = served.client();
    let load = Load::on(&target, 2);
    let lane = served.orb.own_lane().unwrap();
    let more = with(&configurator, &[("server_strategy", "leader-followers:6")]);
    configurator.reconfigure(more).unwrap();
    assert_eq!(lane.snapshot().threads, 6);
    load.goes_on();
    let other = with(&configurator, &[("server_strategy", "reactive")]);
    let refused = configurator.reconfigure(other).unwrap_err();
    let sentence = "cannot change while the ORB runs: server_strategy";
    assert_eq!(refused.to_string(), sentence);
    load.end();
    served.end();
}
