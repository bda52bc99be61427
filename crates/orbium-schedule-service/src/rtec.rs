// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of TAO's releases, over the same operations and schedule.
//!
//! An operation has one rate here: `set` replaces it, as `reset` does. Operations and dependencies
//! cannot be disabled: NO_IMPLEMENT, as for `replace_seq`.

use orbium::Call;
use orbium::stub::not_implemented;
use orbium_sched::{Handle, Options, RtInfo as Info, SchedError, Schedule};

use crate::book::{Fault, State};
use crate::convert;
use crate::rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT};
use crate::rtec_convert::{
    dependency_kind, idl_anomaly, idl_configs, idl_dependencies, idl_dispatching, idl_info, timing,
};
use crate::rtec_scheduler::{
    ConfigInfo, CriticalityT, DuplicateName, ImportanceT, InfoTypeT,
    InsufficientThreadPriorityLevels, NotScheduled, NotScheduledOrSynchronizationFailureError,
    RtInfo, RtInfoEnableStatePair, RtInfoEnabledTypeT, SchedulerComputeSchedulingError,
    SchedulerComputeSchedulingResults, SchedulerCreateError, SchedulerDispatchConfigurationError,
    SchedulerDispatchConfigurationResults, SchedulerEntryPointPriorityResults,
    SchedulerPriorityError, SchedulerPriorityResults, SchedulerServant, SchedulerSetError,
    SchedulingAnomaly, SynchronizationFailureOrInternalError, TaskCountMismatch,
    UnknownPriorityLevel, UnknownTask, UnknownTaskOrSynchronizationFailureError,
    UtilizationBoundExceeded,
};
use crate::servant::{Servant, undeclared};

type Result<T, E> = std::result::Result<T, E>;

fn unknown_task(fault: Fault) -> UnknownTaskOrSynchronizationFailureError {
    match fault {
        Fault::Sched(SchedError::UnknownTask(_)) => UnknownTask {}.into(),
        other => undeclared(&other).into(),
    }
}

fn not_set(fault: Fault) -> SchedulerSetError {
    match fault {
        Fault::Sched(SchedError::UnknownTask(_)) => UnknownTask {}.into(),
        other => undeclared(&other).into(),
    }
}

fn unassigned(error: SchedError) -> SchedulerPriorityError {
    match error {
        SchedError::UnknownTask(_) => UnknownTask {}.into(),
        SchedError::NotScheduled(_) => NotScheduled {}.into(),
        other => undeclared(&other.into()).into(),
    }
}

fn not_computed(fault: Fault) -> SchedulerComputeSchedulingError {
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

impl Servant {
    /// Gives operations their timing: all of them, or none if one is unknown or wrong.
    fn set_all(&self, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        let mut state = self.book.lock();
        let mut all = Vec::with_capacity(infos.len());
        for info in infos {
            let handle = convert::handle(info.handle);
            let known = state.repository.get(handle);
            known.map_err(|error| not_set(error.into()))?;
            all.push((handle, timing(info)?));
        }
        for (handle, timing) in all {
            state.set(handle, |it| *it = timing).map_err(not_set)?;
        }
        Ok(())
    }

    /// Computes the schedule, rate monotonic, of which every operation is to be part.
    fn compute_all(
        &self,
        state: &mut State,
        (min_priority, max_priority): (i32, i32),
    ) -> Result<Schedule, SchedulerComputeSchedulingError> {
        self.require_privilege()?;
        let options = Options {
            min_priority,
            max_priority,
            ..Options::default()
        };
        let schedule = state.schedule(&options).map_err(not_computed)?;
        match schedule.assignments.iter().all(Option::is_some) {
            true => Ok(schedule.clone()),
            false => Err(TaskCountMismatch {}.into()),
        }
    }

    /// That both operations are registered.
    fn know(
        &self,
        handles: [i32; 2],
    ) -> Result<[Handle; 2], UnknownTaskOrSynchronizationFailureError> {
        let state = self.book.lock();
        for handle in handles {
            let known = state.repository.get(convert::handle(handle));
            known.map_err(|error| unknown_task(error.into()))?;
        }
        Ok(handles.map(convert::handle))
    }

    fn all_infos(&self) -> Vec<RtInfo> {
        self.book
            .lock()
            .repository
            .infos()
            .iter()
            .map(idl_info)
            .collect()
    }

    fn all_configs(&self) -> Option<Vec<ConfigInfo>> {
        self.book.lock().schedule.as_ref().map(idl_configs)
    }
}

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
        self.set_all(&[RtInfo {
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
        }])
    }

    fn reset(
        &self,
        call: &Call<'_>,
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
        SchedulerServant::set(
            self,
            call,
            handle,
            criticality,
            worst_case_time,
            typical_time,
            cached_time,
            period,
            importance,
            quantum,
            threads,
            info_type,
        )
    }

    fn set_seq(&self, _: &Call<'_>, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        self.set_all(infos)
    }

    fn reset_seq(&self, _: &Call<'_>, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        self.set_all(infos)
    }

    fn replace_seq(&self, _: &Call<'_>, _: &[RtInfo]) -> Result<(), SchedulerSetError> {
        Err(not_implemented().into())
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
        _: &Call<'_>,
        handle: i32,
        dependency: i32,
        _: i32,
        _: DependencyTypeT,
        enabled: DependencyEnabledTypeT,
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        self.know([handle, dependency])?;
        match enabled {
            DependencyEnabledTypeT::DependencyDisabled => Err(not_implemented().into()),
            _ => Ok(()),
        }
    }

    fn set_dependency_enable_state_seq(
        &self,
        call: &Call<'_>,
        dependencies: &[DependencyInfo],
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        for it in dependencies {
            let (handle, on) = (it.rt_info, it.rt_info_depended_on);
            let (calls, kind) = (it.number_of_calls, it.dependency_type);
            self.set_dependency_enable_state(call, handle, on, calls, kind, it.enabled)?;
        }
        Ok(())
    }

    fn set_rt_info_enable_state(
        &self,
        _: &Call<'_>,
        handle: i32,
        enabled: RtInfoEnabledTypeT,
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        self.know([handle; 2])?;
        match enabled {
            RtInfoEnabledTypeT::RtInfoDisabled => Err(not_implemented().into()),
            _ => Ok(()),
        }
    }

    fn set_rt_info_enable_state_seq(
        &self,
        call: &Call<'_>,
        states: &[RtInfoEnableStatePair],
    ) -> Result<(), UnknownTaskOrSynchronizationFailureError> {
        for it in states {
            self.set_rt_info_enable_state(call, it.handle, it.enabled)?;
        }
        Ok(())
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
