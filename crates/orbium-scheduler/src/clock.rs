// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clock of periodic tasks and dispatchers.

use std::thread;
use std::time::{Duration, Instant};

/// A clock. Times are relative to an origin of the clock.
pub trait Clock: Send + Sync + 'static {
    /// The time.
    fn now(&self) -> Duration;

    /// Blocks the calling thread for at most that long; less if it is unparked or after a spurious
    /// wake-up.
    fn park(&self, length: Duration);
}

/// The monotonic clock of the host, from the creation of this value.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock(Instant);

impl Default for MonotonicClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn park(&self, length: Duration) {
        thread::park_timeout(length);
    }
}
