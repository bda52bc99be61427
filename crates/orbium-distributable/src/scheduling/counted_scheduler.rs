// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheduler of an ORB, with a count of refusals by the host.

use std::sync::atomic::{AtomicU64, Ordering};

use orbium::lane::Scheduling;
use orbium_sys::{NativeThread, RealTimeError};

use crate::scheduling::parameter::SchedulingParameter;
use crate::scheduling::scheduler::Scheduler;

/// A scheduler, with the number of native priorities that the host has refused.
pub(crate) struct CountedScheduler {
    scheduler: Box<dyn Scheduler>,
    refused: AtomicU64,
}

impl CountedScheduler {
    pub(crate) fn new(scheduler: impl Scheduler) -> Self {
        Self {
            scheduler: Box::new(scheduler),
            refused: AtomicU64::new(0),
        }
    }

    pub(crate) fn discipline(&self) -> &'static str {
        self.scheduler.discipline()
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Sets the native priority of the calling thread outside of segments.
    pub(crate) fn set_base_priority(&self, base: Scheduling) {
        let set = NativeThread::current().set_scheduling(base);
        self.count(&set);
    }

    pub(crate) fn run(&self, thread: NativeThread, parameter: &SchedulingParameter) {
        let run = self.scheduler.run(thread, parameter);
        self.count(&run);
    }

    fn count(&self, set: &Result<(), RealTimeError>) {
        self.refused
            .fetch_add(set.is_err().into(), Ordering::Relaxed);
    }

    pub(crate) fn withdraw(&self, thread: NativeThread) {
        self.scheduler.withdraw(thread);
    }

    /// The first of the most urgent ones; a thread without parameter is the least urgent.
    pub(crate) fn most_urgent<T>(
        &self,
        all: impl IntoIterator<Item = T>,
        parameter: impl Fn(&T) -> Option<SchedulingParameter>,
    ) -> Option<T> {
        all.into_iter()
            .reduce(|best, it| match (parameter(&best), parameter(&it)) {
                (Some(first), Some(second)) if self.scheduler.is_more_urgent(&second, &first) => it,
                (None, Some(_)) => it,
                _ => best,
            })
    }
}
