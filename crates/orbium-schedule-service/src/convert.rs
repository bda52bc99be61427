// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conversion between values of IDL and of the analysis.

use orbium::SystemException;
use orbium_sched::{Anomaly, Assignment, Criticality, Handle, Importance, RtInfo, Strategy, Time};

use crate::error::BAD_ARGUMENT;
use crate::{rt_scheduler as idl, rt_scheduler2 as idl2};

/// The handle of a number; a negative one is unknown.
pub(crate) fn handle(number: i32) -> Handle {
    Handle::from_number(u32::try_from(number).unwrap_or(0))
}

/// The number of a handle, of which there are far fewer than numbers.
pub(crate) fn number(handle: Handle) -> i32 {
    long(handle.number())
}

pub(crate) fn long(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// A number that must not be negative.
pub(crate) fn unsigned(number: i32) -> Result<u32, SystemException> {
    u32::try_from(number).map_err(|_| BAD_ARGUMENT)
}

/// A number of calls, which is at least 1.
pub(crate) fn calls(number: i32) -> Result<u32, SystemException> {
    let calls = unsigned(number)?;
    if calls == 0 {
        Err(BAD_ARGUMENT)
    } else {
        Ok(calls)
    }
}

pub(crate) fn importance(it: idl::Importance) -> Importance {
    match it {
        idl::Importance::VeryLowImportance => Importance::VeryLow,
        idl::Importance::LowImportance => Importance::Low,
        idl::Importance::MediumImportance => Importance::Medium,
        idl::Importance::HighImportance => Importance::High,
        idl::Importance::VeryHighImportance => Importance::VeryHigh,
    }
}

fn idl_importance(it: Importance) -> idl::Importance {
    match it {
        Importance::VeryLow => idl::Importance::VeryLowImportance,
        Importance::Low => idl::Importance::LowImportance,
        Importance::Medium => idl::Importance::MediumImportance,
        Importance::High => idl::Importance::HighImportance,
        Importance::VeryHigh => idl::Importance::VeryHighImportance,
    }
}

pub(crate) fn criticality(it: idl2::Criticality) -> Criticality {
    match it {
        idl2::Criticality::VeryLowCriticality => Criticality::VeryLow,
        idl2::Criticality::LowCriticality => Criticality::Low,
        idl2::Criticality::MediumCriticality => Criticality::Medium,
        idl2::Criticality::HighCriticality => Criticality::High,
        idl2::Criticality::VeryHighCriticality => Criticality::VeryHigh,
    }
}

pub(crate) fn strategy(it: idl2::Strategy) -> Strategy {
    match it {
        idl2::Strategy::Rms => Strategy::Rms,
        idl2::Strategy::Edf => Strategy::Edf,
        idl2::Strategy::Mlf => Strategy::Mlf,
        idl2::Strategy::Muf => Strategy::Muf,
        idl2::Strategy::RmsMlf => Strategy::RmsMlf,
    }
}

pub(crate) fn idl_strategy(it: Strategy) -> idl2::Strategy {
    match it {
        Strategy::Rms => idl2::Strategy::Rms,
        Strategy::Edf => idl2::Strategy::Edf,
        Strategy::Mlf => idl2::Strategy::Mlf,
        Strategy::Muf => idl2::Strategy::Muf,
        Strategy::RmsMlf => idl2::Strategy::RmsMlf,
    }
}

/// An operation with its assignment; without one, priorities are 0 and the queue is -1.
pub(crate) fn idl_info(info: &RtInfo) -> idl::RtInfo {
    let timing = &info.timing;
    let dependencies = info.dependencies.iter();
    let none = (0, 0, -1);
    let (priority, subpriority, queue) = info.assignment.map_or(none, triple);
    idl::RtInfo {
        entry_point: info.entry_point.clone(),
        handle: number(info.handle),
        worstcase_execution_time: timing.worst_case_execution_time.ticks(),
        typical_execution_time: timing.typical_execution_time.ticks(),
        cached_execution_time: timing.cached_execution_time.ticks(),
        period: long(timing.period.ticks()),
        importance: idl_importance(timing.importance),
        quantum: timing.quantum.ticks(),
        threads: long(timing.threads),
        dependencies: dependencies
            .map(|it| idl::DependencyInfo {
                number_of_calls: long(it.calls),
                rt_info: number(it.on),
            })
            .collect(),
        priority,
        subpriority,
        preemption_priority: queue,
    }
}

/// Native priority, subpriority, queue.
pub(crate) fn triple(it: Assignment) -> (i32, i32, i32) {
    (
        it.priority,
        long(it.subpriority),
        long(it.preemption_priority),
    )
}

pub(crate) fn idl_anomaly(it: &Anomaly) -> idl2::Anomaly {
    idl2::Anomaly {
        level: match it.severity {
            orbium_sched::Severity::Warning => idl2::Severity::Warning,
            orbium_sched::Severity::Error => idl2::Severity::Error,
        },
        code: it.kind.code().to_owned(),
        description: it.description.clone(),
        handle: it.handle.map_or(0, number),
    }
}

/// A period, which is a signed number of units of 100 ns.
pub(crate) fn period(ticks: i32) -> Result<Time, SystemException> {
    Ok(Time::from_ticks(unsigned(ticks)?.into()))
}
