// SPDX-License-Identifier: MIT OR Apache-2.0
//! What interceptors, the control object and handles share.

use std::sync::atomic::{AtomicU64, Ordering};

use orbium_sys::NativeThread;

use crate::level;
use crate::registry::Registry;
use crate::scheduler::Scheduler;

/// The scheduler of an ORB, and the distributable threads that are here.
pub(crate) struct Shared {
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) registry: Registry,
    pub(crate) refused: AtomicU64,
}

impl Shared {
    /// A scheduling point: the calling thread runs its innermost segment, or none.
    pub(crate) fn reschedule(&self) {
        let parameter = level::with(|level| level.segments.last()?.effective());
        let native = NativeThread::current();
        match parameter {
            Some(parameter) => {
                let run = self.scheduler.run(native, &parameter);
                self.refused
                    .fetch_add(run.is_err().into(), Ordering::Relaxed);
            }
            None => self.scheduler.withdraw(native),
        }
    }
}
