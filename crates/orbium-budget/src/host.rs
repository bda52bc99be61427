// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host interface: the clock, the processor times of threads and their scheduling.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use orbium_sys::{NativeThread, Scheduling};

/// The clock, the processor times and the schedulings of threads; replaced in tests.
pub(crate) trait Host {
    /// A monotonic clock.
    fn now(&self) -> Duration;

    /// The processor time of a thread; none if it has ended.
    fn processor_time(&self, thread: NativeThread) -> Option<Duration>;

    /// The scheduling of a thread; none if it has ended, or has a reservation.
    fn scheduling(&self, thread: NativeThread) -> Option<Scheduling>;

    /// Sets the scheduling of a thread; returns whether the system accepted it.
    fn set_scheduling(&self, thread: NativeThread, scheduling: Scheduling) -> bool;
}

/// The system.
pub(crate) struct System;

impl Host for System {
    fn now(&self) -> Duration {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        ORIGIN.get_or_init(Instant::now).elapsed()
    }

    fn processor_time(&self, thread: NativeThread) -> Option<Duration> {
        thread.processor_time().ok()
    }

    fn scheduling(&self, thread: NativeThread) -> Option<Scheduling> {
        thread.scheduling().ok()
    }

    fn set_scheduling(&self, thread: NativeThread, scheduling: Scheduling) -> bool {
        thread.set_scheduling(scheduling).is_ok()
    }
}
