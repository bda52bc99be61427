// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pull operations of a consumer.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Consumer;
use super::reasons::PULLED;
use crate::delivery::pull_error::PullError;
use crate::delivery::queue::EventSet;
use crate::event::SharedEvent;

impl Consumer {
    /// Takes up to so many waiting events, or those of one set, and waits for the first one until
    /// `until`. Returns also the number of events that were dropped since the previous pull.
    pub(crate) fn pull(
        &self,
        most: usize,
        until: Instant,
    ) -> Result<(Vec<SharedEvent>, u64), PullError> {
        if self.held.load(Ordering::Acquire) & PULLED == 0 {
            return Err(PullError::Pushed);
        }
        let mut state = self.lock();
        loop {
            if self.is_closed() {
                return Err(PullError::Disconnected);
            }
            let set = EventSet::joined(most, || self.queue.pop(&mut state.behind));
            if let Some(set) = set {
                self.counts.delivered.add(set.len());
                let dropped = self.unreported();
                self.counts.reported.add(dropped);
                return Ok((set.into_events(), dropped));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PullError::TimedOut);
            }
            state.pulling += 1;
            (state, _) = self.arrived.wait_timeout(state, left);
            state.pulling -= 1;
        }
    }

    /// Discards a waiting event; false if there is none.
    pub(crate) fn discard_one(&self) -> bool {
        let discarded = self.queue.discard_one(&mut self.lock().behind);
        self.counts.discarded.add(discarded);
        discarded > 0
    }
}
