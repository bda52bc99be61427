// SPDX-License-Identifier: MIT OR Apache-2.0
//! What requests ask of an adapter.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_giop::SystemException;
use orbium_sync::SlotKey;

use super::{Poa, PoaCore};
use crate::adapter::manager::being_destroyed;
use crate::adapter::object::{ActiveObject, Adapter};
use crate::adapter::{Adapters, Lifespan};
use crate::{Extension, ObjectRef, Policies, Priority};

impl PoaCore {
    #[inline]
    pub(super) fn extension(&self) -> Option<&Extension> {
        self.policies.extension.as_ref()
    }

    /// The priority that an object is to have, if that is settled.
    #[inline]
    pub(super) fn settled_priority(&self, id: &[u8]) -> Option<Priority> {
        self.extension()?.0.settled_priority(id)
    }
}

impl Adapter for PoaCore {
    fn path_text(&self) -> String {
        self.path_text()
    }

    fn policies(&self) -> &Policies {
        &self.policies
    }

    fn is_destroyed(&self) -> &AtomicBool {
        &self.destroyed
    }

    fn check_not_destroyed(&self) -> Result<(), SystemException> {
        let destroyed = self.destroyed.load(Ordering::Acquire);
        if destroyed && !self.gone.load(Ordering::Acquire) {
            return Err(being_destroyed());
        }
        Ok(())
    }

    fn child(&self, name: &str) -> Option<Arc<dyn Adapter>> {
        let child = self.child_named(name)?;
        Some(child.0)
    }

    fn serves(&self, persistent: bool, stamp: u64) -> bool {
        self.serves(persistent, stamp)
    }

    fn slot_of(&self, id: &[u8]) -> Option<SlotKey> {
        self.slot_of(id)
    }

    fn reference_to(&self, object: &ActiveObject) -> Result<ObjectRef, SystemException> {
        let key = self.key_of(&object.id, object.slot);
        self.reference(&key, object.servant.repository_id(), object.priority)
    }

    fn object_gone(&self) {
        self.lock().alive -= 1;
        self.one_gone.notify_all();
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl PoaCore {
    /// Whether a key of that kind and stamp may be served from here.
    pub(super) fn serves(&self, persistent: bool, stamp: u64) -> bool {
        match self.policies.lifespan {
            Lifespan::Persistent => persistent,
            Lifespan::Transient => !persistent && self.stamp == stamp,
        }
    }

    /// The slot of the active object with an id.
    #[inline(never)]
    fn slot_of(&self, id: &[u8]) -> Option<SlotKey> {
        self.lock().by_id.get(id).copied()
    }
}

impl Adapters {
    /// The root adapter, set before the ORB is there.
    pub(crate) fn root(&self) -> Option<Poa> {
        Poa::of(self.registry.root.get()?)
    }

    /// Sets the root adapter, once.
    pub(crate) fn begin(&self, root: Poa) {
        // The ORB is not shared yet, so the cell is still empty.
        let _ = self.registry.root.set(root.0);
    }
}

impl Poa {
    /// The adapter that objects and the registry know as that.
    pub(crate) fn of(adapter: &Arc<dyn Adapter>) -> Option<Self> {
        let core = Arc::clone(adapter).into_any().downcast::<PoaCore>();
        core.ok().map(Self)
    }

    #[inline]
    pub(super) fn active(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let slot = self.0.slot_of(id)?;
        self.0.adapters.upgrade()?.registry.objects.get(slot)
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
}
