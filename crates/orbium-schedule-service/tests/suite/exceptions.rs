// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every exception of the service.

use orbium::ExceptionKind;
use orbium_schedule_service::rt_scheduler::{
    DuplicateNameError, Importance, SchedulerComputeSchedulingError, UnknownTaskError,
    UnknownTaskOrNotScheduledError,
};
use orbium_schedule_service::rt_scheduler2::{
    Criticality, NotScheduledError, NotScheduledOrTaskCountMismatchError, SchedulerScheduleError,
    Strategy,
};

use crate::served::{Served, register};

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn duplicate_name() {
    let served = Served::new();
    let scheduler = served.remote();
    scheduler.create("a").unwrap();
    let error = scheduler.create("a").unwrap_err();
    assert!(
        matches!(error, DuplicateNameError::DuplicateName(_)),
        "{error:?}"
    );
}

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn unknown_task() {
    let served = Served::new();
    let scheduler = served.remote();
    register(&scheduler, "a", 50, 10);
    for unknown in [0, 2, -1, i32::MAX, i32::MIN] {
        let error = scheduler.get(unknown).unwrap_err();
        assert!(
            matches!(error, UnknownTaskError::UnknownTask(_)),
            "{unknown}"
        );
        let low = Importance::LowImportance;
        let error = scheduler.set(unknown, 1, 1, 1, 1, low, 0, 0).unwrap_err();
        assert!(
            matches!(error, UnknownTaskError::UnknownTask(_)),
            "{unknown}"
        );
        for (one, other) in [(1, unknown), (unknown, 1)] {
            let error = scheduler.add_dependency(one, other, 1).unwrap_err();
            assert!(
                matches!(error, UnknownTaskError::UnknownTask(_)),
                "{unknown}"
            );
        }
        let error = scheduler.priority(unknown).unwrap_err();
        assert!(
            matches!(error, UnknownTaskOrNotScheduledError::UnknownTask(_)),
            "{unknown}"
        );
        let low = Criticality::LowCriticality;
        assert!(
            scheduler.set_criticality(unknown, low).is_err(),
            "{unknown}"
        );
    }
    let error = scheduler.entry_point_priority("b").unwrap_err();
    assert!(matches!(
        error,
        UnknownTaskOrNotScheduledError::UnknownTask(_)
    ));
}

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn not_scheduled() {
    let served = Served::new();
    let scheduler = served.remote();
    let handle = register(&scheduler, "a", 50, 10);
    let error = scheduler.priority(handle).unwrap_err();
    assert!(matches!(
        error,
        UnknownTaskOrNotScheduledError::NotScheduled(_)
    ));
    let error = scheduler.entry_point_priority("a").unwrap_err();
    assert!(matches!(
        error,
        UnknownTaskOrNotScheduledError::NotScheduled(_)
    ));
    let error = scheduler.check(1).unwrap_err();
    assert!(matches!(
        error,
        NotScheduledOrTaskCountMismatchError::NotScheduled(_)
    ));
    let error = served.privileged().table().unwrap_err();
    assert!(matches!(error, NotScheduledError::NotScheduled(_)));
}

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn utilization_bound_exceeded() {
    let served = Served::new();
    let scheduler = served.remote();
    let handle = register(&scheduler, "a", 50, 60);
    let error = served.privileged().compute_scheduling(1, 99).unwrap_err();
    let exceeded = |it: &_| {
        matches!(
            it,
            SchedulerComputeSchedulingError::UtilizationBoundExceeded(_)
        )
    };
    assert!(exceeded(&error), "{error:?}");
    let error = served
        .privileged()
        .schedule(Strategy::Edf, 1, 99)
        .unwrap_err();
    assert!(matches!(
        error,
        SchedulerScheduleError::UtilizationBoundExceeded(_)
    ));
    assert!(scheduler.priority(handle).is_err(), "nothing is assigned");
    assert!(!scheduler.anomalies().unwrap().is_empty());
}

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn insufficient_priority_levels() {
    let served = Served::new();
    let scheduler = served.remote();
    register(&scheduler, "a", 50, 10);
    register(&scheduler, "b", 100, 10);
    let error = served.privileged().compute_scheduling(7, 7).unwrap_err();
    let few = |it: &_| {
        matches!(
            it,
            SchedulerComputeSchedulingError::InsufficientPriorityLevels(_)
        )
    };
    assert!(few(&error), "{error:?}");
    let error = served
        .privileged()
        .schedule(Strategy::Rms, 7, 7)
        .unwrap_err();
    assert!(matches!(
        error,
        SchedulerScheduleError::InsufficientPriorityLevels(_)
    ));
    // One queue is enough for this strategy.
    served.privileged().schedule(Strategy::Edf, 7, 7).unwrap();
}

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn task_count_mismatch() {
    let served = Served::new();
    let scheduler = served.remote();
    register(&scheduler, "a", 50, 10);
    served.privileged().compute_scheduling(1, 99).unwrap();
    scheduler.check(1).unwrap();
    for count in [0, 2, -1] {
        let error = scheduler.check(count).unwrap_err();
        assert!(matches!(
            error,
            NotScheduledOrTaskCountMismatchError::TaskCountMismatch(_)
        ));
    }
    // Nothing runs it: the schedule lacks one.
    register(&scheduler, "passive", 0, 1);
    let error = served.privileged().compute_scheduling(1, 99).unwrap_err();
    assert!(matches!(
        error,
        SchedulerComputeSchedulingError::TaskCountMismatch(_)
    ));
}

/// Conformance: RT 6 - the Scheduling Service: each exception
#[test]
fn cyclic_dependencies() {
    let served = Served::new();
    let scheduler = served.remote();
    let (a, b) = (
        register(&scheduler, "a", 50, 1),
        register(&scheduler, "b", 50, 1),
    );
    scheduler.add_dependency(a, b, 1).unwrap();
    scheduler.add_dependency(b, a, 1).unwrap();
    match served
        .privileged()
        .schedule(Strategy::Rms, 1, 99)
        .unwrap_err()
    {
        SchedulerScheduleError::CyclicDependencies(it) => assert_eq!(it.path, "a -> b -> a"),
        other => panic!("{other:?}"),
    }
    let error = served.privileged().compute_scheduling(1, 99).unwrap_err();
    match error {
        SchedulerComputeSchedulingError::System(it) => assert_eq!(it.kind, ExceptionKind::BadParam),
        other => panic!("{other:?}"),
    }
}

#[test]
fn arguments_that_no_exception_is_for_are_bad_parameters() {
    let served = Served::new();
    let scheduler = served.remote();
    let handle = register(&scheduler, "a", 50, 10);
    let error = scheduler.lookup("b").unwrap_err();
    assert_eq!(error.kind, ExceptionKind::BadParam);
    for calls in [0, -1] {
        match scheduler.add_dependency(handle, handle, calls).unwrap_err() {
            UnknownTaskError::System(it) => assert_eq!(it.kind, ExceptionKind::BadParam),
            other => panic!("{other:?}"),
        }
    }
    let low = Importance::LowImportance;
    for (period, threads) in [(-1, 0), (1, -1)] {
        match scheduler
            .set(handle, 1, 1, 1, period, low, 0, threads)
            .unwrap_err()
        {
            UnknownTaskError::System(it) => assert_eq!(it.kind, ExceptionKind::BadParam),
            other => panic!("{other:?}"),
        }
    }
    match scheduler.create(&"x".repeat(5_000)).unwrap_err() {
        DuplicateNameError::System(it) => assert_eq!(it.kind, ExceptionKind::ImpLimit),
        other => panic!("{other:?}"),
    }
}

/// Conformance: RT 6 - the Scheduling Service: computing is a privilege
#[test]
fn computing_needs_the_privileged_reference() {
    let served = Served::new();
    let scheduler = served.remote();
    register(&scheduler, "a", 50, 10);
    let denied = ExceptionKind::NoPermission;
    match scheduler.compute_scheduling(1, 99).unwrap_err() {
        SchedulerComputeSchedulingError::System(it) => assert_eq!(it.kind, denied),
        other => panic!("{other:?}"),
    }
    match scheduler.schedule(Strategy::Rms, 1, 99).unwrap_err() {
        SchedulerScheduleError::System(it) => assert_eq!(it.kind, denied),
        other => panic!("{other:?}"),
    }
    assert_eq!(scheduler.destroy().unwrap_err().kind, denied);
    assert_eq!(scheduler.operations().unwrap(), 1);
}
