// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts as data.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::role::Role;

/// A number for a name out of a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCount {
    /// The name, as metrics label it.
    pub name: &'static str,
    /// How often.
    pub count: u64,
}

/// Metrics of the connections of one role over one transport.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionMetrics {
    /// Which side opened them.
    pub role: Role,
    /// The scheme of the transport.
    pub transport: String,
    /// Opened so far.
    pub opened: u64,
    /// Closed so far, by cause.
    pub closed: Vec<NamedCount>,
    /// What went over them since metrics are on.
    pub traffic: TrafficMetrics,
}

impl ConnectionMetrics {
    /// The number of open ones.
    #[must_use]
    pub fn open(&self) -> u64 {
        let closed: u64 = self.closed.iter().map(|it| it.count).sum();
        self.opened.saturating_sub(closed)
    }
}

/// Octets over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficMetrics {
    /// Octets received.
    pub received: u64,
    /// Octets sent.
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
