// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clock that periodic tasks and dispatchers read.

use std::thread;
use std::time::{Duration, Instant};

/// A clock. Time is what has passed since an origin of its own.
pub trait Clock: Send + Sync + 'static {
    /// The time.
    fn now(&self) -> Duration;

    /// Blocks the calling thread for at most that long; less if it is unparked or for no reason.
    fn park(&self, length: Duration);
}

/// The monotonic clock of the host, from when this value was made.
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
