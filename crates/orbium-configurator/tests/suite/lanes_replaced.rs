// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes with another kind of strategy, or other threads, replace serving lanes.

use std::net::TcpStream;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use orbium::{
    ExceptionKind,
    config::{ClientStrategy, ServerStrategy},
    lane::Lane,
    poa::Policies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{each_client_strategy, eventually, within};

use crate::lanes_end::{STRATEGIES, TwoLanes, call, client};
use crate::load::Load;
use crate::with;

/// A thread that repeatedly connects to a port.
struct Connecting {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Connecting {
    fn to(port: u16) -> Self {
        let (end, ends) = mpsc::channel();
        let thread = thread::spawn(move || {
            // Each leaves a port in TIME_WAIT.
            let pause = Duration::from_millis(1);
            while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                TcpStream::connect(("127.0.0.1", port)).expect("a listener");
            }
        });
        Self { end, thread }
    }

    /// Ends the thread: no connection was refused.
    fn end(self) {
        drop(self.end);
        self.thread.join().expect("no connection is refused");
    }
}

impl TwoLanes {
    fn second(&self, name: &str) -> Lane {
        self.served.orb.lane(name).unwrap()
    }

    /// Changes keys; returns the sentence of a refusal.
    fn set(&self, keys: &[(&str, &str)]) -> Result<(), String> {
        let changed = self
            .configurator
            .reconfigure(with(&self.configurator, keys));
        changed.map(drop).map_err(|error| error.to_string())
    }

    fn has_one_lane_of(&self, name: &str) {
        let snapshots = self.served.orb.lane_snapshots().entries;
        assert_eq!(snapshots.iter().filter(|it| it.name == name).count(), 1);
    }
}

/// To each kind of strategy from the one before, and back.
///
/// Conformance: ORB - a running ORB is reconfigured: a lane gets another kind of strategy at the same port
#[test]
fn a_lane_gets_another_strategy_under_load_and_no_call_is_lost() {
    for (place, strategy) in STRATEGIES.into_iter().enumerate() {
        let next = STRATEGIES[(place + 1) % STRATEGIES.len()];
        each_client_strategy(|client_strategy| {
            let lanes = TwoLanes::new("swap", strategy);
            let orb = client(client_strategy);
            let (first, second) = (lanes.object(&orb, 10), lanes.object(&orb, 20));
            let port = lanes.port(2);
            let load = [Load::on(&first, 2), Load::on(&second, 4)];
            let connecting = Connecting::to(port);
            for strategy in [next, strategy] {
                let before = lanes.second("swap-2");
                lanes.set(&[("lane.swap-2.strategy", strategy)]).unwrap();
                let after = lanes.second("swap-2");
                assert!(before != after && before.is_leaving());
                let strategy: ServerStrategy = strategy.parse().unwrap();
                assert_eq!(after.strategy(), strategy);
                assert_eq!(lanes.port(2), port);
                load.iter().for_each(Load::goes_on);
                // By an earlier reference, and by a new one.
                assert!(lanes.is_served_by(2, &second), "{strategy}");
                let new = lanes.object(&orb, 20);
                assert!(lanes.is_served_by(2, &new), "{strategy}");
                lanes.has_one_lane_of("swap-2");
            }
            connecting.end();
            load.into_iter().for_each(Load::end);
            orb.shutdown(true).unwrap();
            lanes.served.end();
        });
    }
}

/// Conformance: ORB - a running ORB is reconfigured: a lane gets another kind of strategy at the same port
#[test]
fn a_lane_gets_other_threads_and_endpoints_at_once() {
    let lanes = TwoLanes::new("more", "reactive");
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let port = lanes.port(2);
    let keys = [
        ("lane.more-2.strategy", "worker-pool:2/8"),
        ("lane.more-2.stack_size", "256 KiB"),
        ("lane.more-2.endpoint", "iiop://127.0.0.2:0"),
    ];
    lanes.set(&keys).unwrap();
    let lane = lanes.second("more-2");
    let channels = lane.channels();
    let addresses = channels.iter().map(|it| it.host_port_over("iiop").unwrap());
    let hosts: Vec<_> = addresses.map(|it| (it.host.clone(), it.port)).collect();
    assert_eq!(hosts.len(), 2);
    assert!(hosts.contains(&("127.0.0.1".to_owned(), port)), "{hosts:?}");
    assert!(lanes.is_served_by(2, &second));
    let other = hosts.iter().find(|(host, _)| host == "127.0.0.2");
    let (host, port) = other.unwrap();
    let own = orbium_testkit::reach(&lanes.served.orb, &orb.object_to_string(&second));
    lanes.served.orb.bind_key_in_place("There", &own).unwrap();
    let there = orbium_testkit::reach(&orb, &format!("corbaloc:iiop:1.2@{host}:{port}/There"));
    assert_eq!(there.echo_long(7), Ok(7));
    lanes.served.end();
}

/// The thread that accepts is in a servant until the drain time is over. Regression: its listener
/// was closed with it.
///
/// Conformance: ORB - a running ORB is reconfigured: a lane gets another kind of strategy at the same port
#[test]
fn a_lane_with_a_busy_thread_hands_its_listener_over_afterwards() {
    let mut lanes = TwoLanes::new("busy", "reactive");
    let time = Duration::from_millis(20);
    lanes.configurator = lanes.configurator.with_drain_time(time);
    let (orb, late) = (
        client(ClientStrategy::default()),
        client(ClientStrategy::default()),
    );
    let second = lanes.object(&orb, 20);
    let blocked = call(&second, Target::gate);
    lanes.state.gate.await_waiting(1);
    let port = lanes.port(2);
    lanes
        .set(&[("lane.busy-2.strategy", "leader-followers:2")])
        .unwrap();
    // It waits in the backlog.
    let waiting = orbium_testkit::reach(&late, &orb.object_to_string(&second));
    let waiting = call(&waiting, |it| it.act(2));
    assert!(!blocked.is_finished());
    lanes.state.gate.open();
    assert_eq!(blocked.join().unwrap(), Ok(()));
    assert_eq!(waiting.join().unwrap(), Ok(1));
    assert_eq!(lanes.port(2), port);
    assert!(lanes.is_served_by(2, &second));
    lanes.served.end();
}

/// The connection has a pending reply, so that the previous lane cannot close it until then.
/// Regression: later requests over it were forwarded to the same address, again and again.
///
/// Conformance: ORB - a running ORB is reconfigured: a lane gets another kind of strategy at the same port
#[test]
fn calls_over_a_connection_with_a_reply_to_come_are_served() {
    each_client_strategy(|client_strategy| {
        let lanes = TwoLanes::new("late", "worker-pool:2/8");
        let orb = client(client_strategy);
        let second = lanes.object(&orb, 20);
        let blocked = call(&second, Target::gate);
        lanes.state.gate.await_waiting(1);
        let (configurator, config) = (
            lanes.configurator.clone(),
            with(&lanes.configurator, &[("lane.late-2.strategy", "reactive")]),
        );
        let before = lanes.second("late-2");
        let replacing = thread::spawn(move || configurator.reconfigure(config).unwrap());
        eventually("the lane is replaced", || before.is_leaving());
        for number in 0..50 {
            assert_eq!(second.echo_long(number), Ok(number));
        }
        assert!(!blocked.is_finished() && !replacing.is_finished());
        lanes.state.gate.open();
        assert_eq!(blocked.join().unwrap(), Ok(()));
        within("the lane before ends", move || replacing.join().unwrap());
        assert_eq!(second.echo_long(7), Ok(7));
        orb.shutdown(true).unwrap();
        lanes.served.end();
    });
}

/// Conformance: ORB - a running ORB is reconfigured: a lane gets another kind of strategy at the same port
#[test]
fn a_lane_that_cannot_be_replaced_serves_on() {
    let lanes = TwoLanes::new("kept", "worker-pool:1/8");
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let (before, config) = (lanes.second("kept-2"), lanes.configurator.config());
    let no_such = [("lane.kept-2.processors", "4000")];
    let refused = lanes.set(&no_such).unwrap_err();
    assert!(refused.contains("processors"), "{refused}");
    let refused = lanes.set(&[("lane.kept-2.priority", "21")]).unwrap_err();
    assert_eq!(
        refused,
        "cannot change while the ORB runs: lane.kept-2.priority"
    );
    let borrows = [
        ("lane.kept-2.borrows_from", "kept-1"),
        ("lane.kept-1.replaces_waiting", "false"),
    ];
    let refused = lanes.set(&borrows).unwrap_err();
    let sentence = "cannot change while the ORB runs: \
                    lane.kept-1 (to be replaced: lane.kept-2 borrows its threads)";
    assert_eq!(refused, sentence);
    let policies = Policies {
        lanes: vec![before.clone()],
        ..Policies::default()
    };
    let poa = lanes.served.orb.root_poa();
    let named = poa.create_poa("named", None, policies).unwrap();
    let reactive = [("lane.kept-2.strategy", "reactive")];
    let refused = lanes.set(&reactive).unwrap_err();
    let sentence = "cannot change while the ORB runs: \
                    lane.kept-2 (to be replaced: the policies of RootPOA/named name it)";
    assert_eq!(refused, sentence);
    named.destroy(true).unwrap();
    let (configurator, other) = (
        lanes.configurator.clone(),
        with(&lanes.configurator, &reactive),
    );
    lanes.state.on_act(move |_, _| {
        let refused = configurator.reconfigure(other.clone()).unwrap_err();
        let sentence = "cannot change while the ORB runs: \
                        lane.kept-2 (to be replaced: by a thread of its own)";
        assert_eq!(refused.to_string(), sentence);
        Ok(7)
    });
    assert_eq!(second.act(0), Ok(7));
    assert!(lanes.second("kept-2") == before && lanes.configurator.config() == config);
    lanes.set(&reactive).unwrap();
    eventually("the lane before has ended", || {
        before.snapshot().threads == 0
    });
    assert_eq!(second.echo_long(7), Ok(7));
    lanes.served.end();
}

/// Regression: the text for Prometheus had each sample of such a lane twice, with the same labels,
/// as it kept the samples of the lane that had ended.
///
/// Conformance: robustness - the metrics of a lane that is replaced go on
#[test]
fn the_metrics_of_a_lane_that_is_replaced_go_on() {
    let lanes = TwoLanes::new("sums", "worker-pool:1/1");
    let metrics = lanes.served.orb.enable_metrics();
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let blocked = call(&second, Target::gate);
    lanes.state.gate.await_waiting(1);
    let waiting = call(&second, |it| it.act(2));
    let lane = lanes.second("sums-2");
    eventually("it waits", || lane.waiting_requests() == 1);
    let refused = call(&second, |it| it.act(2)).join().unwrap();
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::Transient);
    lanes.state.gate.open();
    assert_eq!(blocked.join().unwrap(), Ok(()));
    assert_eq!(waiting.join().unwrap(), Ok(1));
    let refusals = lanes.served.orb.refused_requests();
    assert_eq!(refusals, 1);

    lanes.set(&[("lane.sums-2.strategy", "reactive")]).unwrap();
    assert!(lanes.is_served_by(2, &second));
    assert_eq!(lanes.served.orb.refused_requests(), refusals);
    eventually("both requests are counted in one series", || {
        let served = metrics.snapshot().served.into_iter();
        let acts = served.filter(|it| it.operation == "Probe::Target/act");
        let counts: Vec<_> = acts.map(|it| (it.lane.clone(), it.ok)).collect();
        counts == [("sums-2".to_owned(), 2)]
    });
    let lane = metrics.snapshot().lanes;
    let lane = lane.iter().find(|it| it.lane.name == "sums-2").unwrap();
    assert!(lane.waited.count() > 0, "what has waited before");
    let text = metrics.prometheus_text();
    let mut samples: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(sample, _)| sample)
        .collect();
    let all = samples.len();
    samples.sort_unstable();
    samples.dedup();
    assert_eq!(samples.len(), all, "{text}");
    lanes.served.end();
}
