// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes of pools with threads for which the host reserves time of a processor.

use std::time::Duration;

use orbium_core::{Completion, ExceptionKind, Orb, Reservation, SystemException};
use orbium_giop::minor;
use orbium_rt::{ContinuousMapping, RtOrb, ThreadpoolConfig, ThreadpoolLane};
use orbium_testkit::{eventually, skipped};

use super::{Pooled, propagated, with_endpoint};
use crate::common::server;
use crate::reserved_bindings::{alone, is_possible, reserved_here, reserved_threads};

const MS: Duration = Duration::from_millis(1);
const TENTH: Reservation = Reservation::new(Duration::from_millis(10), Duration::from_millis(100));
/// Linux refuses less than 1,024 ns.
const TOO_SHORT: Reservation = Reservation::new(Duration::from_nanos(500), MS);

fn reserving(lane: ThreadpoolLane, reservation: Reservation) -> ThreadpoolLane {
    ThreadpoolLane {
        reservation: Some(reservation),
        ..lane
    }
}

/// Conformance: RT 6 - reservations: a lane of a thread pool serves by its own - at whatever native priorities
#[test]
fn the_lane_of_a_pool_serves_by_its_reservation() {
    let _alone = alone();
    if !is_possible() {
        return;
    }
    for lanes in [
        [ThreadpoolLane::new(5, 1, 0), ThreadpoolLane::new(20, 1, 0)],
        [with_endpoint(5), with_endpoint(20)],
    ] {
        let [plain, reserved] = lanes;
        let config = ThreadpoolConfig {
            allow_borrowing: true,
            allow_request_buffering: true,
            ..ThreadpoolConfig::default()
        };
        let (orb, rt) = server();
        let mut pool = None;
        // Other processes may have reserved time until now: the ORB is soft.
        eventually("the host reserves it", || {
            let lanes = [plain.clone(), reserving(reserved.clone(), TENTH)];
            let made = rt.create_threadpool_with_lanes(&lanes, config).unwrap();
            let name = format!("rt-{}-20", made.0);
            let granted = orb.lanes().into_iter().find(|it| it.name() == name);
            if granted.unwrap().reservation() == Some(TENTH) {
                pool = Some(made);
            } else {
                rt.destroy_threadpool(made).unwrap().unwrap();
            }
            pool.is_some()
        });
        let pooled = Pooled::new(orb, rt, pool.unwrap(), propagated(5));
        pooled.state.on_act(|_, _| {
            if reserved_here() > 0 {
                orbium_core::set_thread_scheduling(orbium_core::Scheduling::fifo(3)).unwrap();
            }
            Ok(reserved_here())
        });
        for _ in 0..3 {
            assert_eq!(pooled.served_at(20), Ok(10_000));
            assert_eq!(pooled.served_at(5), Ok(0));
        }
        assert_eq!(
            reserved_threads(),
            1,
            "one serves, and none that reads has one"
        );
        pooled.end();
        eventually("it ends with the pool", || reserved_threads() == 0);
    }
}

/// Conformance: RT 6 - reservations: a lane of a thread pool serves by its own - refused by the host: NO_RESOURCES, or soft
#[test]
fn a_pool_is_refused_without_its_reservation_or_soft() {
    let lane = || reserving(ThreadpoolLane::new(20, 1, 0), TOO_SHORT);
    let config = ThreadpoolConfig::default();
    let (orb, rt) = server();
    let pool = rt.create_threadpool(lane(), config).unwrap();
    let name = format!("rt-{}-20", pool.0);
    let granted = orb.lanes().into_iter().find(|it| it.name() == name);
    assert_eq!(granted.unwrap().reservation(), None);
    Pooled::new(orb, rt, pool, None).end();

    let orb = Orb::builder().build().unwrap();
    let builder = RtOrb::builder().mapping(ContinuousMapping::over(1..=99));
    let Ok(rt) = builder.native_range(1..=20).install(&orb) else {
        skipped("reservations of pools: SCHED_FIFO is not permitted here");
        return;
    };
    let refused = SystemException::orbium(
        ExceptionKind::NoResources,
        minor::NOT_RESERVED,
        Completion::No,
    );
    let lane = ThreadpoolLane {
        lane_priority: 5,
        ..lane()
    };
    assert_eq!(rt.create_threadpool(lane, config), Err(refused));
    orb.shutdown(true).unwrap();
}

#[test]
fn a_reservation_is_for_a_lane_of_one_thread_on_all_processors() {
    let (orb, rt) = server();
    let bad = SystemException::new(ExceptionKind::BadParam, 0, Completion::No);
    let two = ThreadpoolLane::new(20, 2, 0);
    let growing = ThreadpoolLane::new(20, 1, 1);
    let bound = ThreadpoolLane {
        processors: vec![0],
        ..ThreadpoolLane::new(20, 1, 0)
    };
    for lane in [two, growing, bound] {
        let made = rt.create_threadpool(reserving(lane, TENTH), ThreadpoolConfig::default());
        assert_eq!(made, Err(bad));
    }
    orb.shutdown(true).unwrap();
}
