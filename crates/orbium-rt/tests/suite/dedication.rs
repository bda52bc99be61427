// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that ask for a thread of their own.

use crate::common;
use std::any::Any;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{adapter, client, seen_by, server, server_with, soft};
use orbium_channel::dedication::DedicationRequest;
use orbium_core::{
    Admittance, Arrival, ClientStrategy, Config, DedicatedThread, Dedication, Gate, GiopMinor,
    Interface, LaneConfig, Limits, Orb, Policies, Priority, Reservation, ServerStrategy,
    ThreadRequest,
};
use orbium_giop::{ReplyStatus, ResponseFlags, ServiceContext, service_context};
use orbium_rt::binding::{DedicationReply, Undedicated};
use orbium_rt::{
    Budget, PriorityModelPolicy, RtObject, RtOrb, RtPolicies, ThreadpoolConfig, ThreadpoolLane,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, Served, TargetState, calling_by, each_strategy, eventually, in_own_process,
    request, threads, within,
};

/// Asks a servant for its thread, and for its priority.
const THREAD: i32 = 0;
const PRIORITY: i32 = 1;

fn at(number: i16) -> Option<Priority> {
    Priority::new(number)
}

fn granted(priority: i16) -> Option<DedicationReply> {
    Some(DedicationReply::Granted {
        priority: Some(priority),
    })
}

/// A number of the calling thread's own.
fn this_thread() -> i32 {
    static LAST: AtomicI32 = AtomicI32::new(0);
    thread_local! {
        static OWN: i32 = LAST.fetch_add(1, Ordering::Relaxed);
    }
    OWN.with(|own| *own)
}

/// A servant that reports its thread, and its priority as `RTCurrent` has it.
fn teller(rt: &RtOrb) -> Arc<TargetState> {
    let state = Arc::new(TargetState::default());
    let current = rt.current();
    state.on_act(move |_, what| match what {
        THREAD => Ok(this_thread()),
        _ => Ok(current.the_priority().map_or(-1, |it| it.number().into())),
    });
    state
}

fn object(orb: &Orb, rt: &RtOrb) -> Target {
    let object: Target = orb.root_poa().activate(teller(rt)).unwrap();
    orb.bind_key_in_place("Target", &object).unwrap();
    object
}

/// A server that grants threads at priorities up to 50.
fn granting(config: Config) -> (Orb, RtOrb, Target) {
    let (orb, rt) = server_with(config, soft());
    rt.serve_bindings(Budget::new().priorities(0..=50)).unwrap();
    let object = object(&orb, &rt);
    (orb, rt, object)
}

fn several<R: PartialEq + std::fmt::Debug>(call: impl Fn() -> R) -> R {
    let first = call();
    for _ in 0..5 {
        assert_eq!(call(), first);
    }
    first
}

/// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what the
/// client learns
#[test]
fn a_marked_connection_has_one_thread_at_its_priority() {
    each_strategy(|strategy| {
        let (server_orb, _, object) = granting(Config {
            strategy,
            ..Config::default()
        });
        let (orb, _) = client();
        let plain = seen_by(&orb, &server_orb, &object);
        let marked = [40, 20].map(|it| (it, plain.with_dedicated_thread(at(it))));
        let mut seen = Vec::new();
        for (priority, target) in &marked {
            assert_eq!(target.dedication(), None);
            seen.push(several(|| target.act(THREAD)).unwrap());
            assert_eq!(target.dedication(), granted(*priority));
            assert_eq!(target.act(PRIORITY), Ok((*priority).into()));
        }
        seen.push(plain.act(THREAD).unwrap());
        assert_eq!(plain.act(PRIORITY), Ok(-1));
        assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
        assert_eq!(server_orb.dedicated_threads(), 2);
        drop(marked);
        eventually("the threads are free", || {
            server_orb.dedicated_threads() == 0
        });
        assert_eq!(plain.act(PRIORITY), Ok(-1));
        server_orb.shutdown(true).unwrap();
    });
}

/// Regression: requests of dedicated threads were counted in a lane of their own, and the deadlines that
/// they missed were in no text.
#[test]
fn missed_deadlines_of_dedicated_threads_are_exported() {
    let (server_orb, rt) = server_with(
        Config {
            metrics: true,
            ..Config::default()
        },
        soft(),
    );
    rt.serve_bindings(Budget::new().priorities(0..=50)).unwrap();
    let state = Arc::new(TargetState::default());
    state.on_act(|call, number| {
        let deadline = call.deadline().expect("a deadline");
        eventually("it passes", || Instant::now() > deadline);
        Ok(number)
    });
    let object: Target = server_orb.root_poa().activate(state).unwrap();
    server_orb.bind_key_in_place("Target", &object).unwrap();
    let (orb, _) = client();
    let target = seen_by(&orb, &server_orb, &object).with_dedicated_thread(at(40));
    target.noop().unwrap();
    assert_eq!(target.dedication(), granted(40));
    target
        .with_timeout(Duration::from_secs(1))
        .act(1)
        .unwrap_err();
    let line = "orbium_deadline_missed_total{lane=\"dedicated\",where=\"servant\"} 1\n";
    let metrics = server_orb.metrics().unwrap();
    eventually("it is exported", || {
        metrics.prometheus_text().contains(line)
    });
    server_orb.shutdown(true).unwrap();
}

/// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what the
/// client learns
#[test]
fn dedicated_with_every_transport_and_client_strategy() {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let own = NAMES.fetch_add(1, Ordering::Relaxed);
    let name = format!("orbium-dedication-{}-{own}", std::process::id());
    let endpoints = [
        "uiop://".to_owned(),
        format!("shmiop://{name}"),
        "inproc://".to_owned(),
    ];
    for endpoint in endpoints {
        for strategy in [
            ServerStrategy::ThreadPerConnection,
            ServerStrategy::Reactive,
        ] {
            let orb = Orb::new(Config {
                strategy,
                endpoints: vec![endpoint.parse().unwrap()],
                ..Config::default()
            });
            let server_orb = orb.unwrap();
            server_orb.root_poa().manager().activate().unwrap();
            let rt = soft().install(&server_orb).unwrap();
            rt.serve_bindings(Budget::new()).unwrap();
            let object = object(&server_orb, &rt);
            for strategy in ClientStrategy::ALL {
                let orb = Orb::new(calling_by(*strategy)).unwrap();
                let marked = seen_by(&orb, &server_orb, &object).with_dedicated_thread(at(30));
                several(|| marked.act(THREAD)).unwrap();
                assert_eq!(marked.act(PRIORITY), Ok(30), "{endpoint} {strategy}");
                assert_eq!(marked.dedication(), granted(30), "{endpoint} {strategy}");
            }
            eventually("the threads are free", || {
                server_orb.dedicated_threads() == 0
            });
            server_orb.shutdown(true).unwrap();
        }
    }
}

/// Conformance: RT GOPI 5.1 - markers: refused: served as ever, with the reason
#[test]
fn beyond_the_limit_connections_are_served_as_ever() {
    each_strategy(|strategy| {
        let (server_orb, _, object) = granting(Config {
            strategy,
            limits: Limits {
                dedicated_threads: 1,
                ..Limits::default()
            },
            ..Config::default()
        });
        let (orb, _) = client();
        let plain = seen_by(&orb, &server_orb, &object);
        let first = plain.with_dedicated_thread(at(40));
        assert_eq!(first.act(PRIORITY), Ok(40));
        let second = plain.with_dedicated_thread(at(40));
        assert_eq!(second.act(PRIORITY), Ok(-1));
        let refused = Some(DedicationReply::Refused(Undedicated::Limit));
        assert_eq!(second.dedication(), refused);
        assert_eq!(second.act(PRIORITY), Ok(-1));
        drop(first);
        eventually("the thread is free", || server_orb.dedicated_threads() == 0);
        let third = plain.with_dedicated_thread(at(40));
        assert_eq!(third.act(PRIORITY), Ok(40));
        server_orb.shutdown(true).unwrap();
    });
}

/// Grants a thread with a reservation that no host gives, and changes its priority later.
#[derive(Debug, Default)]
struct Changing(Mutex<Option<DedicatedThread>>);

struct Granting(Arc<Changing>);

impl Dedication for Granting {
    fn decide(&self, request: &ThreadRequest<'_>) -> Result<DedicatedThread, Undedicated> {
        let gate: Arc<dyn Gate> = Arc::clone(&self.0) as _;
        // Linux refuses less than 1,024 ns.
        let too_short = Reservation::new(Duration::from_micros(1), Duration::from_millis(1));
        Ok(DedicatedThread {
            priority: request.priority,
            reservation: Some(too_short),
            gate: Some(gate),
            ..DedicatedThread::default()
        })
    }
}

impl Gate for Changing {
    fn arrived(&self, _: &Arrival<'_>) -> Admittance {
        Admittance::Begin
    }

    fn begin(&self) -> Result<(), Duration> {
        Ok(())
    }

    fn changed(&self) -> Option<DedicatedThread> {
        self.0.lock().unwrap().take()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// It was what the thread had been granted at first.
///
/// Conformance: RT - one QoS value: in references, and what is in force is shown - for a thread of a connection
#[test]
fn priorities_and_reservations_in_force_are_shown() {
    let (server_orb, rt) = server();
    let gate = Arc::new(Changing::default());
    assert!(server_orb.install_dedication(Arc::new(Granting(Arc::clone(&gate)))));
    let object = object(&server_orb, &rt);
    let (orb, _) = client();
    let marked = seen_by(&orb, &server_orb, &object).with_dedicated_thread(at(40));
    let shown = || -> Vec<String> {
        let all = server_orb.connections().entries.into_iter();
        let all = all.map(|it| it.in_force);
        all.filter(|it| !it.is_empty()).collect()
    };
    assert_eq!(marked.act(PRIORITY), Ok(40));
    assert_eq!(shown(), ["dedicated thread: priority 40"]);
    *gate.0.lock().unwrap() = Some(DedicatedThread {
        priority: at(45),
        ..DedicatedThread::default()
    });
    assert_eq!(marked.act(PRIORITY), Ok(45));
    assert_eq!(shown(), ["dedicated thread: priority 45"]);
    server_orb.shutdown(true).unwrap();
}

/// Conformance: RT GOPI 5.1 - markers: refused: served as ever, with the reason
#[test]
fn a_policy_may_refuse_and_the_client_gets_the_reason() {
    let (server_orb, _, object) = granting(Config::default());
    let (orb, _) = client();
    let plain = seen_by(&orb, &server_orb, &object);
    let marked = plain.with_dedicated_thread(at(51));
    assert_eq!(marked.act(PRIORITY), Ok(-1));
    let refused = Some(DedicationReply::Refused(Undedicated::Priority));
    assert_eq!(marked.dedication(), refused);
    assert_eq!(server_orb.dedicated_threads(), 0);
    // One without a priority has that of the lane.
    let marked = plain.with_dedicated_thread(None);
    several(|| marked.act(THREAD)).unwrap();
    assert_eq!(marked.act(PRIORITY), Ok(-1));
    let answer = Some(DedicationReply::Granted { priority: None });
    assert_eq!(marked.dedication(), answer);
}

/// Conformance: RT GOPI 5.1 - markers: ORBs that do not know them serve
#[test]
fn a_server_that_does_not_know_markers_serves_and_says_nothing() {
    let (server_orb, rt) = server();
    let object = object(&server_orb, &rt);
    let (orb, _) = client();
    let marked = seen_by(&orb, &server_orb, &object).with_dedicated_thread(at(40));
    for _ in 0..3 {
        assert_eq!(marked.act(PRIORITY), Ok(-1));
    }
    assert_eq!(marked.dedication(), None);
}

/// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what the
/// client learns
#[test]
fn replies_of_every_giop_version_tell() {
    let (server_orb, _, object) = granting(Config::default());
    for minor in 0..=2 {
        let orb = Orb::new(Config {
            giop_minor: GiopMinor::new(minor).unwrap(),
            ..Config::default()
        });
        let plain = seen_by(&orb.unwrap(), &server_orb, &object);
        // A result that has to be aligned, a string, an exception, nothing at all.
        let marked = || plain.with_dedicated_thread(at(7));
        let target = marked();
        let pair = orbium_testkit::probe::Pair { o: 7, l: -9 };
        assert_eq!(target.echo_pair(&pair).unwrap(), pair);
        assert_eq!(target.dedication(), granted(7));
        let target = marked();
        assert_eq!(target.echo_string("abcde").unwrap(), "abcde");
        assert_eq!(target.dedication(), granted(7));
        let target = marked();
        assert!(target.refuse(3).is_err());
        assert_eq!(target.dedication(), granted(7));
        let target = marked();
        target.noop().unwrap();
        assert_eq!(target.dedication(), granted(7));
    }
}

/// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what the
/// client learns
#[test]
fn a_marker_in_a_fragmented_request_or_a_oneway_is_answered_too() {
    each_strategy(|strategy| {
        let (server_orb, _, object) = granting(Config {
            strategy,
            fragment_size: Some(64),
            ..Config::default()
        });
        let orb = Orb::new(Config {
            fragment_size: Some(64),
            ..Config::default()
        });
        let orb = orb.unwrap();
        let plain = seen_by(&orb, &server_orb, &object);
        let marked = plain.with_dedicated_thread(at(9));
        let large = vec![3; 10_000];
        assert_eq!(marked.echo_octets(&large).unwrap(), large);
        assert_eq!(marked.dedication(), granted(9), "{strategy}");
        assert_eq!(marked.act(PRIORITY), Ok(9));
        let marked = plain.with_dedicated_thread(at(9));
        marked.post(1).unwrap();
        assert_eq!(marked.act(PRIORITY), Ok(9));
        assert_eq!(marked.dedication(), granted(9), "{strategy}");
        server_orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what the
/// client learns
#[test]
fn it_is_served_there_whatever_lanes_and_pools_there_are() {
    let (server_orb, rt, _) = granting(Config::default());
    let lane = server_orb.add_lane(&LaneConfig {
        name: "other".into(),
        priority: at(3),
        strategy: ServerStrategy::WorkerPool {
            workers: 1,
            queue: 4,
        },
        ..LaneConfig::default()
    });
    let policies = Policies {
        lanes: vec![lane.unwrap()],
        ..Policies::default()
    };
    let root = server_orb.root_poa();
    let in_lane = root.create_poa("lane", Some(root.manager()), policies);
    let in_lane: Target = in_lane.unwrap().activate(teller(&rt)).unwrap();
    let lanes = [ThreadpoolLane::new(5, 1, 0), ThreadpoolLane::new(45, 1, 0)];
    let pool = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    let pooled = RtPolicies {
        threadpool: Some(pool.unwrap()),
        priority_model: Some(PriorityModelPolicy::client_propagated(5)),
        ..RtPolicies::default()
    };
    let in_pool: Target = adapter(&server_orb, &rt, "pool", &pooled)
        .activate(teller(&rt))
        .unwrap();
    common::on_a_thread(move || {
        let (orb, client_rt) = client();
        client_rt.current().set_the_priority(45).unwrap();
        let plain = seen_by(&orb, &server_orb, &in_lane);
        assert_eq!(plain.act(PRIORITY), Ok(3));
        let marked = plain.with_dedicated_thread(at(40));
        let own = several(|| marked.act(THREAD)).unwrap();
        assert_eq!(marked.act(PRIORITY), Ok(40));
        assert_ne!(plain.act(THREAD), Ok(own));
        // The model of an adapter says more than the connection's thread.
        let plain = seen_by(&orb, &server_orb, &in_pool);
        let marked = plain.with_dedicated_thread(at(40));
        let own = several(|| marked.act(THREAD)).unwrap();
        assert_eq!(marked.act(PRIORITY), Ok(45));
        assert_eq!(marked.dedication(), granted(40));
        assert_ne!(plain.act(THREAD), Ok(own));
        server_orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT GOPI 5.1 - markers: a thread for a connection that asks for one, and what the
/// client learns
#[test]
fn nested_calls_come_back_and_the_connection_lives_on() {
    each_strategy(|strategy| {
        within("a nested call", move || {
            let (server_orb, _, object) = granting(Config {
                strategy,
                ..Config::default()
            });
            let (other_orb, other_rt) = server();
            let other: Target = other_orb.root_poa().activate(teller(&other_rt)).unwrap();
            let (orb, _) = client();
            let marked = seen_by(&orb, &server_orb, &object).with_dedicated_thread(at(40));
            let other = seen_by(&orb, &other_orb, &other);
            for depth in [1, 3, 5] {
                assert_eq!(marked.nest(Some(&other), depth), Ok(depth));
                assert_eq!(marked.act(PRIORITY), Ok(40));
            }
            drop(marked);
            eventually("the thread is free", || server_orb.dedicated_threads() == 0);
            server_orb.shutdown(true).unwrap();
            other_orb.shutdown(true).unwrap();
        });
    });
}

/// Each pipelined request had a thread for as long as its servant waited.
///
/// Conformance: ORB - serving strategies with bounds: threads in nested calls, TRANSIENT beyond
#[test]
fn nested_calls_over_a_dedicated_connection_are_limited() {
    let limits = Limits {
        serving_threads: 8,
        ..Limits::default()
    };
    let config = Config {
        limits,
        ..Config::default()
    };
    let (orb, rt) = server_with(config, soft());
    rt.serve_bindings(Budget::new()).unwrap();
    let gated = Served::new(ServerStrategy::ThreadPerConnection);
    let behind = gated.seen_by(&orb);
    let state = Arc::new(TargetState::default());
    state.on_act(move |_, v| {
        behind.gate()?;
        Ok(v)
    });
    let object: Target = orb.root_poa().activate(state).unwrap();
    orb.bind_key_in_place("Target", &object).unwrap();
    let mut peer = Peer::connect(orb.addresses().unwrap()[0].port);
    let contexts = [ServiceContext {
        id: service_context::ORBIUM_DEDICATION,
        data: &DedicationRequest { priority: None }.encode(),
    }];
    let marked = RequestLine {
        contexts: &contexts,
        ..RequestLine::new(2, "noop")
    };
    peer.send(&request(marked, |_| {}));
    peer.receive();
    assert_eq!(orb.dedicated_threads(), 1);
    let act = |id| request(RequestLine::new(id, "act"), |w| w.write_u32(id));
    peer.send(&(4..104).flat_map(act).collect::<Vec<_>>());
    for _ in 0..100 - 8 {
        assert_eq!(peer.receive().reply().1, ReplyStatus::SystemException);
    }
    gated.state.gate.await_waiting(8);
    gated.state.gate.open();
    for _ in 0..8 {
        assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
    }
    drop(peer);
    orb.shutdown(true).unwrap();
    gated.end();
}

/// Conformance: RT GOPI 5.1 - markers: hostile ones; clients that die; the end of the ORB
#[test]
fn markers_that_make_no_sense_are_passed_over() {
    each_strategy(|strategy| {
        let (server_orb, _, _object) = granting(Config {
            strategy,
            ..Config::default()
        });
        let port = server_orb.addresses().unwrap()[0].port;
        let good = DedicationRequest { priority: Some(9) }.encode();
        let mut hostile: Vec<Vec<u8>> = (0..6).map(|len| good[..len].to_vec()).collect();
        hostile.extend((0..=255).map(|octet| vec![octet; 8]));
        hostile.push([&good[..2], &[0, 0, 0x80, 0x80]].concat());
        let mut peer = Peer::connect(port);
        for (id, data) in (2..).step_by(2).zip(&hostile) {
            let one = ServiceContext {
                id: service_context::ORBIUM_DEDICATION,
                data,
            };
            // Many of them mean no more than one.
            let contexts = vec![one; 1 + data.len()];
            let line = RequestLine {
                contexts: &contexts,
                ..RequestLine::new(id, "noop")
            };
            peer.send(&request(line, |_| {}));
            assert_eq!(peer.receive().reply().0, id);
            assert!(server_orb.dedicated_threads() <= 1);
        }
        drop(peer);
        eventually("nothing is left", || server_orb.dedicated_threads() == 0);
        server_orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT GOPI 5.1 - markers: hostile ones; clients that die; the end of the ORB
#[test]
fn clients_that_die_leave_nothing() {
    in_own_process!(|| {
        let (server_orb, _, _object) = granting(Config {
            limits: Limits {
                dedicated_threads: 8,
                ..Limits::default()
            },
            ..Config::default()
        });
        let port = server_orb.addresses().unwrap()[0].port;
        let marker = DedicationRequest { priority: Some(9) }.encode();
        let contexts = [ServiceContext {
            id: service_context::ORBIUM_DEDICATION,
            data: &marker,
        }];
        let marked = |operation, response| {
            let line = RequestLine {
                contexts: &contexts,
                response,
                ..RequestLine::new(2, operation)
            };
            request(line, |_| {})
        };
        let before = threads();
        for round in 0..200 {
            let mut peer = Peer::connect(port);
            match round % 4 {
                0 => peer.send(&marked("noop", ResponseFlags::Full)[..30]),
                1 => peer.send(&marked("noop", ResponseFlags::Full)),
                2 => peer.send(&marked("noop", ResponseFlags::None)),
                _ => {
                    peer.send(&marked("noop", ResponseFlags::Full));
                    peer.receive();
                    peer.send(b"GIOP nonsense");
                }
            }
        }
        eventually("nothing is left", || server_orb.dedicated_threads() == 0);
        server_orb.shutdown(true).unwrap();
        // Nor of those that had not come yet.
        eventually("nothing is left", || server_orb.dedicated_threads() == 0);
        eventually("the threads end", || threads() <= before);
    });
}

/// Conformance: RT GOPI 5.1 - markers: hostile ones; clients that die; the end of the ORB
#[test]
fn the_end_of_the_orb_ends_them() {
    let (server_orb, _, object) = granting(Config::default());
    let (orb, _) = client();
    let marked = seen_by(&orb, &server_orb, &object).with_dedicated_thread(at(40));
    assert_eq!(marked.act(PRIORITY), Ok(40));
    within("shutting down", move || server_orb.shutdown(true).unwrap());
    assert!(marked.act(PRIORITY).is_err());
}

#[test]
fn calls_within_the_process_ask_for_nothing() {
    let (_orb, _, object) = granting(Config::default());
    let marked = object.as_object().with_dedicated_thread(at(40));
    let marked: Target = Target::from_object(marked);
    assert_eq!(marked.act(THREAD), Ok(this_thread()));
    assert_eq!(marked.dedication(), None);
}
