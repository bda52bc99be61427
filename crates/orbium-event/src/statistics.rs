// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics of a channel and of its consumers.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of a channel, from [`Channel::statistics`](crate::Channel::statistics).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Events that suppliers have pushed.
    pub received: u64,
    /// Events of these that were refused: their supplier has not published them.
    pub refused: u64,
    /// Events of these that a gateway has already forwarded.
    pub duplicates: u64,
    /// Consumers that were disconnected because they failed, or their queue was full.
    pub dropped_consumers: u64,
    /// Queues of the schedule that run without their native priority, because the host refused it
    /// and the configuration is soft.
    pub refused_priorities: usize,
    /// The number of times that a [release guard](crate::ChannelConfig::release_guard) has held
    /// sets of events while others were ready.
    pub held: u64,
    /// Connected suppliers.
    pub suppliers: usize,
    /// Registered observers.
    pub observers: usize,
    /// The connected consumers.
    pub consumers: Vec<ConsumerStatistics>,
}

/// The counts of a consumer, in events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsumerStatistics {
    /// The number of the connection within the channel.
    pub id: u64,
    /// Pushed to the consumer.
    pub delivered: u64,
    /// Discarded because its queue was full, or its conjunctions had collected too many bytes.
    pub discarded: u64,
    /// Dropped while the connection was suspended.
    pub suspended: u64,
    /// Lost because the consumer failed.
    pub lost: u64,
    /// Dropped because they expired before they were pushed.
    pub expired: u64,
    /// Sets of events that wait in its queue.
    pub queued: usize,
    /// Whether the consumer has suspended the connection.
    pub is_suspended: bool,
    /// Whether it has failed and is pinged.
    pub is_suspect: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
