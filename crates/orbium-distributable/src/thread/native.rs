// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native threads: their processor time, and their scheduling before they ran distributable ones.

use std::time::Duration;

use orbium::lane::{Reservation, Scheduling};
use orbium_sys::NativeThread;

/// The processor time of a native thread; zero if the host does not provide it.
pub(crate) fn processor_time(thread: NativeThread) -> Duration {
    thread.processor_time().unwrap_or_default()
}

/// The scheduling of a native thread, to be restored.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub(crate) enum Native {
    /// The host does not provide it.
    #[default]
    Unknown,
    /// A class and priority.
    Scheduled(Scheduling),
    /// A reservation, which the thread keeps in each segment.
    Reserved,
}

impl Native {
    pub(crate) fn of_this_thread() -> Self {
        match NativeThread::current().scheduling() {
            Ok(own) => Self::Scheduled(own),
            Err(_) => match Reservation::of_this_thread() {
                Ok(Some(_)) => Self::Reserved,
                _ => Self::Unknown,
            },
        }
    }

    /// Restores it to its thread.
    pub(crate) fn restore(self, thread: NativeThread) {
        if let Self::Scheduled(own) = self
            && thread.scheduling().ok() != Some(own)
        {
            // It had this before, and lowering a priority needs no permission.
            let _ = thread.set_scheduling(own);
        }
    }

    pub(crate) fn is_reserved(self) -> bool {
        matches!(self, Self::Reserved)
    }
}
