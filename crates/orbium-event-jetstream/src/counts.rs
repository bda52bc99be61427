// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of a persistent channel.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts of a channel since its creation.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    received: AtomicU64,
    duplicates: AtomicU64,
    refused: AtomicU64,
    unreadable: AtomicU64,
    deferred: AtomicU64,
    dead_letters: AtomicU64,
    spooled: AtomicU64,
    slow: AtomicU64,
}

/// Counts of a persistent channel since its creation, in events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStatistics {
    /// Stored in the stream, for suppliers of this channel.
    pub stored: u64,
    /// Of these, duplicates of events in the stream.
    pub duplicates: u64,
    /// Not stored: their suppliers got an exception.
    pub refused: u64,
    /// Messages of the stream that are not valid events.
    pub unreadable: u64,
    /// Deliveries of this channel that did not reach their consumer, and will be repeated.
    pub deferred: u64,
    /// Stored as dead letters, which consumers of this channel did not accept.
    pub dead_letters: u64,
    /// Written into the spool, for suppliers of this channel.
    pub spooled: u64,
    /// Of these, and of those of earlier channels in the spool, events that wait for the stream.
    pub waiting: u64,
    /// Pushes to consumers of this channel that took longer than half of [`ack_wait`](crate::JetStreamConfig::ack_wait).
    pub slow: u64,
}

impl Counts {
    pub(crate) fn stored(&self, events: usize, duplicates: u64) {
        self.received.fetch_add(events as u64, Ordering::Relaxed);
        self.duplicates.fetch_add(duplicates, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, events: usize) {
        self.refused.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn unreadable(&self) {
        self.unreadable.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn deferred(&self) {
        self.deferred.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn dead_letter(&self) {
        self.dead_letters.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn spooled(&self, events: usize) {
        self.spooled.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn slow(&self) {
        self.slow.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> StreamStatistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StreamStatistics {
            stored: read(&self.received),
            duplicates: read(&self.duplicates),
            refused: read(&self.refused),
            unreadable: read(&self.unreadable),
            deferred: read(&self.deferred),
            dead_letters: read(&self.dead_letters),
            spooled: read(&self.spooled),
            waiting: 0,
            slow: read(&self.slow),
        }
    }
}
