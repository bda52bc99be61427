// SPDX-License-Identifier: MIT OR Apache-2.0
//! A clock that passes when a task waits or says that it works.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium_scheduler::Clock;

pub(crate) const MS: Duration = Duration::from_millis(1);

#[derive(Clone, Default)]
pub(crate) struct VirtualClock(Arc<Mutex<Duration>>);

impl VirtualClock {
    pub(crate) fn advance(&self, length: Duration) {
        *self.0.lock().unwrap() += length;
    }

    pub(crate) fn set(&self, now: Duration) {
        *self.0.lock().unwrap() = now;
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn park(&self, length: Duration) {
        self.advance(length);
    }
}
