// SPDX-License-Identifier: MIT OR Apache-2.0
//! A consumer's selection of events, and its queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::delivery::health::FailurePolicy;
use crate::delivery::queue::limits::{QueueLimits, Rank};
use crate::event::SharedEvent;

/// A consumer's selection of events by their content, before its pattern and its queue.
pub trait Selection: Send + Sync + 'static {
    /// The rank of an event in the queue of the consumer; `None` if the consumer does not get it.
    /// Called by the thread of the supplier, without a lock of the channel unless it
    /// [retains](crate::Retention) events: it returns in bounded time, and calls no channel.
    fn select(&self, event: &SharedEvent, now: Instant) -> Option<Rank>;

    /// Whether it may call another process: then the event is offered to the other consumers first,
    /// and no lock of the channel is held. No by default.
    fn is_slow(&self) -> bool {
        false
    }
}

impl<F: Fn(&SharedEvent, Instant) -> Option<Rank> + Send + Sync + 'static> Selection for F {
    fn select(&self, event: &SharedEvent, now: Instant) -> Option<Rank> {
        self(event, now)
    }
}

/// The events that are pushed to a consumer together. Sets that its pattern completes are not
/// divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// Maximum number of events in a batch; 1 by default.
    pub events: usize,
    /// The time for which an incomplete batch waits, from the arrival of its first event; zero by
    /// default: available events are pushed.
    pub pacing: Duration,
}

impl Default for Batches {
    fn default() -> Self {
        Self {
            events: 1,
            pacing: Duration::ZERO,
        }
    }
}

/// Options of a consumer in addition to its pattern, for
/// [`Channel::subscribe_with`](crate::Channel::subscribe_with).
#[derive(Clone, Default)]
pub struct ConsumerOptions {
    /// The handle of its operation in the schedule of the channel, or 0; 0 by default.
    pub rt_info: i32,
    /// Whether another process runs the operation; no by default.
    pub is_remote: bool,
    /// Its selection of events; all of them without rank by default.
    pub selection: Option<Arc<dyn Selection>>,
    /// The limits of its queue; those of the channel by default.
    pub queue: Option<QueueLimits>,
    /// The batches of its events; each event alone by default.
    pub batches: Batches,
    /// Whether events wait for it while it is suspect; no by default: they are lost.
    pub waits_for_suspect: bool,
    /// The condition under which its failures disconnect it; the policy of the channel by default.
    pub failure: Option<FailurePolicy>,
    /// Whether it first gets the last event of each type and source that the channel retains; no by
    /// default.
    pub replays: bool,
}

impl std::fmt::Debug for ConsumerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsumerOptions")
            .field("rt_info", &self.rt_info)
            .field("queue", &self.queue)
            .field("batches", &self.batches)
            .finish_non_exhaustive()
    }
}
