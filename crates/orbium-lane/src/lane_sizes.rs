// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads and queue of a lane, which can be changed while it serves.

use std::time::Duration;

use orbium_config::ServerStrategy;

/// Threads and queue of a lane, the part that can be changed while it serves. A plain value, part
/// of a [`LaneConfig`](crate::LaneConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSizes {
    /// The strategy, with the number of static threads. Its kind cannot be changed while the lane
    /// serves.
    pub strategy: ServerStrategy,
    /// Maximum number of threads added while all static ones are busy.
    pub dynamic_threads: usize,
    /// Time after which an idle dynamic thread ends.
    pub idle_time: Duration,
    /// Maximum total size of queued requests. `None`:
    /// [`Limits::message_size`](orbium_config::Limits).
    pub queue_octets: Option<usize>,
}

impl LaneSizes {
    /// The number of static serving threads, and the maximum; both 0 for one per connection.
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
