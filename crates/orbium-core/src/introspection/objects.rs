// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adapters and objects as data.

use super::{Listing, MAX_ENTRIES};
use crate::{Lifespan, ManagerState, Orb};

/// An object adapter at the time of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterSnapshot {
    /// Its name after those of its parents, as in `RootPOA/devices`.
    pub path: String,
    /// The state of its manager.
    pub state: ManagerState,
    /// Requests that its manager holds, for all of its adapters.
    pub held: usize,
    /// Requests admitted by its manager and in progress.
    pub in_flight: usize,
    /// Active objects.
    pub objects: usize,
    /// Whether its references outlive the process.
    pub persistent: bool,
}

/// An active object at the time of the snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectSnapshot {
    /// The path of its adapter.
    pub adapter: String,
    /// Its id there.
    pub id: Vec<u8>,
    /// Repository id of its most derived interface.
    pub interface: String,
}

impl Orb {
    /// The adapters: the root first, each before its children.
    #[must_use]
    pub fn adapters(&self) -> Listing<AdapterSnapshot> {
        let (mut entries, mut more) = (Vec::new(), false);
        for poa in self.root_poa().subtree() {
            if entries.len() == MAX_ENTRIES {
                more = true;
                break;
            }
            let manager = poa.manager();
            let (held, in_flight) = manager.load();
            entries.push(AdapterSnapshot {
                path: poa.path_text(),
                state: manager.state(),
                held,
                in_flight,
                objects: poa.object_count(),
                persistent: poa.policies().lifespan == Lifespan::Persistent,
            });
        }
        Listing { entries, more }
    }

    /// The active objects, by adapter.
    #[must_use]
    pub fn objects(&self) -> Listing<ObjectSnapshot> {
        let (mut entries, mut more) = (Vec::new(), false);
        for poa in self.root_poa().subtree() {
            let (ids, others) = poa.first_ids(MAX_ENTRIES - entries.len());
            more |= others;
            for id in ids {
                // The object may have been deactivated since.
                if let Some(interface) = poa.interface_of(&id) {
                    entries.push(ObjectSnapshot {
                        adapter: poa.path_text(),
                        id: id.to_vec(),
                        interface,
                    });
                }
            }
        }
        Listing { entries, more }
    }
}
