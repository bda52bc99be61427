// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads and queue of a lane, which can change while it serves.

use std::time::Duration;

use orbium_config::ServerStrategy;

/// Threads and queue of a lane: what can change while it serves. A plain value, part of a
/// [`LaneConfig`](crate::LaneConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSizes {
    /// How it serves, and with how many static threads. A lane that serves keeps its kind.
    pub strategy: ServerStrategy,
    /// Threads that may be added while all static ones are busy.
    pub dynamic_threads: usize,
    /// Time after which a thread that is not static ends without work.
    pub idle_time: Duration,
    /// Octets of all requests that wait together. `None`:
    /// [`Limits::message_size`](orbium_config::Limits).
    pub queue_octets: Option<usize>,
}

impl LaneSizes {
    /// Static threads that serve, and those there may be; both 0 for as many as
    /// there are connections.
    #[must_use]
    pub fn threads(&self) -> (usize, usize) {
        let fixed = match self.strategy {
            ServerStrategy::ThreadPerConnection => return (0, 0),
            ServerStrategy::Reactive => 1,
            ServerStrategy::LeaderFollowers { threads } => threads,
            ServerStrategy::WorkerPool { workers, .. } => workers,
        };
        (fixed, fixed.saturating_add(self.dynamic_threads))
    }
}
