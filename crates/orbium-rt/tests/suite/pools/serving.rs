// SPDX-License-Identifier: MIT OR Apache-2.0
//! Choice of the thread that serves a request, and its priority.

use std::sync::{Arc, Mutex};
use std::thread;

use orbium_core::{Completion, Config, ExceptionKind, Orb, ServerStrategy, SystemException};
use orbium_rt::{PriorityBand, RtOrb, RtPolicies, ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::eventually;
use orbium_testkit::probe::Target;

use super::{Pooled, propagated, with_pool};
use crate::common::{adapter, client, on_a_thread, seen_by, server, server_with, soft, teller};

/// Conformance: RT 5.8 - `create_threadpool`: default priority, stack size, static and dynamic
/// threads
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

/// Conformance: RT 5.8 - `create_threadpool_with_lanes`
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

/// Conformance: RT 5.8 - a priority between lanes: the lower one; below all: INV_POLICY
#[test]
fn between_two_lanes_the_lower_one_serves() {
    let lanes = [20, 5].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    assert_eq!(pooled.served_at(19), Ok(5));
    assert_eq!(pooled.served_at(98), Ok(20));
    pooled.end();
}

/// Conformance: RT 5.8 - a priority between lanes: the lower one; below all: INV_POLICY
/// Conformance: faults - a priority outside the lanes: INV_POLICY, completed NO
#[test]
fn a_priority_below_all_lanes_is_inv_policy() {
    let lanes = [20, 5].map(|it| ThreadpoolLane::new(it, 1, 0));
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let refused = pooled.served_at(4).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    assert_eq!(refused.completed, Completion::No);
    // No other client's call is affected.
    assert_eq!(pooled.served_at(5), Ok(5));
    pooled.end();
}

/// Conformance: RT 5.8 - `create_threadpool`: default priority, stack size, static and dynamic
/// threads
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

/// Conformance: RT 5.8 - a priority between lanes: the lower one; below all: INV_POLICY
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

/// Conformance: RT 5.8 - `create_threadpool`: default priority, stack size, static and dynamic
/// threads
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

/// Conformance: RT - processors of lanes
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
