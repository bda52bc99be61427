// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer that gets its events from a journal.

use orbium::lock::MutexGuard;

use super::offered_events::OfferedEvents;
use super::{Consumer, Phase};
use crate::core_channel::seen::Seen;
use crate::event::Event;
use crate::journal::{Delivered, Following};

impl Consumer {
    /// Starts to get its events from a journal, unless the connection has ended.
    pub(crate) fn follows(&self, following: Following) {
        let mut current = self.following();
        if self.is_connected() {
            *current = Some(following);
        }
    }

    pub(super) fn following(&self) -> MutexGuard<'_, Option<Following>> {
        self.following.lock()
    }

    /// Starts to pull events of a journal.
    pub(crate) fn is_offered_events(&self) {
        self.offered.get_or_init(OfferedEvents::default);
    }

    /// The events of a journal that wait for it, if it pulls them.
    pub(crate) fn offered_events(&self) -> Option<&OfferedEvents> {
        self.offered.get()
    }

    /// Pushes an event of a journal, and returns when the consumer has returned from it.
    pub(crate) fn push_stored(&self, event: &Event) -> Delivered {
        let phase = self.lock().phase.clone();
        let sink = match phase {
            Phase::Active(Some(sink)) => sink,
            Phase::Suspended(_) => return Delivered::Deferred,
            _ => return Delivered::Gone,
        };
        match sink.push(0, &[Seen::Pushed(event)]) {
            Ok(()) => {
                self.lock().counts.delivered += 1;
                Delivered::Accepted
            }
            Err(error) => error.into(),
        }
    }
}
