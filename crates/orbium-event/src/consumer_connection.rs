// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer's connection to a channel.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Instant;

use crate::config::ConnectError;
use crate::delivery::consumer::Consumer;
use crate::delivery::pull_error::PullError;
use crate::delivery::queue::limits::QueueLimits;
use crate::engine::Engine;
use crate::event::SharedEvent;
use crate::peer::Sink;
use crate::selection::Batches;
use crate::statistics::ConsumerStatistics;
use crate::subscription::pattern::Pattern;

/// A consumer's connection to a channel. Dropping it disconnects the consumer.
#[must_use = "dropping it disconnects the consumer"]
pub struct Subscription {
    engine: Weak<Engine>,
    consumer: Arc<Consumer>,
}

impl Subscription {
    pub(crate) fn new(engine: &Arc<Engine>, consumer: Arc<Consumer>) -> Self {
        Self {
            engine: Arc::downgrade(engine),
            consumer,
        }
    }

    pub(crate) fn consumer(&self) -> &Arc<Consumer> {
        &self.consumer
    }

    /// Replaces sink and pattern. Events that conjunctions have collected are discarded.
    pub(crate) fn reconnect(&self, pattern: Pattern, sink: Arc<dyn Sink>, is_gateway: bool) {
        let now = Instant::now();
        self.consumer.reconnect(sink, pattern, is_gateway, now);
        if let Some(engine) = self.engine.upgrade() {
            engine.connected(&self.consumer);
        }
    }

    /// Drops events from now on, including those that wait for the consumer.
    pub fn suspend(&self) {
        self.consumer.suspend();
    }

    /// Ends [`suspend`](Self::suspend).
    pub fn resume(&self) {
        self.consumer.resume();
    }

    /// Suspends pushes: events wait, within the limits of the consumer's queue.
    pub fn pause(&self) {
        self.consumer.pause();
    }

    /// Ends [`pause`](Self::pause). With `Dispatching::Reactive` the calling thread pushes the
    /// waiting events.
    pub fn unpause(&self) {
        if let Some(engine) = self.engine.upgrade() {
            engine.unpause(&self.consumer);
        }
    }

    /// Changes the limits of the consumer's queue, and the batches. Waiting events are delivered in
    /// the new order; those beyond the new limits are discarded with the next event.
    ///
    /// # Errors
    /// [`ConnectError::NoThread`]: batches cannot be paced, and the queue is unchanged.
    pub fn set_queue(&self, limits: QueueLimits, batches: Batches) -> Result<(), ConnectError> {
        let Some(engine) = self.engine.upgrade() else {
            return Ok(());
        };
        if !batches.pacing.is_zero() {
            Engine::start_timers(&engine)?;
        }
        let action = self.consumer.set_queue(limits, batches);
        engine.act(&self.consumer, action);
        Ok(())
    }

    /// Takes up to `most` waiting events of a consumer that pulls, or those of one set, and waits
    /// for the first one until `until`.
    ///
    /// # Errors
    /// [`PullError`].
    pub fn pull(&self, most: usize, until: Instant) -> Result<Vec<SharedEvent>, PullError> {
        let (events, _) = self.pull_counting(most, until)?;
        Ok(events)
    }

    /// As [`pull`](Self::pull), with the number of events for the consumer that were dropped since
    /// the previous pull: its queue was full, it had failed, or they had expired.
    ///
    /// # Errors
    /// [`PullError`].
    pub fn pull_counting(
        &self,
        most: usize,
        until: Instant,
    ) -> Result<(Vec<SharedEvent>, u64), PullError> {
        self.consumer.pull(most, until)
    }

    /// Discards a waiting event: the one that the policy of the queue discards for the most urgent
    /// one. False if none waits.
    pub fn discard_one(&self) -> bool {
        self.consumer.discard_one()
    }

    /// Disconnects the consumer; false if it was disconnected already.
    pub fn disconnect(&self) -> bool {
        let engine = self.engine.upgrade();
        engine.is_some_and(|it| it.remove_consumer(&self.consumer))
    }

    /// The counts of the channel for this consumer.
    #[must_use]
    pub fn statistics(&self) -> ConsumerStatistics {
        self.consumer.statistics()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.disconnect();
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.consumer.id)
            .finish_non_exhaustive()
    }
}
