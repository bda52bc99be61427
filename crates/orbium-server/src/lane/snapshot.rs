// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes as data.

use orbium_metrics::LaneSnapshot;

use super::Lane;

impl Lane {
    /// The lane as it is now.
    #[must_use]
    pub fn snapshot(&self) -> LaneSnapshot {
        let core = &*self.0;
        let mut snapshot = LaneSnapshot::default();
        snapshot.number = core.number;
        core.label().clone_into(&mut snapshot.name);
        snapshot.priority = self.priority();
        snapshot.strategy = self.strategy();
        snapshot.endpoints = self.channels().iter().map(ToString::to_string).collect();
        snapshot.connections = core.connection_count();
        snapshot.threads = core.thread_count();
        snapshot.waiting = self.waiting_requests();
        snapshot.queue = core.pool.capacity();
        snapshot.refused = self.refused_requests();
        snapshot
    }
}
