// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion between values of `RtecScheduler` and of the analysis.

use orbium::SystemException;
use orbium_sched::{
    Anomaly, Criticality, DependencyKind, Dispatching, EnableState, Importance, InfoKind, Level,
    RtInfo, SchedError, Schedule, Severity, Time, Timing,
};

use crate::book::Fault;
use crate::convert::{long, number, period, triple, unsigned};
use crate::rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT};
use crate::rtec_scheduler as idl;
use crate::rtec_scheduler::{
    InsufficientThreadPriorityLevels, NotScheduled, SchedulerComputeSchedulingError,
    SchedulerPriorityError, SchedulerSetError, UnknownTask,
    UnknownTaskOrSynchronizationFailureError, UtilizationBoundExceeded,
};
use crate::servant::undeclared;

/// The timing of an operation from `set` and `reset`, validated.
pub(crate) fn timing(it: &idl::RtInfo) -> Result<Timing, SystemException> {
    Ok(Timing {
        worst_case_execution_time: Time::from_ticks(it.worst_case_execution_time),
        typical_execution_time: Time::from_ticks(it.typical_execution_time),
        cached_execution_time: Time::from_ticks(it.cached_execution_time),
        period: period(it.period)?,
        criticality: Criticality::ALL[it.criticality as usize],
        importance: Importance::ALL[it.importance as usize],
        quantum: Time::from_ticks(it.quantum),
        threads: unsigned(it.threads)?,
        kind: InfoKind::ALL[it.info_type as usize],
    })
}

/// An operation with its assignment; without one, priorities are 0 and the queue is -1.
pub(crate) fn idl_info(info: &RtInfo) -> idl::RtInfo {
    let timing = &info.timing;
    let (priority, preemption_subpriority, preemption_priority) =
        info.assignment.map_or((0, 0, -1), triple);
    idl::RtInfo {
        entry_point: info.entry_point.clone(),
        handle: number(info.handle),
        worst_case_execution_time: timing.worst_case_execution_time.ticks(),
        typical_execution_time: timing.typical_execution_time.ticks(),
        cached_execution_time: timing.cached_execution_time.ticks(),
        period: long(timing.period.ticks()),
        criticality: idl_criticality(timing.criticality),
        importance: idl_importance(timing.importance),
        quantum: timing.quantum.ticks(),
        threads: long(timing.threads),
        dependencies: idl_dependencies(info).collect(),
        priority,
        preemption_subpriority,
        preemption_priority,
        info_type: idl_kind(timing.kind),
        enabled: match info.state {
            EnableState::Disabled => idl::RtInfoEnabledTypeT::RtInfoDisabled,
            EnableState::Enabled => idl::RtInfoEnabledTypeT::RtInfoEnabled,
            EnableState::NonVolatile => idl::RtInfoEnabledTypeT::RtInfoNonVolatile,
        },
        volatile_token: 0,
    }
}

/// The dependencies of an operation.
pub(crate) fn idl_dependencies(info: &RtInfo) -> impl Iterator<Item = DependencyInfo> {
    info.dependencies.iter().map(|it| DependencyInfo {
        dependency_type: match it.kind {
            DependencyKind::OneWayCall => DependencyTypeT::OneWayCall,
            DependencyKind::TwoWayCall => DependencyTypeT::TwoWayCall,
        },
        number_of_calls: long(it.calls),
        rt_info: number(info.handle),
        rt_info_depended_on: number(it.on),
        enabled: match it.state {
            EnableState::Disabled => DependencyEnabledTypeT::DependencyDisabled,
            EnableState::Enabled => DependencyEnabledTypeT::DependencyEnabled,
            EnableState::NonVolatile => DependencyEnabledTypeT::DependencyNonVolatile,
        },
    })
}

pub(crate) fn state_of_operation(it: idl::RtInfoEnabledTypeT) -> EnableState {
    match it {
        idl::RtInfoEnabledTypeT::RtInfoDisabled => EnableState::Disabled,
        idl::RtInfoEnabledTypeT::RtInfoEnabled => EnableState::Enabled,
        idl::RtInfoEnabledTypeT::RtInfoNonVolatile => EnableState::NonVolatile,
    }
}

pub(crate) fn state_of_dependency(it: DependencyEnabledTypeT) -> EnableState {
    match it {
        DependencyEnabledTypeT::DependencyDisabled => EnableState::Disabled,
        DependencyEnabledTypeT::DependencyEnabled => EnableState::Enabled,
        DependencyEnabledTypeT::DependencyNonVolatile => EnableState::NonVolatile,
    }
}

pub(crate) fn dependency_kind(it: DependencyTypeT) -> DependencyKind {
    match it {
        DependencyTypeT::OneWayCall => DependencyKind::OneWayCall,
        DependencyTypeT::TwoWayCall => DependencyKind::TwoWayCall,
    }
}

/// The queues of a schedule, the most urgent first, with the periods of their threads.
pub(crate) fn idl_configs(schedule: &Schedule) -> Vec<idl::ConfigInfo> {
    let config = |level: &Level| {
        let threads = level
            .threads
            .iter()
            .filter_map(|it| schedule.threads.get(*it));
        let mut periods: Vec<i32> = threads.map(|it| long(it.period.ticks())).collect();
        periods.sort_unstable();
        periods.dedup();
        idl::ConfigInfo {
            preemption_priority: long(level.queue),
            thread_priority: level.priority,
            dispatching_type: idl_dispatching(level.dispatching),
            timer_periods: periods,
        }
    };
    schedule.levels.iter().map(config).collect()
}

/// TAO has no time slices: such a queue is static there.
pub(crate) fn idl_dispatching(it: Dispatching) -> idl::DispatchingTypeT {
    match it {
        Dispatching::Static | Dispatching::TimeSliced => idl::DispatchingTypeT::StaticDispatching,
        Dispatching::Deadline => idl::DispatchingTypeT::DeadlineDispatching,
        Dispatching::Laxity => idl::DispatchingTypeT::LaxityDispatching,
    }
}

pub(crate) fn idl_anomaly(it: &Anomaly) -> idl::SchedulingAnomaly {
    idl::SchedulingAnomaly {
        description: it.description.clone(),
        severity: match it.severity {
            Severity::Warning => idl::AnomalySeverity::AnomalyWarning,
            Severity::Error => idl::AnomalySeverity::AnomalyError,
        },
    }
}

fn idl_criticality(it: Criticality) -> idl::CriticalityT {
    match it {
        Criticality::VeryLow => idl::CriticalityT::VeryLowCriticality,
        Criticality::Low => idl::CriticalityT::LowCriticality,
        Criticality::Medium => idl::CriticalityT::MediumCriticality,
        Criticality::High => idl::CriticalityT::HighCriticality,
        Criticality::VeryHigh => idl::CriticalityT::VeryHighCriticality,
    }
}

fn idl_importance(it: Importance) -> idl::ImportanceT {
    match it {
        Importance::VeryLow => idl::ImportanceT::VeryLowImportance,
        Importance::Low => idl::ImportanceT::LowImportance,
        Importance::Medium => idl::ImportanceT::MediumImportance,
        Importance::High => idl::ImportanceT::HighImportance,
        Importance::VeryHigh => idl::ImportanceT::VeryHighImportance,
    }
}

fn idl_kind(it: InfoKind) -> idl::InfoTypeT {
    match it {
        InfoKind::Operation => idl::InfoTypeT::Operation,
        InfoKind::Conjunction => idl::InfoTypeT::Conjunction,
        InfoKind::Disjunction => idl::InfoTypeT::Disjunction,
        InfoKind::RemoteDependant => idl::InfoTypeT::RemoteDependant,
    }
}

pub(crate) fn unknown_task(fault: Fault) -> UnknownTaskOrSynchronizationFailureError {
    match fault {
        Fault::Sched(SchedError::UnknownTask(_)) => UnknownTask {}.into(),
        other => undeclared(&other).into(),
    }
}

pub(crate) fn not_set(fault: Fault) -> SchedulerSetError {
    match fault {
        Fault::Sched(SchedError::UnknownTask(_)) => UnknownTask {}.into(),
        other => undeclared(&other).into(),
    }
}

pub(crate) fn unassigned(error: SchedError) -> SchedulerPriorityError {
    match error {
        SchedError::UnknownTask(_) => UnknownTask {}.into(),
        SchedError::NotScheduled(_) => NotScheduled {}.into(),
        other => undeclared(&other.into()).into(),
    }
}

pub(crate) fn not_computed(fault: Fault) -> SchedulerComputeSchedulingError {
    match fault {
        Fault::Sched(SchedError::UtilizationBoundExceeded { .. }) => {
            UtilizationBoundExceeded {}.into()
        }
        Fault::Sched(SchedError::InsufficientPriorityLevels { .. }) => {
            InsufficientThreadPriorityLevels {}.into()
        }
        other => undeclared(&other).into(),
    }
}
