// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a context's threads that the host has to permit.

use orbium_sys::{RealTimeError, Scheduling, bind_this_thread};

/// Scheduling and processors of the threads of a context. A thread retains its own where there is
/// none.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadSetup {
    /// Scheduling class and native priority.
    pub(crate) scheduling: Option<Scheduling>,
    /// The processors on which they run.
    pub(crate) processors: Option<Vec<usize>>,
    /// Whether threads start without the settings that the host refuses.
    pub(crate) soft: bool,
}

impl ThreadSetup {
    /// Applies the settings to the calling thread, as far as the host permits.
    ///
    /// # Errors
    /// The first refusal of the host.
    pub(crate) fn apply(&self) -> Result<(), RealTimeError> {
        let processors = self.processors.as_deref();
        let bound = processors.map_or(Ok(()), bind_this_thread);
        let scheduling = self.scheduling;
        let scheduled = scheduling.map_or(Ok(()), Scheduling::apply_to_this_thread);
        bound.and(scheduled)
    }
}
