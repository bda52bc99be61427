// SPDX-License-Identifier: MIT OR Apache-2.0
//! The side of a consumer with a queue in a real-time event channel.

use std::sync::atomic::Ordering;
use std::time::Instant;

use orbium_event::{Rank, Subscription};

use super::{Consumer, Counts, Phase};
use crate::consumer::queue::Rules;
use crate::event::Event;

impl Consumer {
    /// Whether events of its channel wait in the queue here.
    pub(crate) fn has_own_queue(&self) -> bool {
        self.name.is_none() && self.has_own_queue.load(Ordering::Acquire)
    }

    /// Its events wait in the real-time channel.
    pub(crate) fn joins_core(&self, subscription: Subscription) {
        // It is connected once.
        let core = self.core.get_or_init(|| subscription);
        // It may have been suspended or ended as it was connected.
        let phase = self.lock().phase.clone();
        match phase {
            Phase::Unconnected | Phase::Active(_) => {}
            Phase::Suspended(_) => core.pause(),
            Phase::Ended => {
                core.disconnect();
            }
        }
    }

    /// Another consumer may connect: the channel has refused this one.
    pub(crate) fn unconnect(&self) {
        self.lock().phase = Phase::Unconnected;
    }

    /// Events that may be pushed together.
    pub(crate) fn batch(&self, rules: &Rules) -> usize {
        if self.is_sequence { rules.batch } else { 1 }
    }

    /// The rank of an event in the queue of the real-time channel.
    pub(crate) fn rank(&self, event: &Event, now: Instant) -> Rank {
        let overrides = self.mappings.overrides(&self.admin.mappings, event);
        let rules = self.lock().rules;
        rules.rank(event, &overrides, now)
    }

    /// What the real-time channel has counted, and how many sets wait there.
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
