// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extensions from the text of the paper: criticality, data dependencies, strategies,
//! accessors.

use orbium::{Call, SystemException};
use orbium_sched::{DependencyKind, Options, SchedError, source};

use crate::book::Fault;
use crate::convert;
use crate::rt_scheduler::{
    InsufficientPriorityLevels, NotScheduled, TaskCountMismatch, UnknownTask,
    UtilizationBoundExceeded,
};
use crate::rt_scheduler2::{
    Anomaly, Criticality, CyclicDependencies, DependencyType, NotScheduledError,
    NotScheduledOrTaskCountMismatchError, SchedulerScheduleError, SchedulerServant, Strategy,
    UnknownTaskError,
};
use crate::servant::{Servant, undeclared};

fn unknown_task(fault: Fault) -> UnknownTaskError {
    match fault {
        Fault::Sched(SchedError::UnknownTask(_)) => UnknownTask {}.into(),
        other => undeclared(&other).into(),
    }
}

impl SchedulerServant for Servant {
    fn set_criticality(
        &self,
        _: &Call<'_>,
        handle: i32,
        its_criticality: Criticality,
    ) -> Result<(), UnknownTaskError> {
        let criticality = convert::criticality(its_criticality);
        let changed = self.book.lock().set(convert::handle(handle), |timing| {
            timing.criticality = criticality;
        });
        changed.map_err(unknown_task)
    }

    fn add_dependency_of_type(
        &self,
        _: &Call<'_>,
        handle: i32,
        dependency: i32,
        number_of_calls: i32,
        kind: DependencyType,
    ) -> Result<(), UnknownTaskError> {
        let kind = match kind {
            DependencyType::TwoWayCall => DependencyKind::TwoWayCall,
            DependencyType::OneWayCall => DependencyKind::OneWayCall,
        };
        let added = self.book.lock().add_dependency(
            convert::handle(handle),
            convert::handle(dependency),
            convert::calls(number_of_calls)?,
            kind,
        );
        added.map_err(unknown_task)
    }

    fn operations(&self, _: &Call<'_>) -> Result<i32, SystemException> {
        Ok(convert::long(self.book.lock().repository.infos().len()))
    }

    fn threads(&self, _: &Call<'_>) -> Result<i32, SystemException> {
        let state = self.book.lock();
        let threads = state.schedule.as_ref().map_or(0, |it| it.threads.len());
        Ok(convert::long(threads))
    }

    fn scheduling_strategy(&self, _: &Call<'_>) -> Result<Strategy, SystemException> {
        let state = self.book.lock();
        let strategy = state.schedule.as_ref().map(|it| it.strategy);
        Ok(convert::idl_strategy(strategy.unwrap_or_default()))
    }

    fn anomalies(&self, _: &Call<'_>) -> Result<Vec<Anomaly>, SystemException> {
        let state = self.book.lock();
        let anomalies = state.attempt.iter().flat_map(|it| &it.anomalies);
        Ok(anomalies.map(convert::idl_anomaly).collect())
    }

    fn schedule(
        &self,
        _: &Call<'_>,
        scheduling_strategy: Strategy,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<(), SchedulerScheduleError> {
        self.require_privilege()?;
        let options = Options {
            min_priority: minimum_priority,
            max_priority: maximum_priority,
            ..Options::new(convert::strategy(scheduling_strategy))
        };
        match self.book.lock().schedule(&options) {
            Ok(_) => Ok(()),
            Err(Fault::Sched(SchedError::UtilizationBoundExceeded { .. })) => {
                Err(UtilizationBoundExceeded {}.into())
            }
            Err(Fault::Sched(SchedError::InsufficientPriorityLevels { .. })) => {
                Err(InsufficientPriorityLevels {}.into())
            }
            Err(Fault::Sched(SchedError::CyclicDependencies(path))) => {
                let path = path.join(" -> ");
                Err(CyclicDependencies { path }.into())
            }
            Err(other) => Err(undeclared(&other).into()),
        }
    }

    fn check(&self, _: &Call<'_>, count: i32) -> Result<(), NotScheduledOrTaskCountMismatchError> {
        let state = self.book.lock();
        let Some(schedule) = &state.schedule else {
            return Err(NotScheduled {}.into());
        };
        if usize::try_from(count) == Ok(schedule.assignments.len()) {
            Ok(())
        } else {
            Err(TaskCountMismatch {}.into())
        }
    }

    fn table(&self, _: &Call<'_>) -> Result<String, NotScheduledError> {
        self.require_privilege()?;
        let state = self.book.lock();
        let Some(schedule) = &state.schedule else {
            return Err(NotScheduled {}.into());
        };
        source(&state.repository, schedule).map_err(|_| NotScheduled {}.into())
    }

    fn destroy(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.require_privilege()?;
        self.book.lock().destroy().map_err(|it| undeclared(&it))
    }
}
