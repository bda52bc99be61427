// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread pools: who serves what, and what is refused.

mod common;

use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use common::{adapter, client, on_a_thread, seen_by, server, server_with, soft, teller};
use orbium_core::{
    Completion, Config, ExceptionKind, Interface, Lane, Orb, ServerStrategy, SystemException,
};
use orbium_giop::Component;
use orbium_rt::{
    InvalidThreadpool, PriorityBand, PriorityModelPolicy, RtOrb, RtPolicies, Scheduling,
    ThreadpoolConfig, ThreadpoolId, ThreadpoolLane,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, eventually, within};

const BUSY: SystemException = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);

fn with_pool(pool: ThreadpoolId, model: Option<PriorityModelPolicy>) -> RtPolicies {
    RtPolicies {
        priority_model: model,
        threadpool: Some(pool),
        ..RtPolicies::default()
    }
}

const fn propagated(server_priority: i16) -> Option<PriorityModelPolicy> {
    Some(PriorityModelPolicy::client_propagated(server_priority))
}

/// A server with one pool, an object served by it, and that object's servant.
struct Pooled {
    orb: Orb,
    rt: RtOrb,
    pool: ThreadpoolId,
    state: Arc<TargetState>,
    object: Target,
}

impl Pooled {
    fn without_lanes(threads: ThreadpoolLane, config: ThreadpoolConfig) -> Self {
        let (orb, rt) = server();
        let pool = rt.create_threadpool(threads, config).unwrap();
        Self::new(orb, rt, pool, None)
    }

    fn with_lanes(lanes: &[ThreadpoolLane], config: ThreadpoolConfig) -> Self {
        let (orb, rt) = server();
        let pool = rt.create_threadpool_with_lanes(lanes, config).unwrap();
        Self::new(orb, rt, pool, propagated(5))
    }

    fn new(orb: Orb, rt: RtOrb, pool: ThreadpoolId, model: Option<PriorityModelPolicy>) -> Self {
        let poa = adapter(&orb, &rt, "pooled", &with_pool(pool, model));
        let state = teller();
        let object = poa.activate(Arc::clone(&state)).unwrap();
        Self {
            orb,
            rt,
            pool,
            state,
            object,
        }
    }

    /// Calls `gate` at a priority, which ends when the gate is opened.
    fn at_the_gate(&self, priority: i16) -> JoinHandle<Result<(), SystemException>> {
        let (orb, rt) = client();
        let target = seen_by(&orb, &self.orb, &self.object);
        thread::spawn(move || {
            rt.current().set_the_priority(priority)?;
            target.gate()
        })
    }

    /// Calls `act` at a priority: the one it is served at.
    fn served_at(&self, priority: i16) -> Result<i32, SystemException> {
        let (orb, rt) = client();
        let target = seen_by(&orb, &self.orb, &self.object);
        on_a_thread(move || {
            rt.current().set_the_priority(priority)?;
            target.act(0)
        })
    }

    fn end(self) {
        let orb = self.orb.clone();
        drop(self);
        within("the server's shutdown", move || orb.shutdown(true)).unwrap();
    }
}

fn wait_for(calls: Vec<JoinHandle<Result<(), SystemException>>>) {
    for call in calls {
        call.join().unwrap().unwrap();
    }
}

#[test]
fn a_pool_serves_with_every_strategy() {
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
    ] {
        let config = Config {
            strategy,
            ..Config::default()
        };
        let (orb, rt) = server_with(config, soft());
        let threads = ThreadpoolLane::new(7, 2, 0);
        // Oneways may still occupy both threads when the next call comes.
        let config = ThreadpoolConfig {
            allow_request_buffering: true,
            ..ThreadpoolConfig::default()
        };
        let pool = rt.create_threadpool(threads, config);
        let pooled = Pooled::new(orb, rt, pool.unwrap(), None);
        let client = orbium_testkit::client();
        let target = seen_by(&client, &pooled.orb, &pooled.object);
        for _ in 0..100 {
            assert_eq!(target.act(0), Ok(7), "the pool's own priority");
            assert_eq!(target.echo_string("Grüße"), Ok("Grüße".to_owned()));
            assert_eq!(target.echo_octets(&[7; 300]), Ok(vec![7; 300]));
            target.post(3).unwrap();
        }
        eventually("oneways arrive", || pooled.state.posted().len() == 100);
        let refused = target.refuse(4).unwrap_err();
        assert!(refused.to_string().contains("told to"), "{refused}");
        assert!(target.raise_system("BAD_PARAM").is_err());
        drop(target);
        pooled.end();
    }
}

#[test]
fn requests_in_fragments_are_served_by_a_pool() {
    let (orb, rt) = server();
    let pool = rt.create_threadpool(ThreadpoolLane::new(7, 1, 0), ThreadpoolConfig::default());
    let pooled = Pooled::new(orb, rt, pool.unwrap(), None);
    let client = Orb::new(Config {
        fragment_size: Some(32),
        ..Config::default()
    });
    let client = client.unwrap();
    let target = seen_by(&client, &pooled.orb, &pooled.object);
    for size in [0, 1, 7, 100, 10_000] {
        let octets: Vec<u8> = (0..size).map(|it| it as u8).collect();
        assert_eq!(target.echo_octets(&octets), Ok(octets));
    }
    assert_eq!(target.echo_string(&"x".repeat(1000)).unwrap().len(), 1000);
    pooled.end();
}

#[test]
fn each_lane_serves_its_priority_on_its_own_threads() {
    let lanes = [5, 20, 60].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let names: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&names);
    pooled.state.on_act(move |call, _| {
        let name = thread::current().name().unwrap_or_default().to_owned();
        noted.lock().unwrap().push(name);
        Ok(call.priority().map_or(-1, |it| it.number().into()))
    });
    for priority in [60, 5, 20, 5] {
        assert_eq!(pooled.served_at(priority), Ok(priority.into()));
    }
    let names = names.lock().unwrap().clone();
    let lane = |name: &String| name.rsplit('-').next().unwrap().to_owned();
    let lanes: Vec<_> = names.iter().map(lane).collect();
    assert_eq!(lanes, ["60", "5", "20", "5"]);
    pooled.end();
}

fn with_endpoint(priority: i16) -> ThreadpoolLane {
    ThreadpoolLane {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..ThreadpoolLane::new(priority, 1, 0)
    }
}

#[test]
fn lanes_may_have_endpoints_of_their_own() {
    let lanes = [5, 20, 60].map(with_endpoint);
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let profile = pooled.object.as_object().ior().iiop_profiles().next();
    let told = profile
        .unwrap()
        .components
        .iter()
        .find_map(|it| match Component::parse(it) {
            Ok(Component::TaoEndpoints(endpoints)) => Some(endpoints),
            _ => None,
        });
    let mut told: Vec<_> = told.unwrap();
    told.sort_by_key(|it| it.priority);
    let priorities: Vec<_> = told.iter().map(|it| it.priority).collect();
    assert_eq!(priorities, [5, 20, 60]);
    // Each priority comes in where it is served.
    let (client_orb, client_rt) = client();
    for (priority, lane) in [(5, 0), (20, 1), (60, 2), (59, 1), (98, 2)] {
        let target = seen_by(&client_orb, &pooled.orb, &pooled.object);
        let (rt, at) = (client_rt.clone(), told[lane].clone());
        on_a_thread(move || {
            rt.current().set_the_priority(priority).unwrap();
            assert_eq!(target.act(0), Ok(at.priority.into()));
            let channel = target.as_object().channel().unwrap();
            assert_eq!(channel.address, at.address.to_string());
        });
    }
    // Wherever a request comes in, its lane serves it: a client without
    // priorities knows nothing of them.
    let plain = orbium_testkit::client();
    let target = seen_by(&plain, &pooled.orb, &pooled.object);
    assert_eq!(target.act(0), Ok(5));
    let refused = pooled.served_at(4).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    // Within the process the same.
    let (rt, object) = (pooled.rt.clone(), pooled.object.clone());
    on_a_thread(move || {
        let none = object.act(0).unwrap_err();
        assert_eq!(none.kind, ExceptionKind::DataConversion);
        rt.current().set_the_priority(20).unwrap();
        assert_eq!(object.act(0), Ok(20));
    });
    drop(target);
    pooled.end();
}

#[test]
fn of_a_pool_all_lanes_have_endpoints_or_none() {
    let (_orb, rt) = server();
    let lanes = [with_endpoint(5), ThreadpoolLane::new(20, 1, 0)];
    let refused = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
    let nowhere = ThreadpoolLane {
        endpoints: vec!["iiop://203.0.113.1:1".parse().unwrap()],
        ..ThreadpoolLane::new(20, 1, 0)
    };
    let lanes = [with_endpoint(5), nowhere];
    let refused = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::Initialize);
}

#[test]
fn between_two_lanes_the_lower_one_serves() {
    let lanes = [20, 5].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    assert_eq!(pooled.served_at(19), Ok(5));
    assert_eq!(pooled.served_at(98), Ok(20));
    pooled.end();
}

#[test]
fn a_priority_below_all_lanes_is_inv_policy() {
    let lanes = [20, 5].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let refused = pooled.served_at(4).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    assert_eq!(refused.completed, Completion::No);
    // Nobody else's call is touched.
    assert_eq!(pooled.served_at(5), Ok(5));
    pooled.end();
}

#[test]
fn a_pool_without_lanes_serves_at_the_clients_priority() {
    let (orb, rt) = server_with(
        Config::default(),
        RtOrb::builder()
            .mapping(orbium_rt::ContinuousMapping::over(1..=10))
            .soft(),
    );
    let pool = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), ThreadpoolConfig::default());
    let pooled = Pooled::new(orb, rt, pool.unwrap(), propagated(3));
    assert_eq!(pooled.served_at(9), Ok(9));
    let plain = orbium_testkit::client();
    let target = seen_by(&plain, &pooled.orb, &pooled.object);
    assert_eq!(target.act(0), Ok(3), "of a client without priorities");
    // One that the server cannot map is answered, and the thread lives on.
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(pooled.served_at(50), Err(expected));
    assert_eq!(pooled.served_at(9), Ok(9));
    drop(target);
    pooled.end();
}

#[test]
fn with_bands_the_lane_is_one_of_the_band() {
    let (orb, rt) = server();
    let lanes = [5, 15, 25].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pool = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    let policies = RtPolicies {
        bands: Some(vec![
            PriorityBand { low: 0, high: 9 },
            PriorityBand { low: 10, high: 29 },
        ]),
        ..with_pool(pool.unwrap(), propagated(5))
    };
    let poa = adapter(&orb, &rt, "banded", &policies);
    let object: Target = poa.activate(teller()).unwrap();
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &orb, &object);
    let served: Vec<_> = on_a_thread(move || {
        let at = |priority: i16| {
            client_rt.current().set_the_priority(priority).unwrap();
            target.act(0)
        };
        [3, 9, 12, 20, 29].map(at).into()
    });
    // 3 and 12 have no lane below them in their band: the lowest of it serves.
    assert_eq!(served, [Ok(5), Ok(5), Ok(15), Ok(15), Ok(25)]);
    orb.shutdown(true).unwrap();
}

#[test]
fn without_a_free_thread_and_without_buffering_a_request_is_transient_1() {
    let threads = ThreadpoolLane::new(5, 1, 1);
    let pooled = Pooled::without_lanes(threads, ThreadpoolConfig::default());
    let calls = vec![pooled.at_the_gate(5), pooled.at_the_gate(5)];
    pooled.state.gate.await_waiting(2);
    assert_eq!(pooled.served_at(5), Err(BUSY));
    pooled.state.gate.open();
    wait_for(calls);
    eventually("a thread is free again", || pooled.served_at(5) == Ok(5));
    pooled.end();
}

#[test]
fn requests_wait_up_to_their_number() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_buffered_requests: 2,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let mut calls = vec![pooled.at_the_gate(5)];
    pooled.state.gate.await_waiting(1);
    // Of three more two wait, whichever come first.
    calls.extend((0..3).map(|_| pooled.at_the_gate(5)));
    eventually("one is refused", || {
        calls.iter().filter(|it| it.is_finished()).count() == 1
    });
    assert_eq!(pooled.served_at(5), Err(BUSY));
    pooled.state.gate.open();
    let outcomes: Vec<_> = calls.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(outcomes.iter().filter(|it| **it == Ok(())).count(), 3);
    assert!(outcomes.contains(&Err(BUSY)));
    assert_eq!(pooled.served_at(5), Ok(5));
    pooled.end();
}

/// Of what waits for the one thread of a pool without lanes the most urgent is
/// served first, whenever it came: the client's priority orders the queue.
#[test]
fn what_waits_in_a_pool_without_lanes_is_served_by_priority() {
    let (orb, rt) = server();
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        ..ThreadpoolConfig::default()
    };
    let pool = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), config);
    let pooled = Pooled::new(orb, rt, pool.unwrap(), propagated(5));
    let served = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&served);
    pooled.state.on_act(move |call, v| {
        let priority = call.priority().map(orbium_core::Priority::number);
        noted.lock().unwrap().push(priority);
        Ok(v)
    });
    let busy = pooled.at_the_gate(50);
    pooled.state.gate.await_waiting(1);
    let calls: Vec<_> = [10, 30, 20, 30, 10, 20]
        .into_iter()
        .zip(1..)
        .map(|(priority, waiting)| {
            let (client, client_rt) = client();
            let target = seen_by(&client, &pooled.orb, &pooled.object);
            let call = thread::spawn(move || {
                client_rt.current().set_the_priority(priority)?;
                target.act(0).map(drop)
            });
            // One after the other, so that the order of arrival is another.
            eventually("it waits", || waiting_in(&pooled.orb) == waiting);
            call
        })
        .collect();
    pooled.state.gate.open();
    wait_for(calls);
    wait_for(vec![busy]);
    let served = served.lock().unwrap().clone();
    assert_eq!(served, [30, 30, 20, 20, 10, 10].map(Some));
    pooled.end();
}

/// Requests that wait in the lanes of an ORB.
fn waiting_in(orb: &Orb) -> usize {
    let lanes = orb.lanes();
    lanes.iter().map(Lane::waiting_requests).sum()
}

#[test]
fn requests_wait_up_to_their_octets() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        max_request_buffer_size: 1000,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let busy = pooled.at_the_gate(5);
    pooled.state.gate.await_waiting(1);
    let client = orbium_testkit::client();
    let target = seen_by(&client, &pooled.orb, &pooled.object);
    assert_eq!(target.echo_octets(&[1; 1001]), Err(BUSY));
    let small = thread::spawn(move || target.echo_octets(&[1; 300]));
    thread::sleep(std::time::Duration::from_millis(5));
    pooled.state.gate.open();
    assert_eq!(small.join().unwrap(), Ok(vec![1; 300]));
    busy.join().unwrap().unwrap();
    pooled.end();
}

#[test]
fn an_exhausted_lane_borrows_from_a_lower_one() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let config = ThreadpoolConfig {
        allow_borrowing: true,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::with_lanes(&lanes, config);
    let busy = pooled.at_the_gate(20);
    pooled.state.gate.await_waiting(1);
    assert_eq!(pooled.served_at(20), Ok(20), "by the thread of lane 5");
    assert_eq!(
        pooled.served_at(5),
        Ok(5),
        "which has its own priority back"
    );
    let borrowed = pooled.at_the_gate(20);
    pooled.state.gate.await_waiting(2);
    assert_eq!(pooled.served_at(5), Err(BUSY));
    pooled.state.gate.open();
    wait_for(vec![busy, borrowed]);
    pooled.end();
}

#[test]
fn nobody_borrows_from_a_higher_lane() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let config = ThreadpoolConfig {
        allow_borrowing: true,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::with_lanes(&lanes, config);
    let busy = pooled.at_the_gate(5);
    pooled.state.gate.await_waiting(1);
    assert_eq!(pooled.served_at(5), Err(BUSY));
    assert_eq!(pooled.served_at(20), Ok(20));
    pooled.state.gate.open();
    wait_for(vec![busy]);
    pooled.end();
}

#[test]
fn without_borrowing_a_lane_has_its_own_threads_alone() {
    let lanes = [5, 20].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let busy = pooled.at_the_gate(20);
    pooled.state.gate.await_waiting(1);
    assert_eq!(pooled.served_at(20), Err(BUSY));
    assert_eq!(pooled.served_at(5), Ok(5));
    pooled.state.gate.open();
    wait_for(vec![busy]);
    pooled.end();
}

#[test]
fn stacks_are_as_large_as_they_were_asked_to_be() {
    let config = ThreadpoolConfig {
        stack_size: 16 << 20,
        prefault_stack: 64 << 10,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    // More than a thread has by default.
    pooled.state.on_act(|_, octets| {
        orbium_sys::prefault_stack(octets as usize);
        Ok(octets)
    });
    let client = orbium_testkit::client();
    let target = seen_by(&client, &pooled.orb, &pooled.object);
    assert_eq!(target.act(8 << 20), Ok(8 << 20));
    pooled.end();
}

#[test]
fn lanes_stay_on_their_processors() {
    let all = orbium_sys::processors_of_this_thread().unwrap();
    let last = *all.last().unwrap();
    let threads = ThreadpoolLane {
        processors: vec![last],
        ..ThreadpoolLane::new(5, 1, 0)
    };
    let pooled = Pooled::without_lanes(threads, ThreadpoolConfig::default());
    pooled.state.on_act(|_, _| {
        let on = orbium_sys::processors_of_this_thread().unwrap();
        Ok(match *on {
            [one] => one as i32,
            _ => -1,
        })
    });
    assert_eq!(pooled.served_at(5), Ok(last as i32));
    pooled.end();
}

#[test]
fn pools_that_cannot_be_are_refused() {
    let (orb, rt) = server();
    let config = ThreadpoolConfig::default;
    let kind = |lane: ThreadpoolLane| {
        let refused = rt.create_threadpool(lane, config()).unwrap_err();
        (refused.kind, refused.minor)
    };
    let bad_param = (ExceptionKind::BadParam, 0);
    assert_eq!(kind(ThreadpoolLane::new(5, 0, 3)), bad_param);
    assert_eq!(kind(ThreadpoolLane::new(-1, 1, 0)), bad_param);
    let no_native = rt.create_threadpool(ThreadpoolLane::new(99, 1, 0), config());
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(no_native, Err(expected));
    let nowhere = ThreadpoolLane {
        processors: vec![100_000],
        ..ThreadpoolLane::new(5, 1, 0)
    };
    assert_eq!(kind(nowhere).0, ExceptionKind::NoResources);
    let twice = [5, 5].map(|it| ThreadpoolLane::new(it, 1, 0));
    for lanes in [&[][..], &twice] {
        let refused = rt.create_threadpool_with_lanes(lanes, config());
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
    }
    let huge = ThreadpoolConfig {
        stack_size: usize::MAX / 4,
        ..config()
    };
    let refused = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), huge);
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::NoResources);
    orb.shutdown(true).unwrap();
    let late = rt.create_threadpool(ThreadpoolLane::new(5, 1, 0), config());
    let expected = SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No);
    assert_eq!(late, Err(expected));
}

#[test]
fn a_pool_that_is_served_from_is_not_destroyed() {
    let threads = ThreadpoolLane::new(5, 1, 0);
    let pooled = Pooled::without_lanes(threads, ThreadpoolConfig::default());
    let in_use = pooled.rt.destroy_threadpool(pooled.pool).unwrap();
    assert_eq!(in_use.unwrap_err().kind, ExceptionKind::BadInvOrder);
    assert_eq!(pooled.served_at(5), Ok(5));
    let poa = pooled.orb.root_poa().find_poa("pooled").unwrap();
    poa.destroy(true).unwrap();
    drop(poa);
    // Its thread may hold the last object of the adapter for a moment.
    eventually("the pool is destroyed", || {
        pooled.rt.destroy_threadpool(pooled.pool) == Ok(Ok(()))
    });
    let unknown = pooled.rt.destroy_threadpool(pooled.pool);
    assert_eq!(unknown, Err(InvalidThreadpool(pooled.pool)));
    pooled.end();
}

#[test]
fn the_end_of_the_orb_completes_what_was_begun_and_refuses_what_waits() {
    let config = ThreadpoolConfig {
        allow_request_buffering: true,
        ..ThreadpoolConfig::default()
    };
    let pooled = Pooled::without_lanes(ThreadpoolLane::new(5, 1, 0), config);
    let begun = pooled.at_the_gate(5);
    pooled.state.gate.await_waiting(1);
    let waits = pooled.at_the_gate(5);
    thread::sleep(std::time::Duration::from_millis(5));
    pooled.orb.shutdown(false).unwrap();
    // Refused at once, or told that the connection ends.
    let refused = waits.join().unwrap().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Transient);
    assert_eq!(refused.completed, Completion::No);
    pooled.state.gate.open();
    begun.join().unwrap().unwrap();
    pooled.end();
}

/// Native real-time priorities of a pool's threads.
fn native(pool: ThreadpoolId) -> Vec<i32> {
    let name = format!("rt-{}-", pool.0);
    let mut priorities = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let task = task.unwrap().path();
        let comm = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
        let Ok(stat) = std::fs::read_to_string(task.join("stat")) else {
            continue;
        };
        // Tests beside this one have pools too, but not of SCHED_FIFO.
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        if comm.starts_with(&name) && fields[38] == "1" {
            priorities.push(fields[37].parse().unwrap());
        }
    }
    priorities.sort_unstable();
    priorities
}

#[test]
fn threads_have_native_priorities() {
    let builder = RtOrb::builder().mapping(orbium_rt::DirectMapping::over(1..=20));
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    let Ok(rt) = builder.native_range(1..=20).install(&orb) else {
        orbium_testkit::skipped("native priorities of pools: SCHED_FIFO is not permitted here");
        return;
    };
    let lanes = [2, 7].map(with_endpoint);
    let config = ThreadpoolConfig {
        allow_borrowing: true,
        ..ThreadpoolConfig::default()
    };
    let pool = rt.create_threadpool_with_lanes(&lanes, config).unwrap();
    assert_eq!(native(pool), [2, 2, 7, 7], "who reads and who serves");
    let pooled = Pooled::new(orb, rt, pool, propagated(2));
    pooled.state.on_act(|_, _| {
        let own = Scheduling::of_this_thread().unwrap();
        assert_eq!(own, Scheduling::fifo(own.priority));
        Ok(own.priority)
    });
    // The clients are soft: they need not have a native priority themselves.
    let direct = || {
        RtOrb::builder()
            .mapping(orbium_rt::DirectMapping::over(1..=20))
            .soft()
    };
    let (client_orb, client_rt) = common::client_with(direct());
    let target = seen_by(&client_orb, &pooled.orb, &pooled.object);
    let gated = target.clone();
    on_a_thread({
        let client_rt = client_rt.clone();
        move || {
            for native in [2, 7, 2] {
                client_rt.current().set_the_priority(native).unwrap();
                assert_eq!(target.act(0), Ok(native.into()));
            }
        }
    });
    // A borrowed thread is raised, and lowered again.
    let rt_of_client = client_rt.clone();
    let busy = thread::spawn(move || {
        rt_of_client.current().set_the_priority(7).unwrap();
        gated.gate()
    });
    pooled.state.gate.await_waiting(1);
    let target = seen_by(&client_orb, &pooled.orb, &pooled.object);
    on_a_thread(move || {
        for native in [7, 2] {
            client_rt.current().set_the_priority(native).unwrap();
            assert_eq!(target.act(0), Ok(native.into()));
        }
    });
    pooled.state.gate.open();
    busy.join().unwrap().unwrap();
    pooled.end();
}
