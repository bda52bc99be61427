// SPDX-License-Identifier: MIT OR Apache-2.0
//! Initial lanes of the ORB end, and others join the lanes of all adapters.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use orbium::{
    Config, ExceptionKind, Orb, SystemException,
    config::{ClientStrategy, Configure as _},
    lane::Priority,
    poa::Policies,
};
use orbium_configurator::Configurator;
use orbium_core::{Servant, ServedBy};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, each_client_strategy, eventually, within};

use crate::load::Load;
use crate::{threads_called, with};

pub(crate) const STRATEGIES: [&str; 4] = [
    "thread-per-connection",
    "reactive",
    "leader-followers:2",
    "worker-pool:2/64",
];

/// An ORB with an endpoint and two lanes with endpoints: `NAME-1` at priority 10, `NAME-2` at 20.
pub(crate) struct TwoLanes {
    name: &'static str,
    pub(crate) served: Served,
    pub(crate) configurator: Configurator,
    pub(crate) state: Arc<TargetState>,
}

impl TwoLanes {
    pub(crate) fn new(name: &'static str, strategy: &str) -> Self {
        let mut config = Config::default();
        config.set("endpoint", "iiop://127.0.0.1:0").unwrap();
        for (lane, priority) in [("1", "10"), ("2", "20")] {
            let keys = [
                ("priority", priority),
                ("strategy", strategy),
                ("endpoint", "iiop://127.0.0.1:0"),
            ];
            for (key, value) in keys {
                let path = format!("lane.{name}-{lane}.{key}");
                config.set(&path, value).unwrap();
            }
        }
        let served = Served::with(config.clone());
        let state = Arc::new(TargetState::default());
        // The thread on which it runs, by the name.
        state.on_act(|_, lane| {
            let thread = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
            Ok(i32::from(thread.trim().ends_with(&format!("-{lane}"))))
        });
        Self {
            name,
            configurator: Configurator::new(&served.orb, config),
            served,
            state,
        }
    }

    fn lane(&self, number: u8) -> String {
        format!("{}-{number}", self.name)
    }

    /// An object with that priority, as seen by a client.
    pub(crate) fn object(&self, client: &Orb, priority: i16) -> Target {
        let state = Arc::clone(&self.state);
        let servant: Arc<dyn Servant> = Arc::new(<Target as ServedBy<_>>::skeleton(state));
        let poa = self.served.orb.root_poa();
        let priority = Priority::new(priority).unwrap();
        let object = poa.activate_servant_at(None, &servant, priority).unwrap();
        orbium_testkit::reach(client, &self.served.orb.object_to_string(&object))
    }

    /// Whether the lane with that number serves it.
    pub(crate) fn is_served_by(&self, number: i32, target: &Target) -> bool {
        target.act(number) == Ok(1)
    }

    pub(crate) fn port(&self, number: u8) -> u16 {
        let lane = self.served.orb.lane(&self.lane(number)).unwrap();
        let channels = lane.channels();
        channels[0].host_port_over("iiop").unwrap().port
    }

    /// Keeps only these lanes.
    fn leave(&self, lanes: &str) -> Result<(), String> {
        let config = with(&self.configurator, &[("lanes", lanes)]);
        let changed = self.configurator.reconfigure(config);
        changed.map(drop).map_err(|error| error.to_string())
    }

    fn has_ended(&self, number: u8, port: u16) {
        let name = self.lane(number);
        assert!(self.served.orb.lane(&name).is_none());
        eventually("its threads end", || threads_called(&name) == 0);
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
        let snapshots = self.served.orb.lane_snapshots().entries;
        assert!(snapshots.iter().all(|it| it.name != name));
    }
}

pub(crate) fn client(strategy: ClientStrategy) -> Orb {
    let config = Config {
        client_strategy: strategy,
        strategy: strategy.needs().unwrap_or_default(),
        ..Config::default()
    };
    Orb::new(config).unwrap()
}

pub(crate) fn call<R: Send + 'static>(
    target: &Target,
    call: impl FnOnce(&Target) -> Result<R, SystemException> + Send + 'static,
) -> JoinHandle<Result<R, SystemException>> {
    let target = target.clone();
    thread::spawn(move || call(&target))
}

/// Calls over exclusive and shared connections, to objects of the lane and of others.
///
/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn lanes_end_under_load_and_no_call_is_lost() {
    for strategy in STRATEGIES {
        each_client_strategy(|client_strategy| {
            let lanes = TwoLanes::new("load", strategy);
            let orb = client(client_strategy);
            let (first, second) = (lanes.object(&orb, 10), lanes.object(&orb, 20));
            assert!(lanes.is_served_by(1, &first) && lanes.is_served_by(2, &second));
            let port = lanes.port(2);
            let load = [Load::on(&first, 2), Load::on(&second, 4)];
            lanes.leave("load-1").unwrap();
            lanes.has_ended(2, port);
            load.iter().for_each(Load::goes_on);
            // By the next lower lane.
            assert!(lanes.is_served_by(1, &second), "{strategy}");
            let port = lanes.port(1);
            lanes.leave("none").unwrap();
            lanes.has_ended(1, port);
            load.iter().for_each(Load::goes_on);
            load.into_iter().for_each(Load::end);
            orb.shutdown(true).unwrap();
            lanes.served.end();
        });
    }
}

/// Both at once, with a drain time beyond the range of the clock.
///
/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn several_lanes_end_together() {
    let mut lanes = TwoLanes::new("both", "worker-pool:2/64");
    lanes.configurator = lanes.configurator.with_drain_time(Duration::MAX);
    let orb = client(ClientStrategy::default());
    let objects = [lanes.object(&orb, 10), lanes.object(&orb, 20)];
    let load = objects.each_ref().map(|it| Load::on(it, 2));
    let ports = [lanes.port(1), lanes.port(2)];
    lanes.leave("none").unwrap();
    lanes.has_ended(1, ports[0]);
    lanes.has_ended(2, ports[1]);
    load.iter().for_each(Load::goes_on);
    load.into_iter().for_each(Load::end);
    lanes.served.end();
}

/// Regression: a request in progress kept later lanes from ending.
#[test]
fn lanes_that_end_together_do_not_wait_for_one_another() {
    for (busy, idle) in [(1, 2), (2, 1)] {
        let mut lanes = TwoLanes::new("apart", "worker-pool:2/64");
        lanes.configurator = lanes.configurator.with_drain_time(Duration::MAX);
        let orb = client(ClientStrategy::default());
        let blocked = call(&lanes.object(&orb, 10 * busy), Target::gate);
        lanes.state.gate.await_waiting(1);
        let (configurator, config) = (
            lanes.configurator.clone(),
            with(&lanes.configurator, &[("lanes", "none")]),
        );
        let ending = thread::spawn(move || configurator.reconfigure(config).unwrap());
        let idle = lanes.lane(idle);
        eventually("its threads end", || threads_called(&idle) == 0);
        assert!(!blocked.is_finished() && !ending.is_finished());
        lanes.state.gate.open();
        assert_eq!(blocked.join().unwrap(), Ok(()));
        within("the other one ends", move || ending.join().unwrap());
        lanes.served.end();
    }
}

/// At the same port, with calls by earlier references.
///
/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn lanes_that_are_added_serve_adapters_that_name_none() {
    for strategy in STRATEGIES {
        let lanes = TwoLanes::new("join", strategy);
        let orb = client(ClientStrategy::default());
        let second = lanes.object(&orb, 20);
        let load = Load::on(&second, 2);
        let port = lanes.port(2);
        for _ in 0..3 {
            lanes.leave("join-1").unwrap();
            load.goes_on();
            let endpoint = format!("iiop://127.0.0.1:{port}");
            let keys = [
                ("lane.join-2.priority", "20"),
                ("lane.join-2.strategy", strategy),
                ("lane.join-2.endpoint", &endpoint),
            ];
            let config = with(&lanes.configurator, &keys);
            lanes.configurator.reconfigure(config).unwrap();
            // Earlier objects, too.
            assert!(lanes.is_served_by(2, &second), "{strategy}");
            let new = lanes.object(&orb, 20);
            assert!(lanes.is_served_by(2, &new), "{strategy}");
            load.goes_on();
        }
        load.end();
        lanes.served.end();
    }
}

/// An ORB without lanes: the first added one serves requests of its priority.
///
/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn the_first_lane_joins_the_lane_of_the_orb() {
    let lanes = TwoLanes::new("first", "worker-pool:1/8");
    lanes.leave("none").unwrap();
    let orb = client(ClientStrategy::default());
    let (low, high) = (lanes.object(&orb, 0), lanes.object(&orb, 20));
    let keys = [
        ("lane.first-1.priority", "15"),
        ("lane.first-1.strategy", "worker-pool:1/8"),
    ];
    let config = with(&lanes.configurator, &keys);
    lanes.configurator.reconfigure(config).unwrap();
    assert!(lanes.is_served_by(1, &high));
    assert!(!lanes.is_served_by(1, &low));
    lanes.leave("none").unwrap();
    assert!(!lanes.is_served_by(1, &high));
    lanes.served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn requests_in_the_queue_of_a_lane_that_ends_are_served_there() {
    let lanes = TwoLanes::new("waits", "worker-pool:1/8");
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let lane = lanes.served.orb.lane("waits-2").unwrap();
    let blocked = call(&second, Target::gate);
    lanes.state.gate.await_waiting(1);
    let waiting: Vec<_> = (0..3).map(|_| call(&second, |it| it.act(2))).collect();
    eventually("they wait", || lane.waiting_requests() == 3);
    let port = lanes.port(2);
    let (configurator, config) = (
        lanes.configurator.clone(),
        with(&lanes.configurator, &[("lanes", "waits-1")]),
    );
    let ending = thread::spawn(move || configurator.reconfigure(config).unwrap());
    eventually("it listens no more", || {
        TcpStream::connect(("127.0.0.1", port)).is_err()
    });
    // New requests are served by the lower lane.
    let other = lanes.object(&orb, 20);
    assert!(lanes.is_served_by(1, &other));
    assert!(!ending.is_finished() && !blocked.is_finished());
    lanes.state.gate.open();
    assert_eq!(blocked.join().unwrap(), Ok(()));
    for waited in waiting {
        assert_eq!(waited.join().unwrap(), Ok(1), "by the lane that ends");
    }
    let changes = within("the lane ends", move || ending.join().unwrap());
    assert_eq!(changes[0].key, "lanes");
    lanes.has_ended(2, port);
    lanes.served.end();
}

/// A client with another address is forwarded; one without receives the exception.
///
/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn requests_are_refused_at_the_deadline_unless_they_were_begun() {
    let mut lanes = TwoLanes::new("late", "worker-pool:1/8");
    let time = Duration::from_millis(20);
    lanes.configurator = lanes.configurator.with_drain_time(time);
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let lane = lanes.served.orb.lane("late-2").unwrap();
    let own = orbium_testkit::reach(&lanes.served.orb, &orb.object_to_string(&second));
    lanes.served.orb.bind_key_in_place("Alone", &own).unwrap();
    let at = format!("corbaloc:iiop:1.2@127.0.0.1:{}/Alone", lanes.port(2));
    let alone = orbium_testkit::reach(&orb, &at);
    let blocked = call(&second, Target::gate);
    lanes.state.gate.await_waiting(1);
    let waiting = call(&second, |it| it.act(1));
    eventually("it waits", || lane.waiting_requests() == 1);
    let refused = call(&alone, |it| it.act(1));
    eventually("both wait", || lane.waiting_requests() == 2);
    lanes.leave("late-1").unwrap();
    assert_eq!(waiting.join().unwrap(), Ok(1), "by the lane below");
    let refused = refused.join().unwrap().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Transient, "{refused}");
    assert_eq!(refused.completed, orbium::Completion::No);
    assert!(threads_called("late-2") > 0);
    lanes.state.gate.open();
    assert_eq!(blocked.join().unwrap(), Ok(()));
    eventually("its thread ends", || threads_called("late-2") == 0);
    lanes.served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn adapters_that_name_lanes_keep_one() {
    let lanes = TwoLanes::new("named", "leader-followers:1");
    let poa = lanes.served.orb.root_poa();
    let orb = client(ClientStrategy::default());
    let named = |name: &str, of: &[u8]| {
        let named = of.iter().map(|it| lanes.served.orb.lane(&lanes.lane(*it)));
        let policies = Policies {
            lanes: named.map(Option::unwrap).collect(),
            ..Policies::default()
        };
        let adapter = poa.create_poa(name, None, policies).unwrap();
        adapter.manager().activate().unwrap();
        let object: Target = adapter.activate(Arc::clone(&lanes.state)).unwrap();
        let text = lanes.served.orb.object_to_string(&object);
        (adapter, orbium_testkit::reach(&orb, &text))
    };
    let (both, of_both) = named("both", &[1, 2]);
    let (one, of_one) = named("one", &[2]);
    assert!(lanes.is_served_by(2, &of_one));
    let before = lanes.configurator.config();
    let refused = lanes.leave("named-1").unwrap_err();
    let sentence =
        "cannot change while the ORB runs: lane.named-2 (to end: RootPOA/one has no other)";
    assert_eq!(refused, sentence);
    assert_eq!(lanes.configurator.config(), before);
    assert!(lanes.is_served_by(2, &of_one));
    one.destroy(true).unwrap();
    let load = Load::on(&of_both, 2);
    lanes.leave("named-1").unwrap();
    load.goes_on();
    assert!(lanes.is_served_by(1, &of_both));
    load.end();
    drop(both);
    lanes.served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn the_last_lane_and_one_that_asks_for_its_own_end_stay() {
    let mut config = Config::default();
    for (key, value) in [
        ("priority", "1"),
        ("endpoint", "iiop://127.0.0.1:0"),
        ("strategy", "worker-pool:1/8"),
    ] {
        config.set(&format!("lane.last.{key}"), value).unwrap();
    }
    let orb = Orb::new(config.clone()).unwrap();
    orb.root_poa().manager().activate().unwrap();
    let configurator = Configurator::new(&orb, config);
    let none = with(&configurator, &[("lanes", "none")]);
    let refused = configurator.reconfigure(none).unwrap_err().to_string();
    let sentence = "cannot change while the ORB runs: lane.last (to end: the ORB has no other)";
    assert_eq!(refused, sentence);
    let caller = client(ClientStrategy::default());
    let state = Arc::new(TargetState::default());
    let seen = || {
        let object: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
        orbium_testkit::reach(&caller, &orb.object_to_string(&object))
    };
    assert_eq!(seen().noop(), Ok(()));
    // Another one may replace it.
    let other = with(
        &configurator,
        &[
            ("lane.next.priority", "1"),
            ("lane.next.endpoint", "iiop://127.0.0.1:0"),
            ("lanes", "next"),
        ],
    );
    configurator.reconfigure(other).unwrap();
    eventually("its threads end", || threads_called("last") == 0);
    assert_eq!(orb.lanes().len(), 1);
    assert_eq!(seen().noop(), Ok(()));
    orb.shutdown(true).unwrap();

    let lanes = TwoLanes::new("self", "worker-pool:1/8");
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let (configurator, config) = (
        lanes.configurator.clone(),
        with(&lanes.configurator, &[("lanes", "self-1")]),
    );
    lanes.state.on_act(move |_, _| {
        let refused = configurator.reconfigure(config.clone()).unwrap_err();
        let sentence =
            "cannot change while the ORB runs: lane.self-2 (to end: by a thread of its own)";
        assert_eq!(refused.to_string(), sentence);
        Ok(7)
    });
    assert_eq!(second.act(0), Ok(7));
    lanes.served.end();
}

/// Regression: they were refused, since queued requests of the one lane could not be handed off to
/// the other any more.
///
/// Conformance: ORB - a running ORB is reconfigured: lanes that it was built with end, lanes join
#[test]
fn requests_in_the_queue_of_a_lane_are_served_though_another_joins() {
    let lanes = TwoLanes::new("queue", "worker-pool:1/8");
    lanes.leave("queue-1").unwrap();
    let orb = client(ClientStrategy::default());
    let second = lanes.object(&orb, 20);
    let lane = lanes.served.orb.lane("queue-1").unwrap();
    let blocked = call(&second, Target::gate);
    lanes.state.gate.await_waiting(1);
    let waiting: Vec<_> = (0..3).map(|_| call(&second, |it| it.act(1))).collect();
    eventually("they wait", || lane.waiting_requests() == 3);
    let keys = [
        ("lane.queue-2.priority", "20"),
        ("lane.queue-2.strategy", "worker-pool:1/8"),
    ];
    let config = with(&lanes.configurator, &keys);
    lanes.configurator.reconfigure(config).unwrap();
    assert!(lanes.is_served_by(2, &second));
    lanes.state.gate.open();
    assert_eq!(blocked.join().unwrap(), Ok(()));
    for waited in waiting {
        assert_eq!(waited.join().unwrap(), Ok(1), "by the lane where it waited");
    }
    lanes.served.end();
}
