// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of the threads of pools; skipped where the host permits none.

use std::thread;

use orbium_core::Orb;
use orbium_rt::{
    LinearMapping, PriorityMapping, RtOrb, Scheduling, SchedulingClass, ThreadpoolConfig,
    ThreadpoolId, ThreadpoolLane,
};
use orbium_testkit::{eventually, skipped};

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
        // Tests beside this one have pools too, but not of SCHED_FIFO and these lanes.
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
