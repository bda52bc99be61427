// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts as data.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::role::Role;

/// A count with a name from a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCount {
    /// The name, used as a label of metrics.
    pub name: &'static str,
    /// The count.
    pub count: u64,
}

/// Metrics of the connections of one role over one transport.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionMetrics {
    /// The role of this ORB: client or server.
    pub role: Role,
    /// The scheme of the transport.
    pub transport: String,
    /// The number opened so far.
    pub opened: u64,
    /// The number closed so far, by cause.
    pub closed: Vec<NamedCount>,
    /// The traffic since metrics are on.
    pub traffic: TrafficMetrics,
}

impl ConnectionMetrics {
    /// The number of open connections.
    #[must_use]
    pub fn open(&self) -> u64 {
        let closed: u64 = self.closed.iter().map(|it| it.count).sum();
        self.opened.saturating_sub(closed)
    }
}

/// Bytes transferred over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficMetrics {
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
}

pub(crate) fn named(names: &'static [&'static str], counters: &[AtomicU64]) -> Vec<NamedCount> {
    let counts = names.iter().zip(counters);
    counts
        .map(|(name, counter)| NamedCount {
            name,
            count: counter.load(Relaxed),
        })
        .collect()
}
