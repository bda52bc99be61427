// SPDX-License-Identifier: MIT OR Apache-2.0
//! The service by the interface of TAO's releases.

use orbium::ExceptionKind;
use orbium_sched::Strategy;
use orbium_schedule_service::rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT};
use orbium_schedule_service::rtec_scheduler::{
    CriticalityT, DispatchingTypeT, ImportanceT, InfoTypeT, RtInfo, RtInfoEnabledTypeT, Scheduler,
    SchedulerComputeSchedulingError, SchedulerCreateError, SchedulerDispatchConfigurationError,
    SchedulerLastScheduledPriorityError, SchedulerLookupError, SchedulerPriorityError,
    SchedulerSetError,
};

use crate::served::{Scratch, Served};

const TWO_WAY: DependencyTypeT = DependencyTypeT::TwoWayCall;

/// Registers an operation, with times in milliseconds.
fn register(scheduler: &Scheduler, name: &str, period: i32, time: u64) -> i32 {
    let handle = scheduler.create(name).unwrap();
    let info = info(handle, period, time);
    scheduler.set_seq(&[info]).unwrap();
    handle
}

fn info(handle: i32, period: i32, time: u64) -> RtInfo {
    RtInfo {
        handle,
        worst_case_execution_time: time * 10_000,
        period: period * 10_000,
        criticality: CriticalityT::HighCriticality,
        importance: ImportanceT::LowImportance,
        info_type: InfoTypeT::Operation,
        ..RtInfo::default()
    }
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: operations, dependencies, schedule
#[test]
fn operations_are_those_of_the_paper_s_interface() {
    let served = Served::new();
    let (rtec, privileged) = (served.rtec(), served.rtec_privileged());
    let steer = register(&rtec, "Rudder::steer", 50, 10);
    let read = register(&rtec, "Gyro::read", 0, 2);
    let log = register(&rtec, "Log::write", 100, 30);
    rtec.add_dependency(steer, read, 2, TWO_WAY).unwrap();
    assert_eq!(rtec.lookup("Gyro::read"), Ok(read));
    assert_eq!(served.remote().lookup("Gyro::read"), Ok(read));

    let computed = privileged.compute_scheduling(1, 99).unwrap();
    assert_eq!(rtec.get_rt_info_set().unwrap(), computed.infos);
    assert_eq!(rtec.get_dependency_set().unwrap(), computed.dependencies);
    assert_eq!(rtec.get_config_infos().unwrap(), computed.configs);
    assert_eq!(rtec.get_config_info_set().unwrap(), computed.configs);
    let dependency = &computed.dependencies[0];
    assert_eq!(
        (dependency.rt_info, dependency.rt_info_depended_on),
        (steer, read)
    );
    let periods = computed.configs.iter().map(|it| &*it.timer_periods);
    assert_eq!(periods.collect::<Vec<_>>(), [[500_000], [1_000_000]]);
    let found = rtec.get(steer).unwrap();
    assert_eq!(
        (
            found.criticality,
            found.importance,
            found.preemption_priority
        ),
        (CriticalityT::HighCriticality, ImportanceT::LowImportance, 0)
    );
    let priority = rtec.priority(log).unwrap();
    assert_eq!((priority.o_priority, priority.p_priority), (98, 1));
    assert_eq!(
        rtec.entry_point_priority("Log::write").unwrap().o_priority,
        98
    );
    let second = rtec.dispatch_configuration(1).unwrap();
    assert_eq!(
        (second.o_priority, second.dispatching_type),
        (98, DispatchingTypeT::StaticDispatching)
    );
    assert_eq!(rtec.last_scheduled_priority(), Ok(1));
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: dynamic strategies
#[test]
fn schedules_are_computed_by_the_strategy_of_the_service() {
    let served = Served::new();
    let (rtec, privileged) = (served.rtec(), served.rtec_privileged());
    register(&rtec, "Rudder::steer", 50, 10);
    register(&rtec, "Log::write", 100, 30);
    let dispatching = |strategy| {
        served.service.set_strategy(strategy);
        let configs = privileged.compute_scheduling(1, 99).unwrap().configs;
        let types = configs.iter().map(|it| it.dispatching_type);
        types.collect::<Vec<_>>()
    };
    let both_static = [DispatchingTypeT::StaticDispatching; 2];
    assert_eq!(dispatching(Strategy::Rms), both_static);
    let by_deadline = [DispatchingTypeT::DeadlineDispatching];
    assert_eq!(dispatching(Strategy::Edf), by_deadline);
    let by_laxity = [DispatchingTypeT::LaxityDispatching];
    assert_eq!(dispatching(Strategy::Muf), by_laxity);
    // By the interface of TAO's paper as well.
    let infos = served.service.privileged().compute_scheduling(1, 99);
    let queues = infos.unwrap().into_iter().map(|it| it.preemption_priority);
    assert!(queues.eq([0, 0]));
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: each exception
#[test]
fn wrong_arguments_raise_the_declared_exceptions() {
    let served = Served::new();
    let (rtec, privileged) = (served.rtec(), served.rtec_privileged());
    let steer = register(&rtec, "Rudder::steer", 50, 10);
    let refused = rtec.create("Rudder::steer").unwrap_err();
    assert!(
        matches!(refused, SchedulerCreateError::DuplicateName(_)),
        "{refused:?}"
    );
    let unknown = |error: SchedulerLookupError| {
        assert!(
            matches!(error, SchedulerLookupError::UnknownTask(_)),
            "{error:?}"
        );
    };
    unknown(rtec.lookup("Rudder").unwrap_err());
    for handle in [0, -1, 2, i32::MIN, i32::MAX] {
        unknown(rtec.get(handle).unwrap_err());
        unknown(rtec.add_dependency(steer, handle, 1, TWO_WAY).unwrap_err());
        unknown(
            rtec.remove_dependency(handle, steer, 1, TWO_WAY)
                .unwrap_err(),
        );
        // All or none.
        let refused = rtec
            .set_seq(&[info(steer, 1, 1), info(handle, 1, 1)])
            .unwrap_err();
        assert!(
            matches!(refused, SchedulerSetError::UnknownTask(_)),
            "{refused:?}"
        );
        assert_eq!(rtec.get(steer).unwrap().period, 500_000);
        let refused = rtec.priority(handle).unwrap_err();
        assert!(
            matches!(refused, SchedulerPriorityError::UnknownTask(_)),
            "{refused:?}"
        );
    }
    let refused = rtec.priority(steer).unwrap_err();
    assert!(
        matches!(refused, SchedulerPriorityError::NotScheduled(_)),
        "{refused:?}"
    );
    let refused = rtec.last_scheduled_priority().unwrap_err();
    assert!(
        matches!(
            refused,
            SchedulerLastScheduledPriorityError::NotScheduled(_)
        ),
        "{refused:?}"
    );
    match rtec.compute_scheduling(1, 99).unwrap_err() {
        SchedulerComputeSchedulingError::System(it) => {
            assert_eq!(it.kind, ExceptionKind::NoPermission);
        }
        other => panic!("{other:?}"),
    }
    privileged.recompute_scheduling(1, 99).unwrap();
    for queue in [-1, 1, i32::MAX] {
        let refused = rtec.dispatch_configuration(queue).unwrap_err();
        assert!(
            matches!(
                refused,
                SchedulerDispatchConfigurationError::UnknownPriorityLevel(_)
            ),
            "{refused:?}"
        );
    }
    register(&rtec, "Log::write", 100, 30);
    let few = privileged.recompute_scheduling(1, 1).unwrap_err();
    assert!(
        matches!(
            few,
            SchedulerComputeSchedulingError::InsufficientThreadPriorityLevels(_)
        ),
        "{few:?}"
    );
    rtec.create("Flap::move").unwrap();
    let passive = privileged.compute_scheduling(1, 99).unwrap_err();
    assert!(
        matches!(
            passive,
            SchedulerComputeSchedulingError::TaskCountMismatch(_)
        ),
        "{passive:?}"
    );
    register(&rtec, "Wing::bend", 10, 20);
    let overload = privileged.compute_scheduling(1, 99).unwrap_err();
    assert!(
        matches!(
            overload,
            SchedulerComputeSchedulingError::UtilizationBoundExceeded(_)
        ),
        "{overload:?}"
    );
}

fn states(rtec: &Scheduler) -> Vec<RtInfoEnabledTypeT> {
    let infos = rtec.get_rt_info_set().unwrap();
    infos.iter().map(|it| it.enabled).collect()
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: operations and dependencies are disabled and enabled
#[test]
fn schedules_do_without_what_is_disabled() {
    use RtInfoEnabledTypeT::{RtInfoDisabled, RtInfoEnabled};
    let served = Served::new();
    let (rtec, privileged) = (served.rtec(), served.rtec_privileged());
    let steer = register(&rtec, "Rudder::steer", 50, 10);
    let read = register(&rtec, "Gyro::read", 0, 2);
    rtec.add_dependency(steer, read, 2, TWO_WAY).unwrap();
    let dependency =
        |calls, state| rtec.set_dependency_enable_state(steer, read, calls, TWO_WAY, state);
    dependency(2, DependencyEnabledTypeT::DependencyDisabled).unwrap();
    // Nothing calls it any more.
    let passive = privileged.compute_scheduling(1, 99).unwrap_err();
    assert!(
        matches!(
            passive,
            SchedulerComputeSchedulingError::TaskCountMismatch(_)
        ),
        "{passive:?}"
    );
    rtec.set_rt_info_enable_state(read, RtInfoDisabled).unwrap();
    let computed = privileged.compute_scheduling(1, 99).unwrap();
    assert_eq!(states(&rtec), [RtInfoEnabled, RtInfoDisabled]);
    assert_eq!(
        computed.dependencies[0].enabled,
        DependencyEnabledTypeT::DependencyDisabled
    );
    let refused = rtec.priority(read).unwrap_err();
    assert!(
        matches!(refused, SchedulerPriorityError::NotScheduled(_)),
        "{refused:?}"
    );
    // To set it enables it; there is no dependency of three calls, and none of two is changed with it.
    rtec.set_seq(&[info(read, 0, 3)]).unwrap();
    assert_eq!(states(&rtec), [RtInfoEnabled, RtInfoEnabled]);
    let enabled = DependencyEnabledTypeT::DependencyEnabled;
    let edge = |number_of_calls| DependencyInfo {
        dependency_type: TWO_WAY,
        number_of_calls,
        rt_info: steer,
        rt_info_depended_on: read,
        enabled,
    };
    for unknown in [
        dependency(3, enabled),
        rtec.set_dependency_enable_state_seq(&[edge(2), edge(3)]),
        rtec.set_rt_info_enable_state(9, RtInfoEnabled),
    ] {
        let refused = unknown.unwrap_err();
        assert!(
            matches!(refused, SchedulerLookupError::UnknownTask(_)),
            "{refused:?}"
        );
    }
    let state = |rtec: &Scheduler| rtec.get_dependency_set().unwrap()[0].enabled;
    assert_eq!(state(&rtec), DependencyEnabledTypeT::DependencyDisabled);
    dependency(2, enabled).unwrap();
    privileged.compute_scheduling(1, 99).unwrap();
    assert_eq!(rtec.priority(read).unwrap().p_priority, 0);
}

/// Conformance: RT 6 - the Scheduling Service by TAO's `RtecScheduler`: `replace_seq`, non-volatile operations
#[test]
fn a_sequence_replaces_all_that_is_enabled_and_volatile() {
    use RtInfoEnabledTypeT::{RtInfoDisabled, RtInfoEnabled, RtInfoNonVolatile};
    let file = Scratch::new("replaced");
    let served = Served::open(file.path()).unwrap();
    let rtec = served.rtec();
    let [steer, log, read] =
        ["Rudder::steer", "Log::write", "Gyro::read"].map(|name| register(&rtec, name, 50, 1));
    rtec.set_rt_info_enable_state(read, RtInfoNonVolatile)
        .unwrap();
    // All or none.
    let unknown = rtec.replace_seq(&[info(log, 20, 1), info(9, 1, 1)]);
    let refused = unknown.unwrap_err();
    assert!(
        matches!(refused, SchedulerSetError::UnknownTask(_)),
        "{refused:?}"
    );
    let before = [RtInfoEnabled, RtInfoEnabled, RtInfoNonVolatile];
    assert_eq!(states(&rtec), before);
    rtec.replace_seq(&[info(log, 20, 1)]).unwrap();
    let after = [RtInfoDisabled, RtInfoEnabled, RtInfoNonVolatile];
    assert_eq!(states(&rtec), after);
    // What is non-volatile may be set, not reset.
    rtec.set_seq(&[info(read, 40, 2)]).unwrap();
    let reset = rtec.reset_seq(&[info(log, 30, 1), info(read, 10, 1)]);
    let refused = reset.unwrap_err();
    assert!(
        matches!(refused, SchedulerSetError::UnknownTask(_)),
        "{refused:?}"
    );
    let computed = served.rtec_privileged().compute_scheduling(1, 99).unwrap();
    let periods = computed.configs.iter().map(|it| &*it.timer_periods);
    assert_eq!(periods.collect::<Vec<_>>(), [[200_000], [400_000]]);
    drop(served);

    let served = Served::open(file.path()).unwrap();
    let rtec = served.rtec();
    assert_eq!(states(&rtec), after);
    assert_eq!(rtec.priority(log).unwrap().p_priority, 0);
    assert!(rtec.priority(steer).is_err());
    rtec.reset_seq(&[info(steer, 30, 1)]).unwrap();
    assert_eq!(states(&rtec)[0], RtInfoEnabled);
}

#[test]
fn dependencies_that_are_removed_are_gone_from_the_file() {
    let file = Scratch::new("removed");
    let calls = |rtec: &Scheduler| -> i32 {
        let all = rtec.get_dependency_set().unwrap();
        all.iter().map(|it| it.number_of_calls).sum()
    };
    let served = Served::open(file.path()).unwrap();
    let rtec = served.rtec();
    let steer = register(&rtec, "Rudder::steer", 50, 10);
    let read = register(&rtec, "Gyro::read", 0, 2);
    rtec.add_dependency(steer, read, 2, TWO_WAY).unwrap();
    rtec.add_dependency(steer, read, 3, TWO_WAY).unwrap();
    served
        .rtec_privileged()
        .recompute_scheduling(1, 99)
        .unwrap();
    rtec.remove_dependency(steer, read, 4, TWO_WAY).unwrap();
    assert_eq!(calls(&rtec), 1);
    drop(served);

    let served = Served::open(file.path()).unwrap();
    let rtec = served.rtec();
    assert_eq!(calls(&rtec), 1);
    assert_eq!(rtec.priority(steer).unwrap().o_priority, 99);
    let too_many = rtec.remove_dependency(steer, read, 2, TWO_WAY).unwrap_err();
    assert!(
        matches!(too_many, SchedulerLookupError::UnknownTask(_)),
        "{too_many:?}"
    );
    rtec.remove_dependency(steer, read, 1, TWO_WAY).unwrap();
    drop(served);
    let served = Served::open(file.path()).unwrap();
    assert_eq!(calls(&served.rtec()), 0);
}

/// Conformance: RT 6 - the Scheduling Service: state kept in a file - nothing changes that the file refuses
#[test]
fn changes_that_the_file_refuses_are_not_made() {
    let folder = Scratch::new("refusing");
    std::fs::create_dir_all(folder.path()).unwrap();
    let served = Served::open(&folder.path().join("state")).unwrap();
    let rtec = served.rtec();
    let [steer, read] = ["Rudder::steer", "Gyro::read"].map(|it| register(&rtec, it, 50, 1));
    rtec.add_dependency(steer, read, 2, TWO_WAY).unwrap();
    let disabled = RtInfoEnabledTypeT::RtInfoDisabled;
    rtec.set_rt_info_enable_state(steer, disabled).unwrap();
    let state = || {
        (
            rtec.get_rt_info_set().unwrap(),
            rtec.get_dependency_set().unwrap(),
        )
    };
    let before = state();

    std::fs::remove_dir_all(folder.path()).unwrap();
    let not_stored = |refused: Result<(), SchedulerSetError>| match refused {
        Err(SchedulerSetError::System(exception)) => {
            assert_eq!(exception.kind, ExceptionKind::PersistStore);
        }
        other => panic!("{other:?}"),
    };
    // The first one finds that the file cannot be written anew, the others what it has left.
    not_stored(rtec.replace_seq(&[info(steer, 20, 1)]));
    not_stored(rtec.set_seq(&[info(steer, 20, 1)]));
    not_stored(rtec.reset_seq(&[info(read, 20, 1)]));
    assert!(rtec.create("Log::write").is_err());
    assert!(rtec.remove_dependency(steer, read, 1, TWO_WAY).is_err());
    assert!(rtec.add_dependency(steer, read, 1, TWO_WAY).is_err());
    let enabled = RtInfoEnabledTypeT::RtInfoEnabled;
    assert!(rtec.set_rt_info_enable_state(steer, enabled).is_err());
    assert!(served.rtec_privileged().compute_scheduling(1, 99).is_err());
    assert_eq!(state(), before);
    assert!(rtec.lookup("Log::write").is_err());

    // A disk that was full: once it had room again, the service still refused everything until it was restarted.
    std::fs::create_dir_all(folder.path()).unwrap();
    rtec.create("Log::write").unwrap();
    let before = state();
    drop((rtec, served));
    let served = Served::open(&folder.path().join("state")).unwrap();
    let rtec = served.rtec();
    let after = (
        rtec.get_rt_info_set().unwrap(),
        rtec.get_dependency_set().unwrap(),
    );
    assert_eq!(after, before);
}
