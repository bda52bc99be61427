// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets for which the queue of a consumer has no space, where the supplier's thread waits for
//! space.

use std::time::Instant;

use super::blocked::Blocked;
use super::{Action, Consumer, State};
use crate::delivery::queue::EventSet;

impl Consumer {
    /// Waits for space and puts a set that arrived at `arrived`, or discards it; returns the
    /// remaining action. Called without the lock.
    pub(super) fn put_blocked(&self, mut blocked: Blocked, arrived: Instant) -> Action {
        let by = arrived.checked_add(blocked.time);
        loop {
            let found = self.queue.wait_for_space(&blocked.limits, &blocked.set, by);
            let mut state = self.lock();
            if !found {
                return self.discard_blocked(&blocked);
            }
            // The state may have changed while the thread waited.
            if !self.takes(&state, &blocked.set) {
                return Action::Nothing;
            }
            // The thread that made space may have left since.
            match self.push_or_enqueue(&mut state, (blocked.set, blocked.rank), arrived) {
                Ok(action) => return action,
                // Another thread has taken the space.
                Err(again) => blocked = again,
            }
        }
    }

    /// Discards a set for which the thread does not wait.
    pub(super) fn discard_blocked(&self, blocked: &Blocked) -> Action {
        self.counts.discarded.add(blocked.set.len());
        Action::Nothing
    }

    /// Whether a set that has passed the filter is to be pushed; otherwise it is counted as
    /// dropped.
    pub(super) fn takes(&self, state: &State, set: &EventSet) -> bool {
        if self.is_closed() {
            return false;
        }
        if state.is_suspended {
            self.counts.suspended.add(set.len());
            return false;
        }
        if !state.health.is_well() && !self.waits_for_suspect {
            self.counts.lost.add(set.len());
            return false;
        }
        true
    }
}
