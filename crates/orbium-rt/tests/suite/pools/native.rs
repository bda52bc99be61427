// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of the threads of pools; skipped where the host permits none.

use std::thread;
use std::time::{Duration, Instant};

use orbium_core::budget::{Budget, remaining};
use orbium_core::{ExceptionKind, Orb};
use orbium_rt::{
    LinearMapping, PriorityMapping, RtOrb, Scheduling, SchedulingClass, ThreadpoolConfig,
    ThreadpoolId, ThreadpoolLane,
};
use orbium_sys::NativeThread;
use orbium_testkit::{PATIENCE, eventually, skipped, within};

use super::{Pooled, propagated, with_endpoint};
use crate::common::{client_with, on_a_thread, seen_by};

/// Native real-time priorities of a pool's threads.
fn native(pool: ThreadpoolId, lanes: [i16; 2]) -> Vec<i32> {
    let names = lanes.map(|lane| format!("rt-{}-{lane}", pool.0));
    let mut priorities = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let task = task.unwrap().path();
        let comm = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
        let Ok(stat) = std::fs::read_to_string(task.join("stat")) else {
            continue;
        };
        // Tests that run at the same time have pools too, but not of SCHED_FIFO and these lanes.
        let fields: Vec<_> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        if names.iter().any(|name| name == comm.trim()) && fields[38] == "1" {
            priorities.push(fields[37].parse().unwrap());
        }
    }
    priorities.sort_unstable();
    priorities
}

/// Conformance: RT 5.5.1 - native priorities of SCHED_FIFO and SCHED_RR; without them, soft
#[test]
fn threads_have_native_priorities() {
    let builder = RtOrb::builder().mapping(orbium_rt::DirectMapping::over(1..=20));
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    let Ok(rt) = builder.native_range(1..=20).install(&orb) else {
        skipped("native priorities of pools: SCHED_FIFO is not permitted here");
        return;
    };
    let lanes = [2, 7].map(with_endpoint);
    let config = ThreadpoolConfig {
        allow_borrowing: true,
        ..ThreadpoolConfig::default()
    };
    let pool = rt.create_threadpool_with_lanes(&lanes, config).unwrap();
    // A thread takes its name and its priority once it runs.
    eventually("those who read and those who serve are there", || {
        native(pool, [2, 7]) == [2, 2, 7, 7]
    });
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
    let (client_orb, client_rt) = client_with(direct());
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

/// A pool without lanes, under both classes: its threads have the native priority
/// that the mapping gives the client's, for as long as a request lasts.
///
/// Conformance: RT 5.5.1 - native priorities of SCHED_FIFO and SCHED_RR; without them, soft
#[test]
fn threads_of_a_pool_without_lanes_have_what_the_mapping_says() {
    for class in [SchedulingClass::Fifo, SchedulingClass::RoundRobin] {
        let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let orb = orb.build().unwrap();
        orb.root_poa().manager().activate().unwrap();
        let builder = RtOrb::builder()
            .mapping(LinearMapping::over(1..=20))
            .class(class)
            .native_range(1..=20);
        let Ok(rt) = builder.install(&orb) else {
            skipped(&format!(
                "native priorities of a pool: {class} is not permitted here"
            ));
            continue;
        };
        let pool =
            rt.create_threadpool(ThreadpoolLane::new(500, 1, 1), ThreadpoolConfig::default());
        let pooled = Pooled::new(orb, rt, pool.unwrap(), propagated(500));
        pooled.state.on_act(move |_, _| {
            let own = Scheduling::of_this_thread().unwrap();
            assert_eq!(own.class, class);
            Ok(own.priority)
        });
        let mapping = LinearMapping::over(1..=20);
        let soft = RtOrb::builder().mapping(LinearMapping::over(1..=20)).soft();
        let (client_orb, client_rt) = client_with(soft);
        let target = seen_by(&client_orb, &pooled.orb, &pooled.object);
        on_a_thread(move || {
            for corba in [0, 32_767, 500, 16_000, 32_767, 0] {
                let priority = orbium_core::Priority::new(corba).unwrap();
                let native = mapping.to_native(priority).unwrap();
                client_rt.current().set_the_priority(corba).unwrap();
                assert_eq!(target.act(0), Ok(native.into()), "{class} {corba}");
            }
        });
        pooled.end();
    }
}

/// Conformance: RT 6 - budgets of thread pools: exhausted, threads are demoted until it is replenished
#[test]
fn a_pool_that_exhausts_its_budget_is_demoted_until_it_is_replenished() {
    let builder = RtOrb::builder().mapping(orbium_rt::DirectMapping::over(1..=20));
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    let Ok(rt) = builder.native_range(1..=20).install(&orb) else {
        skipped("budgets of pools: SCHED_FIFO is not permitted here");
        return;
    };
    let ms = Duration::from_millis;
    let lane = ThreadpoolLane {
        budget: Some(Budget::new(ms(2), ms(50))),
        ..ThreadpoolLane::new(2, 1, 0)
    };
    let config = ThreadpoolConfig::default();
    let pool = rt.create_threadpool_with_lanes(&[lane], config).unwrap();
    let pooled = Pooled::new(orb, rt, pool, propagated(2));
    pooled.state.on_act(|_, _| {
        let own = Scheduling::fifo(2);
        let begun = Instant::now();
        let scheduling = || NativeThread::current().scheduling().unwrap();
        let mut seen = 0;
        // It works until it is demoted, and then until it is restored.
        for wanted in [own, Scheduling::OTHER, own] {
            while scheduling() != wanted && begun.elapsed() < PATIENCE {}
            seen += i32::from(scheduling() == wanted && remaining().is_some());
        }
        Ok(seen)
    });
    let client = RtOrb::builder().mapping(orbium_rt::DirectMapping::over(1..=20));
    let (client, client_rt) = client_with(client.soft());
    let target = seen_by(&client, &pooled.orb, &pooled.object);
    let call = move || {
        client_rt.current().set_the_priority(2).unwrap();
        target.act(0)
    };
    assert_eq!(within("the call", call), Ok(3));
    assert_eq!(remaining(), None, "this thread has no budget");
}

/// Conformance: RT 6 - budgets of thread pools: those that cannot be kept: BAD_PARAM
#[test]
fn a_pool_is_refused_if_its_budget_cannot_be_kept() {
    let (_orb, rt) = crate::common::server();
    let ms = Duration::from_millis;
    for budget in [Budget::new(ms(2), ms(10)), Budget::new(ms(0), ms(10))] {
        let lane = ThreadpoolLane {
            budget: Some(budget),
            ..ThreadpoolLane::new(2, 1, 0)
        };
        let refused = rt.create_threadpool(lane, ThreadpoolConfig::default());
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
    }
}
