// SPDX-License-Identifier: MIT OR Apache-2.0
//! State of pulling from a supplier: active, suspended or ended.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::consumer::SuspendError;

#[derive(Default)]
struct State {
    is_suspended: bool,
    has_ended: bool,
}

/// Whether a supplier is to be pulled from.
#[derive(Default)]
pub(crate) struct Pulling {
    state: Mutex<State>,
    changed: Condvar,
}

impl Pulling {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Suspends or resumes.
    pub(crate) fn suspend(&self, suspended: bool) -> Result<(), SuspendError> {
        let mut state = self.lock();
        if state.has_ended {
            return Err(SuspendError::NotConnected);
        }
        if state.is_suspended == suspended {
            return Err(SuspendError::Already);
        }
        state.is_suspended = suspended;
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    pub(crate) fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Waits while suspended; false when pulling has ended.
    pub(crate) fn goes_on(&self) -> bool {
        let state = self.lock();
        let paused = |state: &mut State| state.is_suspended && !state.has_ended;
        let waited = self.changed.wait_while(state, paused);
        !waited.unwrap_or_else(PoisonError::into_inner).has_ended
    }

    /// Waits for that time, or until pulling ends.
    pub(crate) fn pause(&self, time: Duration) {
        let state = self.lock();
        let going_on = |state: &mut State| !state.has_ended;
        // The caller checks the state.
        let _ = self.changed.wait_timeout_while(state, time, going_on);
    }
}
