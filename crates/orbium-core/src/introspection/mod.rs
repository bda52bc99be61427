// SPDX-License-Identifier: MIT OR Apache-2.0
//! An ORB as data: its connections, lanes, adapters and objects. Always available; a snapshot holds
//! each list's lock only to copy pointers, and never blocks a call.

mod objects;

use crate::metrics::ConnectionSnapshot;
use crate::{Lane, Orb};

pub use objects::{AdapterSnapshot, ObjectSnapshot};
pub use orbium_metrics::{LaneSnapshot, Listing};

/// The maximum number of entries of a list.
const MAX_ENTRIES: usize = 1000;

impl Orb {
    /// The open connections, to clients and to servers.
    ///
    /// Bytes and requests are counted while metrics are on
    /// ([`enable_metrics`](Self::enable_metrics)).
    ///
    /// ```
    /// # fn f(orb: &orbium_core::Orb) {
    /// for connection in orb.connections().entries {
    ///     println!("{} {:?}", connection.peer, connection.age);
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn connections(&self) -> Listing<ConnectionSnapshot> {
        let (entries, more) = self.instruments().book().open(MAX_ENTRIES);
        Listing { entries, more }
    }

    /// Snapshots of the lanes: the ORB's own first, if it listens, then the added ones.
    /// [`lanes`](Self::lanes) returns the added lanes themselves.
    #[must_use]
    pub fn lane_snapshots(&self) -> Listing<LaneSnapshot> {
        let mut lanes: Vec<Lane> = self.started_lane().into_iter().collect();
        lanes.extend(self.lanes());
        let more = lanes.len() > MAX_ENTRIES;
        lanes.truncate(MAX_ENTRIES);
        Listing {
            entries: lanes.iter().map(Lane::snapshot).collect(),
            more,
        }
    }
}
