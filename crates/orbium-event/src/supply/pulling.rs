// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pulling from a supplier: its state, and the loop of its thread.

use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex, MutexGuard};

use crate::delivery::health::{DeliveryError, FailurePolicy, Health};

/// Interval between two pulls from a supplier that has failed.
const RETRY_PERIOD: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
struct State {
    is_suspended: bool,
    has_ended: bool,
}

/// State of pulling from a supplier, for channels of this crate and others: active, suspended or
/// ended.
#[derive(Debug, Default)]
pub struct Pulling {
    state: Mutex<State>,
    changed: Condvar,
}

impl Pulling {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Suspends or resumes; false if it is in that state already, `None` once pulling has ended.
    pub fn suspend(&self, suspended: bool) -> Option<bool> {
        let mut state = self.lock();
        if state.has_ended {
            return None;
        }
        let changes = state.is_suspended != suspended;
        state.is_suspended = suspended;
        drop(state);
        self.changed.notify_all();
        Some(changes)
    }

    /// Whether pulling is suspended.
    pub fn is_suspended(&self) -> bool {
        self.lock().is_suspended
    }

    /// Ends pulling permanently. A pull in progress returns first.
    pub fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Calls `pull` repeatedly, with pauses of the time that it returns and while pulling is
    /// suspended, until pulling ends or `pull` returns `None`: false. True if the supplier is to be
    /// disconnected by the policy.
    pub fn run(
        &self,
        policy: &FailurePolicy,
        mut pull: impl FnMut() -> Option<Result<Duration, DeliveryError>>,
    ) -> bool {
        let mut health = Health::Well;
        while self.goes_on() {
            let Some(outcome) = pull() else {
                return false;
            };
            health = health.after(outcome.map(drop), policy, Instant::now());
            if health == Health::Gone {
                return true;
            }
            self.pause(outcome.unwrap_or(RETRY_PERIOD));
        }
        false
    }

    /// Waits while suspended; false when pulling has ended.
    fn goes_on(&self) -> bool {
        let state = self.lock();
        let paused = |state: &mut State| state.is_suspended && !state.has_ended;
        !self.changed.wait_while(state, paused).has_ended
    }

    /// Waits for that time, or until pulling ends.
    fn pause(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        let state = self.lock();
        let going_on = |state: &mut State| !state.has_ended;
        // The caller checks the state.
        let _ = self.changed.wait_timeout_while(state, time, going_on);
    }
}
