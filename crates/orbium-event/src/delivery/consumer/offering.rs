// SPDX-License-Identifier: MIT OR Apache-2.0
//! Offering events to a consumer with a selection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::time::Instant;

use super::blocked::Blocked;
use super::{Action, Consumer};
use crate::delivery::queue::limits::Rank;
use crate::event::SharedEvent;
use crate::selection::Selection;

/// Applies the selection, a closure of the program that may panic: then the consumer does not get
/// the event.
fn select(selection: &dyn Selection, event: &SharedEvent, now: Instant) -> Option<Rank> {
    let selected = catch_unwind(AssertUnwindSafe(|| selection.select(event, now)));
    selected.unwrap_or(None)
}

impl Consumer {
    /// Whether its selection may call another process.
    pub(crate) fn selects_slowly(&self) -> bool {
        self.selection.as_ref().is_some_and(|it| it.is_slow())
    }

    /// Offers a set of events to the filter, one by one if the consumer has a selection, and calls
    /// `act` with the remaining actions. The thread waits for space if that is the policy of the
    /// queue.
    pub(crate) fn offer(&self, events: &[SharedEvent], now: Instant, act: impl FnMut(Action)) {
        self.offer_or(events, now, act, |blocked| self.put_blocked(blocked, now));
    }

    /// The same without waiting for space.
    pub(crate) fn replay(&self, events: &[SharedEvent], now: Instant, act: impl FnMut(Action)) {
        self.offer_or(events, now, act, |blocked| self.discard_blocked(&blocked));
    }

    fn offer_or(
        &self,
        events: &[SharedEvent],
        now: Instant,
        mut act: impl FnMut(Action),
        put: impl Fn(Blocked) -> Action,
    ) {
        if !self.leaf.may_pass(events) {
            return;
        }
        let Some(selection) = &self.selection else {
            let offered = self.offer_to(&mut self.lock(), events, (None, Rank::default()), now);
            return act(offered.unwrap_or_else(&put));
        };
        for event in events {
            if !self.is_closed()
                && let Some(rank) = select(&**selection, event, now)
            {
                let event = slice::from_ref(event);
                let offered = self.offer_to(&mut self.lock(), event, (None, rank), now);
                act(offered.unwrap_or_else(&put));
            }
        }
    }
}
