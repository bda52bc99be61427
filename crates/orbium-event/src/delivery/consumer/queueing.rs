// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of a consumer that has more than a pattern: its choice among events, its limits and its pauses.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::serving::Joined;
use super::{Action, Consumer};
use crate::config::Dispatching;
use crate::delivery::queue::limits::{QueueLimits, Rank};
use crate::event::SharedEvent;
use crate::selection::Selection;

impl Action {
    /// What remains to be done with two events of a set. What the first one has begun goes on with the second.
    fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Disconnect, _) | (_, Self::Disconnect) => Self::Disconnect,
            (Self::Nothing, next) => next,
            (action, _) => action,
        }
    }
}

/// The choice of a closure of the program, which may panic: then the consumer does not get the event.
fn select(selection: &dyn Selection, event: &SharedEvent, now: Instant) -> Option<Rank> {
    let selected = catch_unwind(AssertUnwindSafe(|| selection.select(event, now)));
    selected.unwrap_or(None)
}

impl Consumer {
    /// Offers a set of events to the filter, one by one where the consumer chooses among them.
    pub(crate) fn offer(&self, events: &[SharedEvent], now: Instant) -> Action {
        match &self.selection {
            Some(selection) => self.offer_selected(&**selection, events, now),
            None => {
                let state = &mut self.lock();
                self.offer_to(state, events, (None, Rank::default()), now)
            }
        }
    }

    fn offer_selected(
        &self,
        selection: &dyn Selection,
        events: &[SharedEvent],
        now: Instant,
    ) -> Action {
        let mut action = Action::Nothing;
        for event in events {
            if !self.is_closed()
                && let Some(rank) = select(selection, event, now)
            {
                let event = slice::from_ref(event);
                let next = self.offer_to(&mut self.lock(), event, (None, rank), now);
                action = action.and(next);
            }
        }
        action
    }

    /// Other limits of the queue, and another number of events that may be pushed together.
    pub(crate) fn set_queue(&self, limits: QueueLimits, batch: usize) {
        self.queue.set_limits(&mut self.lock().behind, limits);
        self.batch.store(batch, Ordering::Relaxed);
    }

    /// Events that may be pushed together.
    pub(super) fn batch(&self) -> usize {
        self.batch.load(Ordering::Relaxed)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Acquire)
    }

    /// Pushes nothing from now on. Events wait.
    pub(crate) fn pause(&self) {
        let mut state = self.lock();
        self.is_paused.store(true, Ordering::Release);
        self.queue.hold(&mut state.behind, true);
    }

    /// Ends a pause; what remains to be done with what waits.
    pub(crate) fn unpause(&self) -> Action {
        let mut state = self.lock();
        if !self.is_paused.swap(false, Ordering::AcqRel) {
            return Action::Nothing;
        }
        self.queue.hold(&mut state.behind, false);
        if self.queue.len() == 0 {
            return Action::Nothing;
        }
        if self.place.is_none() && self.dispatching != Dispatching::Reactive {
            return self.notify(&state);
        }
        // A thread that serves still, from before the pause, looks for more now.
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

    /// There is nothing to serve after all.
    fn idle(&self) -> Action {
        self.serving.remain(0);
        Action::Nothing
    }
}
