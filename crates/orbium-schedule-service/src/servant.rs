// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of the paper.

use std::sync::Arc;

use orbium::{Call, SystemException};
use orbium_sched::{Assignment, SchedError, Time};

use crate::book::{Book, Fault};
use crate::convert;
use crate::error::{BAD_ARGUMENT, NOT_PRIVILEGED};
use crate::rt_scheduler::{
    DuplicateName, DuplicateNameError, Importance, InsufficientPriorityLevels, NotScheduled,
    RtInfo, SchedulerComputeSchedulingError, SchedulerEntryPointPriorityResults,
    SchedulerPriorityResults, SchedulerServant, TaskCountMismatch, UnknownTask, UnknownTaskError,
    UnknownTaskOrNotScheduledError, UtilizationBoundExceeded,
};

/// An object of the service: the one for applications, or the privileged one.
#[derive(Debug)]
pub(crate) struct Servant {
    pub(crate) book: Arc<Book>,
    pub(crate) is_privileged: bool,
}

impl Servant {
    /// # Errors
    /// NO_PERMISSION through the reference for applications.
    pub(crate) fn require_privilege(&self) -> Result<(), SystemException> {
        if self.is_privileged {
            Ok(())
        } else {
            Err(NOT_PRIVILEGED)
        }
    }
}

/// The exception for faults without a declared one.
pub(crate) fn undeclared(fault: &Fault) -> SystemException {
    match fault {
        Fault::System(exception) => *exception,
        Fault::Sched(_) => BAD_ARGUMENT,
    }
}

fn unknown_task(fault: Fault) -> UnknownTaskError {
    match fault {
        Fault::Sched(SchedError::UnknownTask(_)) => UnknownTask {}.into(),
        other => undeclared(&other).into(),
    }
}

fn unassigned(error: SchedError) -> UnknownTaskOrNotScheduledError {
    match error {
        SchedError::UnknownTask(_) => UnknownTask {}.into(),
        SchedError::NotScheduled(_) => NotScheduled {}.into(),
        other => undeclared(&other.into()).into(),
    }
}

impl SchedulerServant for Servant {
    fn create(&self, _: &Call<'_>, entry_point: &str) -> Result<i32, DuplicateNameError> {
        let created = self.book.lock().create(entry_point);
        created.map(convert::number).map_err(|fault| match fault {
            Fault::Sched(SchedError::DuplicateName(_)) => DuplicateName {}.into(),
            other => undeclared(&other).into(),
        })
    }

    fn lookup(&self, _: &Call<'_>, entry_point: &str) -> Result<i32, SystemException> {
        let found = self.book.lock().repository.lookup(entry_point);
        found.map(convert::number).map_err(|_| BAD_ARGUMENT)
    }

    fn get(&self, _: &Call<'_>, handle: i32) -> Result<RtInfo, UnknownTaskError> {
        let state = self.book.lock();
        let found = state.repository.get(convert::handle(handle));
        Ok(convert::idl_info(
            found.map_err(|it| unknown_task(it.into()))?,
        ))
    }

    fn set(
        &self,
        _: &Call<'_>,
        handle: i32,
        worst_time: u64,
        typical_time: u64,
        cached_time: u64,
        least_period: i32,
        its_importance: Importance,
        its_quantum: u64,
        threads: i32,
    ) -> Result<(), UnknownTaskError> {
        let (period, threads) = (convert::period(least_period)?, convert::unsigned(threads)?);
        let changed = self.book.lock().set(convert::handle(handle), |timing| {
            timing.worst_case_execution_time = Time::from_ticks(worst_time);
            timing.typical_execution_time = Time::from_ticks(typical_time);
            timing.cached_execution_time = Time::from_ticks(cached_time);
            timing.period = period;
            timing.importance = convert::importance(its_importance);
            timing.quantum = Time::from_ticks(its_quantum);
            timing.threads = threads;
        });
        changed.map_err(unknown_task)
    }

    fn add_dependency(
        &self,
        _: &Call<'_>,
        handle: i32,
        dependency: i32,
        number_of_calls: i32,
    ) -> Result<(), UnknownTaskError> {
        let added = self.book.lock().add_dependency(
            convert::handle(handle),
            convert::handle(dependency),
            convert::calls(number_of_calls)?,
            orbium_sched::DependencyKind::TwoWayCall,
        );
        added.map_err(unknown_task)
    }

    fn priority(
        &self,
        _: &Call<'_>,
        handle: i32,
    ) -> Result<SchedulerPriorityResults, UnknownTaskOrNotScheduledError> {
        let found = self
            .book
            .lock()
            .repository
            .priority(convert::handle(handle));
        let found: Assignment = found.map_err(unassigned)?;
        let (priority, subpriority, p_priority) = convert::triple(found);
        Ok(SchedulerPriorityResults {
            priority,
            subpriority,
            p_priority,
        })
    }

    fn entry_point_priority(
        &self,
        _: &Call<'_>,
        entry_point: &str,
    ) -> Result<SchedulerEntryPointPriorityResults, UnknownTaskOrNotScheduledError> {
        let found = self
            .book
            .lock()
            .repository
            .entry_point_priority(entry_point);
        let (priority, subpriority, p_priority) = convert::triple(found.map_err(unassigned)?);
        Ok(SchedulerEntryPointPriorityResults {
            priority,
            subpriority,
            p_priority,
        })
    }

    fn compute_scheduling(
        &self,
        _: &Call<'_>,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<Vec<RtInfo>, SchedulerComputeSchedulingError> {
        self.require_privilege()?;
        let mut state = self.book.lock();
        let options = state.options_within((minimum_priority, maximum_priority));
        state.schedule(&options).map_err(|fault| match fault {
            Fault::Sched(SchedError::UtilizationBoundExceeded { .. }) => {
                UtilizationBoundExceeded {}.into()
            }
            Fault::Sched(SchedError::InsufficientPriorityLevels { .. }) => {
                InsufficientPriorityLevels {}.into()
            }
            other => SchedulerComputeSchedulingError::from(undeclared(&other)),
        })?;
        if !state.are_assigned() {
            return Err(TaskCountMismatch {}.into());
        }
        let infos = state.repository.infos().iter();
        Ok(infos.map(convert::idl_info).collect())
    }
}
