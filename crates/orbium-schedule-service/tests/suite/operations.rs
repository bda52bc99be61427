// SPDX-License-Identifier: MIT OR Apache-2.0
//! From registration to priorities.

use orbium_schedule_service::rt_scheduler::{DependencyInfo, Importance, RtInfo};
use orbium_schedule_service::rt_scheduler2::{Criticality, DependencyType, Strategy};

use crate::served::{Served, register};

/// Conformance: RT 6 - the Scheduling Service as a CORBA object: the interface of the paper
#[test]
fn operations_are_registered_and_assigned_priorities() {
    let served = Served::new();
    let scheduler = served.remote();
    let steer = register(&scheduler, "Rudder::steer", 50, 10);
    let log = register(&scheduler, "Log::write", 1_000, 100);
    let read = register(&scheduler, "Gyro::read", 0, 5);
    assert_eq!((steer, log, read), (1, 2, 3));
    assert_eq!(scheduler.lookup("Log::write").unwrap(), log);
    scheduler.add_dependency(steer, read, 2).unwrap();

    let infos = served.privileged().compute_scheduling(10, 20).unwrap();
    assert_eq!(infos.len(), 3);
    let call = DependencyInfo {
        number_of_calls: 2,
        rt_info: read,
    };
    assert_eq!(infos[0].dependencies, [call]);
    assert_eq!(infos[0], scheduler.get(steer).unwrap());
    assert_eq!(queues(&infos), [(20, 0), (19, 1), (20, 0)]);
    let of_log = scheduler.priority(log).unwrap();
    assert_eq!((of_log.priority, of_log.p_priority), (19, 1));
    let by_name = scheduler.entry_point_priority("Gyro::read").unwrap();
    assert_eq!((by_name.priority, by_name.subpriority), (20, 0));
}

/// Native priority and queue of each.
fn queues(infos: &[RtInfo]) -> Vec<(i32, i32)> {
    let pair = |it: &RtInfo| (it.priority, it.preemption_priority);
    infos.iter().map(pair).collect()
}

#[test]
fn every_field_comes_back() {
    let served = Served::new();
    let scheduler = served.remote();
    let handle = scheduler.create("A::a").unwrap();
    let high = Importance::VeryHighImportance;
    scheduler.set(handle, 50, 40, 3, 500, high, 7, 2).unwrap();
    let info = scheduler.get(handle).unwrap();
    assert_eq!(info.entry_point, "A::a");
    let times = (
        info.worstcase_execution_time,
        info.typical_execution_time,
        info.cached_execution_time,
    );
    assert_eq!(times, (50, 40, 3));
    let rest = (info.period, info.importance, info.quantum, info.threads);
    assert_eq!(rest, (500, high, 7, 2));
    let none = (info.priority, info.subpriority, info.preemption_priority);
    assert_eq!(none, (0, 0, -1));
}

#[test]
fn criticality_data_and_strategies_are_those_of_the_second_interface() {
    let served = Served::new();
    let scheduler = served.remote();
    let steer = register(&scheduler, "steer", 50, 30);
    let log = register(&scheduler, "log", 0, 40);
    let data = DependencyType::OneWayCall;
    scheduler
        .add_dependency_of_type(log, steer, 1, data)
        .unwrap();
    let high = Criticality::VeryHighCriticality;
    scheduler.set_criticality(steer, high).unwrap();
    // 70 ms in 50: the critical set alone holds.
    served.privileged().schedule(Strategy::Muf, 1, 99).unwrap();
    assert_eq!(scheduler.scheduling_strategy().unwrap(), Strategy::Muf);
    assert_eq!(
        (
            scheduler.operations().unwrap(),
            scheduler.threads().unwrap()
        ),
        (2, 2)
    );
    let anomalies = scheduler.anomalies().unwrap();
    assert!(
        anomalies
            .iter()
            .any(|it| it.code == "misses-deadline" && it.handle == log)
    );
    let table = served.privileged().table().unwrap();
    assert!(table.contains("pub const STEER: usize = 0;"), "{table}");
    assert_eq!(table, served.privileged().table().unwrap());
}

#[test]
fn destroyed_operations_are_forgotten() {
    let served = Served::new();
    let scheduler = served.remote();
    register(&scheduler, "a", 50, 10);
    served.privileged().compute_scheduling(1, 99).unwrap();
    served.privileged().destroy().unwrap();
    assert_eq!(
        (
            scheduler.operations().unwrap(),
            scheduler.threads().unwrap()
        ),
        (0, 0)
    );
    assert_eq!(scheduler.create("a").unwrap(), 1);
}

#[test]
fn the_initial_reference_leads_to_the_service() {
    let served = Served::new();
    let found = served.orb.resolve("corbaloc:rir:/ScheduleService");
    let found: orbium_schedule_service::rt_scheduler::Scheduler = found.unwrap();
    assert_eq!(found.create("a").unwrap(), 1);
    let again = orbium_schedule_service::ScheduleService::in_memory(&served.orb);
    assert!(again.is_err(), "two services have one name");
}
