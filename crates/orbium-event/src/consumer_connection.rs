// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer's connection to a channel.

use std::sync::{Arc, Weak};
use std::time::Instant;

use crate::delivery::consumer::Consumer;
use crate::delivery::queue::limits::QueueLimits;
use crate::engine::Engine;
use crate::peer::Sink;
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

    /// Replaces sink and pattern. What conjunctions have collected is forgotten.
    pub(crate) fn reconnect(&self, pattern: Pattern, sink: Arc<dyn Sink>, is_gateway: bool) {
        let now = Instant::now();
        self.consumer.reconnect(sink, pattern, is_gateway, now);
        if let Some(engine) = self.engine.upgrade() {
            engine.connected(&self.consumer);
        }
    }

    /// Drops events from now on, those included that wait for the consumer.
    pub fn suspend(&self) {
        self.consumer.suspend();
    }

    /// Ends [`suspend`](Self::suspend).
    pub fn resume(&self) {
        self.consumer.resume();
    }

    /// Pushes no events from now on: they wait, within the limits of the consumer's queue.
    pub fn pause(&self) {
        self.consumer.pause();
    }

    /// Ends [`pause`](Self::pause). With `Dispatching::Reactive` the calling thread pushes what waits.
    pub fn unpause(&self) {
        if let Some(engine) = self.engine.upgrade() {
            engine.unpause(&self.consumer);
        }
    }

    /// Changes the limits of the consumer's queue, and how many events may be pushed together. What waits is delivered in the new
    /// order; what exceeds the new limits is discarded with the next event.
    pub fn set_queue(&self, limits: QueueLimits, batch: usize) {
        self.consumer.set_queue(limits, batch);
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

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.consumer.id)
            .finish_non_exhaustive()
    }
}
