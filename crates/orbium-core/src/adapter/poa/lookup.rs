// SPDX-License-Identifier: MIT OR Apache-2.0
//! What requests ask of an adapter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_giop::SystemException;
use orbium_sync::SlotKey;

use super::{Poa, PoaCore};
use crate::adapter::Lifespan;
use crate::adapter::manager::being_destroyed;
use crate::adapter::object::ActiveObject;
use crate::{Extension, Policies, Priority};

impl PoaCore {
    pub(in crate::adapter) fn is_destroyed(&self) -> &AtomicBool {
        &self.destroyed
    }

    pub(in crate::adapter) fn policies(&self) -> &Policies {
        &self.policies
    }

    #[inline]
    pub(in crate::adapter) fn extension(&self) -> Option<&Extension> {
        self.policies.extension.as_ref()
    }

    /// The priority that an object is to have, if that is settled.
    #[inline]
    pub(in crate::adapter) fn settled_priority(&self, id: &[u8]) -> Option<Priority> {
        self.extension()?.0.settled_priority(id)
    }

    pub(in crate::adapter) fn object_gone(&self) {
        self.lock().alive -= 1;
        self.one_gone.notify_all();
    }
}

impl Poa {
    /// Whether a key of that kind and stamp may be served from here.
    pub(in crate::adapter) fn serves(&self, persistent: bool, stamp: u64) -> bool {
        match self.0.policies.lifespan {
            Lifespan::Persistent => persistent,
            Lifespan::Transient => !persistent && self.0.stamp == stamp,
        }
    }

    /// The slot of the active object with an id.
    #[inline(never)]
    pub(in crate::adapter) fn slot_of(&self, id: &[u8]) -> Option<SlotKey> {
        self.0.lock().by_id.get(id).copied()
    }

    #[inline]
    pub(in crate::adapter) fn active(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let slot = self.slot_of(id)?;
        self.0.orb.upgrade()?.registry.objects.get(slot)
    }

    /// How many objects are active.
    pub(crate) fn object_count(&self) -> usize {
        self.0.lock().by_id.len()
    }

    /// The ids of so many active objects, and whether there are more.
    pub(crate) fn first_ids(&self, most: usize) -> (Vec<Box<[u8]>>, bool) {
        let objects = self.0.lock();
        let ids = objects.by_id.keys().take(most).cloned().collect();
        (ids, objects.by_id.len() > most)
    }

    /// The interface of the active object with an id.
    pub(crate) fn interface_of(&self, id: &[u8]) -> Option<&'static str> {
        Some(self.active(id)?.servant.repository_id())
    }

    /// TRANSIENT if the adapter is being destroyed.
    pub(in crate::adapter) fn check_not_destroyed(&self) -> Result<(), SystemException> {
        let destroyed = self.0.destroyed.load(Ordering::Acquire);
        if destroyed && !self.0.gone.load(Ordering::Acquire) {
            return Err(being_destroyed());
        }
        Ok(())
    }
}
