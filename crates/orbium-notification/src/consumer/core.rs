// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection of a consumer to the event channel.

use std::time::Instant;

use orbium_event::{Batches, PullError, Rank, SharedEvent, Subscription};

use super::consumer_counts::Counts;
use super::{Consumer, Phase};
use crate::consumer::rules::Rules;
use crate::event::Event;

impl Consumer {
    /// Stores its connection to the event channel.
    pub(crate) fn joins_core(&self, subscription: Subscription) {
        // It is connected once.
        let core = self.core.get_or_init(|| subscription);
        // It may have been suspended or ended while it was being connected.
        let phase = self.lock().phase.clone();
        match phase {
            Phase::Unconnected | Phase::Active(_) => {}
            Phase::Suspended(_) => core.pause(),
            Phase::Ended => {
                core.disconnect();
            }
        }
    }

    /// Returns to the unconnected phase, after the channel has refused the consumer.
    pub(crate) fn unconnect(&self) {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Ended) {
            state.phase = Phase::Unconnected;
        }
    }

    /// The batches of its events.
    pub(crate) fn batches(&self, rules: &Rules) -> Batches {
        if self.kind.is_sequence() {
            rules.batches()
        } else {
            Batches::default()
        }
    }

    /// Takes up to `most` events of a pull consumer, and waits for the first one until `until`;
    /// with the number of those that were dropped before.
    pub(crate) fn take(
        &self,
        most: usize,
        until: Instant,
    ) -> Result<(Vec<SharedEvent>, u64), PullError> {
        let core = self.core.get().ok_or(PullError::Disconnected)?;
        core.pull_counting(most, until)
    }

    /// Discards one waiting event; false if there is none.
    pub(crate) fn discard_one(&self) -> bool {
        self.core.get().is_some_and(Subscription::discard_one)
    }

    /// The rank of an event in the queue.
    pub(crate) fn rank(&self, event: &Event, now: Instant) -> Rank {
        let overrides = self.mappings.overrides(&self.admin.mappings, event);
        let rules = self.lock().rules;
        rules.rank(event, &overrides, now)
    }

    /// The counts of the event channel, and the number of waiting events there.
    pub(super) fn core_counts(&self) -> Option<(Counts, usize)> {
        let counted = self.core.get()?.statistics();
        let counts = Counts {
            delivered: counted.delivered,
            discarded: counted.discarded,
            expired: counted.expired,
            lost: counted.lost,
        };
        Some((counts, counted.queued))
    }
}
