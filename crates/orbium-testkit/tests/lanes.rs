// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes: each request is served at its priority by the lane of that.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::giop::real_time::priority_context;
use orbium::giop::{CancelRequest, ReplyStatus, ServiceContext, Version, service_context};
use orbium::{
    Completion, Config, ExceptionKind, HostPort, Interface, Lane, LaneConfig, ManagerState, Orb,
    OrbError, Policies, Priority, ServerStrategy, SystemException, priority,
};
use orbium_cdr::ByteOrder;
use orbium_core::ServedBy;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, Served, TargetState, client, descriptors, each_strategy, eventually, reach,
    request, threads, within,
};

const LOOPBACK: &str = "iiop://127.0.0.1:0";

fn lane(orb: &Orb, number: i16, strategy: ServerStrategy) -> Lane {
    orb.add_lane(&config(number, strategy)).unwrap()
}

fn config(number: i16, strategy: ServerStrategy) -> LaneConfig {
    LaneConfig {
        name: format!("lane-{number}"),
        priority: Priority::new(number),
        strategy,
        endpoints: vec![LOOPBACK.parse().unwrap()],
        ..LaneConfig::default()
    }
}

fn pool(workers: usize, queue: usize) -> ServerStrategy {
    ServerStrategy::WorkerPool { workers, queue }
}

/// An object behind lanes, under the plain key `name` too.
struct Behind {
    state: Arc<TargetState>,
    target: Target,
}

impl Behind {
    fn new(orb: &Orb, name: &str, lanes: &[Lane], own: Option<i16>) -> Self {
        let policies = Policies {
            lanes: lanes.to_vec(),
            ..Policies::default()
        };
        let manager = Some(orb.root_poa().manager());
        let poa = orb.root_poa().create_poa(name, manager, policies).unwrap();
        let state = Arc::new(TargetState::default());
        let servant: Arc<dyn orbium::Servant> = Arc::new(Target::skeleton(Arc::clone(&state)));
        let object = match own.and_then(Priority::new) {
            Some(priority) => poa.activate_servant_at(None, &servant, priority),
            None => poa.activate_servant(&servant),
        };
        let target = Target::from_object(object.unwrap());
        orb.bind_key(name, &target).unwrap();
        Self { state, target }
    }

    fn seen_by(&self, orb: &Orb, client: &Orb) -> Target {
        reach(client, &orb.object_to_string(&self.target))
    }
}

fn port(lane: &Lane) -> u16 {
    let at: HostPort = lane.channels()[0].address.parse().unwrap();
    at.port
}

/// `act` with the number of the request, at a priority that the client asks for.
fn act(key: &str, id: u32, asked: Option<i16>) -> Vec<u8> {
    let data = asked.map(priority_context);
    let context = data.as_ref().map(|data| ServiceContext {
        id: service_context::RT_CORBA_PRIORITY,
        data,
    });
    let line = RequestLine {
        contexts: context.as_slice(),
        key: key.as_bytes(),
        ..RequestLine::new(id, "act")
    };
    request(line, |w| w.write_u32(id))
}

fn name_of_thread() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

fn threads_called(name: &str) -> usize {
    let all = std::fs::read_dir("/proc/self/task").unwrap();
    // One may end meanwhile.
    let names = all.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("comm")).ok());
    names.filter(|it| it.trim() == name).count()
}

fn refused(body: &[u8]) -> String {
    let end = body[4..].iter().position(|octet| *octet == 0).unwrap();
    String::from_utf8_lossy(&body[4..4 + end]).into_owned()
}

/// Many clients ask for all priorities at all endpoints, which are not those of
/// the lanes they mean; the servant sees at which priority and by whose thread it
/// is run.
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

#[test]
fn a_priority_below_all_lanes_is_refused() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let lanes = [20, 30].map(|number| lane(&served.orb, number, strategy));
        let _behind = Behind::new(&served.orb, "Behind", &lanes, None);
        let mut peer = Peer::connect(port(&lanes[0]));
        peer.send(&act("Behind", 1, Some(10)));
        let (_, status, body) = peer.receive().reply();
        assert_eq!(status, ReplyStatus::SystemException);
        assert_eq!(refused(&body), "IDL:omg.org/CORBA/INV_POLICY:1.0");
        served.end();
    });
}

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

/// The bound of a lane's queue, in requests and in octets.
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
            let mut busy = Peer::connect(port);
            let line = RequestLine {
                key: name.as_bytes(),
                ..RequestLine::new(1, "gate")
            };
            busy.send(&request(line, |_| {}));
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
            let (_, status, body) = peer.receive().reply();
            assert_eq!(status, ReplyStatus::SystemException, "{name}");
            assert_eq!(refused(&body), "IDL:omg.org/CORBA/TRANSIENT:1.0");
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

#[test]
fn what_is_cancelled_before_another_lane_begins_it_is_not_begun() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let lanes = [lane(&served.orb, 10, pool(1, 8))];
    let behind = Behind::new(&served.orb, "Behind", &lanes, None);
    let record = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&record);
    behind.state.on_act(move |_, v| {
        kept.lock().unwrap().push(v);
        Ok(v)
    });
    let mut busy = Peer::connect(port(&lanes[0]));
    let line = RequestLine {
        key: b"Behind",
        ..RequestLine::new(1, "gate")
    };
    busy.send(&request(line, |_| {}));
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

/// Static threads, then dynamic ones, then the queue; later the static ones
/// again.
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
        let gate = |id| {
            let mut peer = Peer::connect(port(&lanes[0]));
            let line = RequestLine {
                key: b"Behind",
                ..RequestLine::new(id, "gate")
            };
            peer.send(&request(line, |_| {}));
            peer
        };
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
        // A pool has a thread that reads beside its workers.
        eventually("the others end", || threads_called(name) <= 2);
        let mut again = gate(5);
        again.receive();
        served.end();
    }
}

/// A lane without a thread to spare takes one of a lower lane, at its priority.
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
    let gate = |key: &str, lane: &Lane| {
        let mut peer = Peer::connect(port(lane));
        let line = RequestLine {
            key: key.as_bytes(),
            ..RequestLine::new(1, "gate")
        };
        peer.send(&request(line, |_| {}));
        peer
    };
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
        let (_, status, body) = other.receive().reply();
        assert_eq!(status, ReplyStatus::SystemException);
        assert_eq!(refused(&body), "IDL:omg.org/CORBA/BAD_INV_ORDER:1.0");
        let ending = lane.clone();
        within("the lane's end", move || ending.stop()).unwrap();
        own.expect(orbium::giop::MessageKind::CloseConnection);
        other.send(&act("Behind", 3, None));
        let (_, status, body) = other.receive().reply();
        assert_eq!(status, ReplyStatus::SystemException);
        assert_eq!(refused(&body), "IDL:omg.org/CORBA/TRANSIENT:1.0");
        assert_eq!(served.orb.lanes(), []);
        lane.stop().unwrap();
        served.end();
    });
}

#[test]
fn lanes_come_and_go_and_leave_nothing() {
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
}

#[test]
fn what_makes_no_sense_or_cannot_be_had_is_refused() {
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

/// Requests that a manager holds do not keep a lane's other requests waiting,
/// nor its end.
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
        served.orb.bind_key("Held", &held).unwrap();
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
#[test]
fn a_busy_reactive_lane_takes_what_others_hand_over() {
    let served = Served::with(Config {
        strategy: ServerStrategy::Reactive,
        ..Config::default()
    });
    let lanes = [lane(&served.orb, 10, ServerStrategy::Reactive)];
    let behind = Behind::new(&served.orb, "Behind", &lanes, None);
    let mut busy = Peer::connect(port(&lanes[0]));
    let line = RequestLine {
        key: b"Behind",
        ..RequestLine::new(1, "gate")
    };
    busy.send(&request(line, |_| {}));
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
