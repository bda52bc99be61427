// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of TAO's releases, over the same operations and schedule.
//!
//! An operation has one rate here: `set` replaces it, as `reset` does, which refuses a non-volatile
//! operation. Disabled operations stay registered, without a priority from the next schedule on;
//! `set`, `reset` and `replace_seq` enable them. `replace_seq` disables all other enabled
//! operations, except non-volatile ones. A sequence is applied as a whole, or not if one of its
//! elements is unknown or invalid.

mod shared_book;

use std::collections::HashMap;

use orbium::Call;
use orbium_sched::{RtInfo as Info, SchedError, Schedule};

use crate::book::{Fault, State};
use crate::convert;
use crate::rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT};
use crate::rtec_convert::{
    dependency_kind, idl_anomaly, idl_configs, idl_dependencies, idl_dispatching, idl_info,
    state_of_dependency, state_of_operation, unassigned, unknown_task,
};
use crate::rtec_scheduler::{
    ConfigInfo, CriticalityT, DuplicateName, ImportanceT, InfoTypeT, NotScheduled,
    NotScheduledOrSynchronizationFailureError, RtInfo, RtInfoEnableStatePair, RtInfoEnabledTypeT,
    SchedulerComputeSchedulingError, SchedulerComputeSchedulingResults, SchedulerCreateError,
    SchedulerDispatchConfigurationError, SchedulerDispatchConfigurationResults,
    SchedulerEntryPointPriorityResults, SchedulerPriorityError, SchedulerPriorityResults,
    SchedulerServant, SchedulerSetError, SchedulingAnomaly, SynchronizationFailureOrInternalError,
    UnknownPriorityLevel, UnknownTaskOrSynchronizationFailureError,
};
use crate::servant::{Servant, undeclared};

type Result<T, E> = std::result::Result<T, E>;

fn all_dependencies(infos: &[Info]) -> Vec<DependencyInfo> {
    infos.iter().flat_map(idl_dependencies).collect()
}

fn all_anomalies(schedule: &Schedule) -> Vec<SchedulingAnomaly> {
    schedule.anomalies.iter().map(idl_anomaly).collect()
}

impl SchedulerServant for Servant {
    fn create(&self, _: &Call<'_>, entry_point: &str) -> Result<i32, SchedulerCreateError> {
        let created = self.book.lock().create(entry_point);
        created.map(convert::number).map_err(|fault| match fault {
            Fault::Sched(SchedError::DuplicateName(_)) => DuplicateName {}.into(),
            other => undeclared(&other).into(),
        })
    }

    fn lookup(
        &self,
        _: &Call<'_>,
        entry_point: &str,
    ) -> Result<i32, UnknownTaskOrSynchronizationFailureError> {
        let found = self.book.lock().repository.lookup(entry_point);
        found
            .map(convert::number)
            .map_err(|error| unknown_task(error.into()))
    }

    fn get(
        &self,
        _: &Call<'_>,
        handle: i32,
    ) -> Result<RtInfo, UnknownTaskOrSynchronizationFailureError> {
        let state = self.book.lock();
        let found = state.repository.get(convert::handle(handle));
        found
            .map(idl_info)
            .map_err(|error| unknown_task(error.into()))
    }

    fn set(
        &self,
        _: &Call<'_>,
        handle: i32,
        criticality: CriticalityT,
        worst_case_time: u64,
        typical_time: u64,
        cached_time: u64,
        period: i32,
        importance: ImportanceT,
        quantum: u64,
        threads: i32,
        info_type: InfoTypeT,
    ) -> Result<(), SchedulerSetError> {
        let info = RtInfo {
            handle,
            criticality,
            worst_case_execution_time: worst_case_time,
            typical_execution_time: typical_time,
            cached_execution_time: cached_time,
            period,
            importance,
            quantum,
            threads,
            info_type,
            ..RtInfo::default()
        };
        self.with_timings(&[info], State::set_all)
    }

    fn reset(
        &self,
        _: &Call<'_>,
        handle: i32,
        criticality: CriticalityT,
        worst_case_time: u64,
        typical_time: u64,
        cached_time: u64,
        period: i32,
        importance: ImportanceT,
        quantum: u64,
        threads: i32,
        info_type: InfoTypeT,
    ) -> Result<(), SchedulerSetError> {
        let info = RtInfo {
            handle,
            criticality,
            worst_case_execution_time: worst_case_time,
            typical_execution_time: typical_time,
            cached_execution_time: cached_time,
            period,
            importance,
            quantum,
            threads,
            info_type,
            ..RtInfo::default()
        };
        self.reset_all(&[info])
    }

    fn set_seq(&self, _: &Call<'_>, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        self.with_timings(infos, State::set_all)
    }

    fn reset_seq(&self, _: &Call<'_>, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        self.reset_all(infos)
    }

    fn replace_seq(&self, _: &Call<'_>, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        self.with_timings(infos, State::replace_all)
    }

    fn add_dependency(
        &self,
        _: &Call<'_>,
        handle: i32,
        dependency: i32,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        let calls = convert::calls(number_of_calls)?;
        let (handle, on) = (convert::handle(handle), convert::handle(dependency));
        let kind = dependency_kind(dependency_type);
        let added = self.book.lock().add_dependency(handle, on, calls, kind);
        added.map_err(unknown_task)
    }

    fn remove_dependency(
        &self,
        _: &Call<'_>,
        handle: i32,
        dependency: i32,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        let calls = convert::calls(number_of_calls)?;
        let [handle, on] = self.know([handle, dependency])?;
        let kind = dependency_kind(dependency_type);
        let removed = self.book.lock().remove_dependency(handle, on, calls, kind);
        removed.map_err(unknown_task)
    }

    fn set_dependency_enable_state(
        &self,
        call: &Call<'_>,
        handle: i32,
        dependency: i32,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
        enabled: DependencyEnabledTypeT,
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        let only = DependencyInfo {
            dependency_type,
            number_of_calls,
            rt_info: handle,
            rt_info_depended_on: dependency,
            enabled,
        };
        self.set_dependency_enable_state_seq(call, &[only])
    }

    fn set_dependency_enable_state_seq(
        &self,
        _: &Call<'_>,
        dependencies: &[DependencyInfo],
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        let mut all = HashMap::with_capacity(dependencies.len());
        for it in dependencies {
            let [handle, on] = [it.rt_info, it.rt_info_depended_on].map(convert::handle);
            let calls = convert::calls(it.number_of_calls)?;
            let kind = dependency_kind(it.dependency_type);
            all.insert((handle, on, calls, kind), state_of_dependency(it.enabled));
        }
        let set = self.book.lock().set_dependency_states(&all);
        set.map_err(unknown_task)
    }

    fn set_rt_info_enable_state(
        &self,
        call: &Call<'_>,
        handle: i32,
        enabled: RtInfoEnabledTypeT,
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        let only = RtInfoEnableStatePair { handle, enabled };
        self.set_rt_info_enable_state_seq(call, &[only])
    }

    fn set_rt_info_enable_state_seq(
        &self,
        _: &Call<'_>,
        states: &[RtInfoEnableStatePair],
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        let mut state = self.book.lock();
        let mut all = Vec::with_capacity(states.len());
        for it in states {
            let handle = convert::handle(it.handle);
            let known = state.repository.get(handle);
            known.map_err(|error| unknown_task(error.into()))?;
            all.push((handle, state_of_operation(it.enabled)));
        }
        state.set_states(&all).map_err(unknown_task)
    }

    fn priority(
        &self,
        _: &Call<'_>,
        handle: i32,
    ) -> Result<SchedulerPriorityResults, SchedulerPriorityError> {
        let found = self
            .book
            .lock()
            .repository
            .priority(convert::handle(handle));
        let (o_priority, p_subpriority, p_priority) = convert::triple(found.map_err(unassigned)?);
        Ok(SchedulerPriorityResults {
            o_priority,
            p_subpriority,
            p_priority,
        })
    }

    fn entry_point_priority(
        &self,
        _: &Call<'_>,
        entry_point: &str,
    ) -> Result<SchedulerEntryPointPriorityResults, SchedulerPriorityError> {
        let found = self
            .book
            .lock()
            .repository
            .entry_point_priority(entry_point);
        let (o_priority, p_subpriority, p_priority) = convert::triple(found.map_err(unassigned)?);
        Ok(SchedulerEntryPointPriorityResults {
            o_priority,
            p_subpriority,
            p_priority,
        })
    }

    fn compute_scheduling(
        &self,
        _: &Call<'_>,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<SchedulerComputeSchedulingResults, SchedulerComputeSchedulingError> {
        let mut state = self.book.lock();
        let range = (minimum_priority, maximum_priority);
        let schedule = self.compute_all(&mut state, range)?;
        let infos = state.repository.infos();
        Ok(SchedulerComputeSchedulingResults {
            infos: infos.iter().map(idl_info).collect(),
            dependencies: all_dependencies(infos),
            configs: idl_configs(&schedule),
            anomalies: all_anomalies(&schedule),
        })
    }

    fn recompute_scheduling(
        &self,
        _: &Call<'_>,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<Vec<SchedulingAnomaly>, SchedulerComputeSchedulingError> {
        let mut state = self.book.lock();
        let range = (minimum_priority, maximum_priority);
        Ok(all_anomalies(&self.compute_all(&mut state, range)?))
    }

    fn get_rt_info_set(
        &self,
        _: &Call<'_>,
    ) -> Result<Vec<RtInfo>, SynchronizationFailureOrInternalError> {
        Ok(self.all_infos())
    }

    fn get_dependency_set(
        &self,
        _: &Call<'_>,
    ) -> Result<Vec<DependencyInfo>, SynchronizationFailureOrInternalError> {
        Ok(all_dependencies(self.book.lock().repository.infos()))
    }

    /// Empty before the schedule was computed.
    fn get_config_info_set(
        &self,
        _: &Call<'_>,
    ) -> Result<Vec<ConfigInfo>, SynchronizationFailureOrInternalError> {
        Ok(self.all_configs().unwrap_or_default())
    }

    fn dispatch_configuration(
        &self,
        _: &Call<'_>,
        p_priority: i32,
    ) -> Result<SchedulerDispatchConfigurationResults, SchedulerDispatchConfigurationError> {
        let state = self.book.lock();
        let schedule = state.schedule.as_ref().ok_or(NotScheduled {})?;
        let queue = usize::try_from(p_priority).ok();
        let level = queue.and_then(|it| schedule.levels.get(it));
        let level = level.ok_or(UnknownPriorityLevel {})?;
        Ok(SchedulerDispatchConfigurationResults {
            o_priority: level.priority,
            dispatching_type: idl_dispatching(level.dispatching),
        })
    }

    fn last_scheduled_priority(
        &self,
        _: &Call<'_>,
    ) -> Result<i32, NotScheduledOrSynchronizationFailureError> {
        let state = self.book.lock();
        let last = state.schedule.as_ref().and_then(|it| it.levels.last());
        Ok(convert::long(last.ok_or(NotScheduled {})?.queue))
    }

    fn get_config_infos(
        &self,
        _: &Call<'_>,
    ) -> Result<Vec<ConfigInfo>, NotScheduledOrSynchronizationFailureError> {
        Ok(self.all_configs().ok_or(NotScheduled {})?)
    }
}
