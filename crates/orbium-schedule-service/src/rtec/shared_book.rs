// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of the book by the interface of TAO's releases: validated before any is applied.

use orbium_sched::{EnableState, Handle, SchedError, Schedule, Timing};

use crate::book::{Fault, State};
use crate::convert;
use crate::rtec_convert::{idl_configs, idl_info, not_computed, not_set, timing, unknown_task};
use crate::rtec_scheduler::{
    ConfigInfo, RtInfo, SchedulerComputeSchedulingError, SchedulerSetError, TaskCountMismatch,
    UnknownTaskOrSynchronizationFailureError,
};
use crate::servant::Servant;

impl Servant {
    /// Applies timings to their operations: all of them, or none if one is unknown or invalid.
    pub(super) fn with_timings(
        &self,
        infos: &[RtInfo],
        apply: impl FnOnce(&mut State, &[(Handle, Timing)]) -> Result<(), Fault>,
    ) -> Result<(), SchedulerSetError> {
        let mut state = self.book.lock();
        let mut all = Vec::with_capacity(infos.len());
        for info in infos {
            let handle = convert::handle(info.handle);
            let known = state.repository.get(handle);
            known.map_err(|error| not_set(error.into()))?;
            all.push((handle, timing(info)?));
        }
        apply(&mut state, &all).map_err(not_set)
    }

    pub(super) fn reset_all(&self, infos: &[RtInfo]) -> Result<(), SchedulerSetError> {
        self.with_timings(infos, |state, all| {
            for (handle, _) in all {
                let info = state.repository.get(*handle)?;
                if info.state == EnableState::NonVolatile {
                    return Err(SchedError::UnknownTask(info.entry_point.clone()).into());
                }
            }
            state.set_all(all)
        })
    }

    /// Computes the schedule, by the strategy of the service, of which every operation is to be part.
    pub(super) fn compute_all(
        &self,
        state: &mut State,
        range: (i32, i32),
    ) -> Result<Schedule, SchedulerComputeSchedulingError> {
        self.require_privilege()?;
        let options = state.options_within(range);
        let schedule = state.schedule(&options).map_err(not_computed)?.clone();
        if state.are_assigned() {
            Ok(schedule)
        } else {
            Err(TaskCountMismatch {}.into())
        }
    }

    /// Checks that both operations are registered.
    pub(super) fn know(
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

    pub(super) fn all_infos(&self) -> Vec<RtInfo> {
        self.book
            .lock()
            .repository
            .infos()
            .iter()
            .map(idl_info)
            .collect()
    }

    pub(super) fn all_configs(&self) -> Option<Vec<ConfigInfo>> {
        self.book.lock().schedule.as_ref().map(idl_configs)
    }
}
