// SPDX-License-Identifier: MIT OR Apache-2.0
//! Change of the lanes that serve adapters.

use super::{Poa, PoaCore};
use crate::adapter::Adapters;

impl Adapters {
    /// Assigns the objects to the present lanes.
    pub(crate) fn follow_lanes(&self) {
        for poa in self.root().iter().flat_map(Poa::subtree) {
            poa.0.follow_lanes(self);
        }
    }
}

impl PoaCore {
    fn follow_lanes(&self, adapters: &Adapters) {
        // Under the lock: a concurrent activation has entered its object, or sees the new lanes.
        let objects = self.lock();
        for &slot in objects.by_id.values() {
            if let Some(object) = adapters.registry.objects.pin(slot) {
                let shown = object.servant.shows_requests();
                let lane = adapters.lane_of_object(&self.policies, object.priority, shown);
                object.serve_in(lane);
            }
        }
    }
}
