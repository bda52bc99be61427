// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time of a processor that the host reserves.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orbium::stub::ServedBy;
use orbium::{
    Interface, Orb, OrbError, Servant,
    config::{Limits, ServerStrategy},
    lane::{LaneConfig, RealTimeError, Reservation},
    poa::Policies,
};
use orbium_scheduler::{
    PeriodicTask, ScheduledLanes, ScheduledThread, SchedulerError, at_priority_of,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, client, eventually, reach, skipped, within};

use crate::lanes::SCHEDULE;

const MS: Duration = Duration::from_millis(1);

/// One of these tests reserves all that there is.
fn alone() -> MutexGuard<'static, ()> {
    static HOST: Mutex<()> = Mutex::new(());
    HOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task of two fifths of a processor.
fn two_fifths(soft: bool) -> Result<PeriodicTask, SchedulerError> {
    let task = PeriodicTask::every("two-fifths", 50 * MS);
    task.reserve(20 * MS).soft(soft).start(|_| {})
}

/// Whether this host reserves time for this process; says so if it does not.
fn is_possible(wanted: Reservation) -> bool {
    match wanted.try_out() {
        Ok(()) => true,
        Err(error) => {
            skipped(&format!("reservations: {error}"));
            false
        }
    }
}

/// Conformance: RT 6 - reservations: the host refuses what it could not keep, and the bandwidth of what ends is free again
#[test]
fn reservations_beyond_the_processors_are_refused() {
    let _alone = alone();
    if !is_possible(Reservation::new(20 * MS, 50 * MS)) {
        return;
    }
    let processors = std::thread::available_parallelism().unwrap().get();
    let mut tasks = Vec::new();
    let refused = loop {
        match two_fifths(false) {
            Ok(task) => tasks.push(task),
            Err(error) => break error,
        }
        // Two fit in a processor.
        assert!(tasks.len() <= 3 * processors, "{}", tasks.len());
    };
    let cause = match refused {
        SchedulerError::Host { cause, .. } => cause,
        error => panic!("{error}"),
    };
    assert!(matches!(cause, RealTimeError::NoBandwidth(_)), "{cause}");
    let soft = two_fifths(true).unwrap();
    // Unless another process has ended a reservation of its own since.
    if let Some(error) = soft.refused() {
        assert!(matches!(error, RealTimeError::NoBandwidth(_)), "{error}");
    }
    drop(soft);
    if !tasks.is_empty() {
        tasks.clear();
        eventually("the bandwidth is free again", || two_fifths(false).is_ok());
    }
}

/// Conformance: RT 6 - reservations: `PeriodicTask` runs by its own
#[test]
fn a_task_runs_by_its_reservation() {
    let _alone = alone();
    let wanted = Reservation::new(5 * MS, 100 * MS).reclaiming();
    if !is_possible(wanted) {
        return;
    }
    let (send, has) = sync_channel(1);
    let task = PeriodicTask::every("reserved", 100 * MS)
        .reserve(5 * MS)
        .reclaim();
    let task = task.soft(true).start(move |_| {
        let _ = send.try_send(Reservation::of_this_thread().unwrap());
    });
    let task = task.unwrap();
    let expected = task.refused().is_none().then_some(wanted);
    let found = within("the first run", move || has.recv().unwrap());
    assert_eq!(found, expected);
    task.stop().unwrap();
}

#[test]
fn impossible_reservations_are_errors_and_soft_threads_go_on() {
    let thread = |soft| ScheduledThread {
        name: "impossible".to_owned(),
        reservation: Some(Reservation::new(20 * MS, 10 * MS)),
        soft,
        ..ScheduledThread::default()
    };
    let refused = thread(false).start(|| panic!("it runs"));
    assert!(
        matches!(refused, Err(SchedulerError::Host { .. })),
        "{refused:?}"
    );
    let (send, ran) = sync_channel(1);
    let started = thread(true).start(move || send.send(()).unwrap()).unwrap();
    assert!(started.refused.is_some());
    within("the thread", move || ran.recv().unwrap());
    started.thread.join().unwrap();
}

/// Conformance: RT 6 - reservations: a lane serves by its own
#[test]
fn a_lane_serves_by_its_reservation() {
    let _alone = alone();
    let wanted = Reservation::new(5 * MS, 100 * MS);
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    let lanes = ScheduledLanes::new(&SCHEDULE).reserve(0, wanted);
    let lanes = match lanes.start(&orb) {
        Ok(lanes) => lanes,
        Err(error) => return skipped(&format!("a lane with a reservation: {error}")),
    };
    let policies = Policies {
        lanes,
        ..Policies::default()
    };
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let adapter = root.create_poa("sensors", Some(root.manager()), policies);
    let state = Arc::new(TargetState::default());
    let (send, has) = sync_channel(1);
    state.on_act(move |_, v| {
        send.send(Reservation::of_this_thread().unwrap()).unwrap();
        Ok(v)
    });
    let servant: Arc<dyn Servant> = Arc::new(Target::skeleton(state));
    let object = Target::from_object(adapter.unwrap().activate_servant(&servant).unwrap());
    let caller = client();
    let target: Target = reach(&caller, &orb.object_to_string(&object));
    within("a call", move || {
        let called = at_priority_of(&SCHEDULE, 0, || target.act(7));
        assert_eq!(called.unwrap(), Ok(7));
    });
    assert_eq!(has.recv().unwrap(), Some(wanted));
    orb.shutdown(true).unwrap();
}

#[test]
fn reservations_that_no_lane_can_have_are_refused() {
    let wanted = Reservation::new(5 * MS, 100 * MS);
    let refused = ScheduledLanes::new(&SCHEDULE).reserve(3, wanted).configs();
    let error = refused.unwrap_err().to_string();
    assert_eq!(error, "no operation `queue 3` is registered");

    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    let lanes = ScheduledLanes::new(&SCHEDULE).reserve(0, wanted);
    let refused = lanes.soft(true).processors(vec![0]).start(&orb);
    assert!(
        matches!(&refused, Err(SchedulerError::Lane(error)) if matches!(**error, OrbError::Config(_))),
        "{refused:?}"
    );
    orb.shutdown(true).unwrap();
}

#[test]
fn a_reservation_is_for_one_thread_on_all_processors() {
    let reserved = LaneConfig {
        strategy: ServerStrategy::Reactive,
        reservation: Some(Reservation::new(MS, 10 * MS)),
        ..LaneConfig::default()
    };
    let limits = Limits::default();
    assert_eq!(reserved.check(&limits), Ok(()));
    let others = [
        LaneConfig {
            strategy: ServerStrategy::LeaderFollowers { threads: 2 },
            ..reserved.clone()
        },
        LaneConfig {
            strategy: ServerStrategy::ThreadPerConnection,
            ..reserved.clone()
        },
        LaneConfig {
            processors: Some(vec![0]),
            ..reserved.clone()
        },
    ];
    for other in others {
        let refused = other.check(&limits).unwrap_err();
        assert!(refused.contains("1 thread"), "{refused}");
    }
}
