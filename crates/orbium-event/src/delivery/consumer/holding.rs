// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that wait in the queue of a consumer though it is idle, until no reason for that remains.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::reasons::{PACED, PAUSED, PULLED, SUSPECT};
use super::serving::Joined;
use super::{Action, Consumer, State};
use crate::config::Dispatching;
use crate::delivery::queue::Behind;
use crate::delivery::queue::limits::QueueLimits;
use crate::selection::Batches;

impl Consumer {
    /// Replaces limits and batches; returns the action for the waiting events.
    pub(crate) fn set_queue(&self, limits: QueueLimits, batches: Batches) -> Action {
        let mut state = self.lock();
        self.queue.set_limits(&mut state.behind, limits);
        state.filter.set_bytes(limits.bytes);
        self.batch.store(batches.events, Ordering::Relaxed);
        state.pacing = batches.pacing;
        self.is_paced
            .store(!batches.pacing.is_zero(), Ordering::Relaxed);
        if batches.pacing.is_zero() {
            return self.release(&mut state, PACED);
        }
        self.hold(&mut state.behind, PACED);
        self.pace(&mut state)
    }

    /// Maximum number of events in a batch.
    pub(super) fn batch(&self) -> usize {
        self.batch.load(Ordering::Relaxed)
    }

    /// Whether incomplete batches wait.
    pub(super) fn is_paced(&self) -> bool {
        self.is_paced.load(Ordering::Relaxed)
    }

    /// Whether pushes are held.
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire) != 0
    }

    fn is_held_by(&self, reason: u8) -> bool {
        self.held.load(Ordering::Acquire) & reason != 0
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_held_by(PAUSED)
    }

    /// Suspends pushes. Events wait.
    pub(crate) fn pause(&self) {
        self.hold(&mut self.lock().behind, PAUSED);
    }

    /// Ends a pause; returns the action for the waiting events.
    pub(crate) fn unpause(&self) -> Action {
        self.release(&mut self.lock(), PAUSED)
    }

    /// The action after it was served, or has answered a ping.
    pub(crate) fn served(&self) -> Action {
        if !self.is_paced() && !self.is_held_by(SUSPECT) {
            return Action::Nothing;
        }
        let mut state = self.lock();
        if state.health.is_well()
            && let action @ (Action::Notify(_) | Action::Push(..) | Action::Submit(..)) =
                self.release(&mut state, SUSPECT)
        {
            return action;
        }
        self.pace(&mut state)
    }

    /// The action once a batch may have waited for its interval.
    pub(crate) fn interval_elapsed(&self, now: Instant) -> Action {
        let mut state = self.lock();
        state.timed = state.timed.filter(|it| *it > now);
        match self.due(&mut state) {
            Some(due) if due <= now && self.is_held_by(PACED) => self.release(&mut state, PACED),
            _ => self.pace(&mut state),
        }
    }

    pub(super) fn hold(&self, behind: &mut Behind, reason: u8) {
        self.held.fetch_or(reason, Ordering::AcqRel);
        self.queue.hold(behind, true);
    }

    /// Holds the rest of the queue after a batch if it is incomplete; returns whether it does.
    pub(super) fn hold_rest(&self, behind: &mut Behind) -> bool {
        let waits = self.is_paced() && self.queue.len() < self.batch();
        if waits {
            self.hold(behind, PACED);
        }
        waits
    }

    /// Discards all waiting events, and returns their number.
    pub(super) fn clear(&self, behind: &mut Behind) -> u64 {
        let discarded = self.queue.clear(behind);
        self.hold_rest(behind);
        discarded
    }

    /// The action for a set that was put while pushes are held.
    pub(super) fn put_while_held(&self, state: &mut State) -> Action {
        if self.is_held_by(PULLED) && state.pulling > 0 {
            self.arrived.notify_one();
        }
        self.pace(state)
    }

    /// The time at which the waiting batch has waited for its interval.
    fn due(&self, state: &mut State) -> Option<Instant> {
        let oldest = self.queue.oldest(&mut state.behind)?;
        oldest.checked_add(state.pacing)
    }

    /// The action for a waiting batch: it is complete, or a timer ends its interval.
    fn pace(&self, state: &mut State) -> Action {
        if !self.is_held_by(PACED) || self.queue.len() == 0 {
            return Action::Nothing;
        }
        if self.queue.len() >= self.batch() {
            return self.release(state, PACED);
        }
        match self.due(state) {
            Some(due) if state.timed.is_none_or(|it| due < it) => {
                Action::Pace(due, state.timed.replace(due))
            }
            _ => Action::Nothing,
        }
    }

    /// Removes one reason to wait; returns the action for the waiting events, if it was the only
    /// one.
    fn release(&self, state: &mut State, reason: u8) -> Action {
        let before = self.held.fetch_and(!reason, Ordering::AcqRel);
        if before != reason {
            return Action::Nothing;
        }
        self.queue.hold(&mut state.behind, false);
        if self.queue.len() == 0 {
            self.hold_rest(&mut state.behind);
            return Action::Nothing;
        }
        if self.place.is_none() && self.dispatching != Dispatching::Reactive {
            return self.notify(state);
        }
        // A thread that is still serving checks for more now.
        if self.serving.join() == Joined::Later {
            return Action::Nothing;
        }
        self.serving.remain(self.queue.len());
        match (self.place, self.queue.next_arrived(&mut state.behind)) {
            (Some(place), Some(arrived)) => Action::Submit(place, arrived),
            (None, Some(_)) => match self.take_behind(&mut state.behind) {
                Some(set) => Action::Push(self.sink(), set),
                None => self.idle(),
            },
            (_, None) => self.idle(),
        }
    }

    /// Ends serving: there is no waiting event after all.
    fn idle(&self) -> Action {
        self.serving.remain(0);
        Action::Nothing
    }
}
