// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pushes with the number of events dropped for the consumer since the previous one; likewise for
//! pulls.

use super::Consumer;
use crate::delivery::health::Health;
use crate::delivery::queue::EventSet;
use crate::peer::{Sink, push};

impl Consumer {
    /// Pushes a set, and returns the health after it. One thread at a time.
    pub(crate) fn deliver(&self, sink: &dyn Sink, set: &EventSet) -> Health {
        let dropped = self.unreported();
        let outcome = push(sink, dropped, set.events());
        if outcome.is_ok() && dropped > 0 {
            self.counts.reported.add(dropped);
        }
        self.pushed(set.len(), outcome)
    }

    /// Dropped events of which the consumer has not been notified.
    pub(super) fn unreported(&self) -> u64 {
        let counts = &self.counts;
        let dropped = counts.discarded.count() + counts.lost.count() + self.queue.expired();
        dropped.saturating_sub(counts.reported.count())
    }
}
