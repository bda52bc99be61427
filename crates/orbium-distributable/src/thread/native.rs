// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native threads: their processor time, and their scheduling before they ran distributable ones.

use std::time::Duration;

use orbium::lane::Scheduling;
use orbium_sys::NativeThread;

/// The processor time of a native thread; zero if the host does not provide it.
pub(crate) fn processor_time(thread: NativeThread) -> Duration {
    thread.processor_time().unwrap_or_default()
}

/// The scheduling of a native thread, to be restored.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub(crate) struct Native(Option<Scheduling>);

impl Native {
    pub(crate) fn of_this_thread() -> Self {
        Self(NativeThread::current().scheduling().ok())
    }

    /// Restores it to its thread.
    pub(crate) fn restore(self, thread: NativeThread) {
        if let Some(own) = self.0
            && thread.scheduling().ok() != self.0
        {
            // It had this before, and lowering a priority needs no permission.
            let _ = thread.set_scheduling(own);
        }
    }
}
