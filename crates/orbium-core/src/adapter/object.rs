// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object in the active object map.

use std::fmt;
use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_sync::SlotKey;

use crate::adapter::manager::Serving;
use crate::adapter::poa::PoaCore;
use crate::adapter::{Expiry, ManagerState, PoaManager};
use crate::reference::ObjectRef;
use crate::{Extension, Poa, Policies, Priority, Servant};

/// An active object: id, servant, and the adapter it is active in.
pub(crate) struct ActiveObject {
    pub(crate) id: Box<[u8]>,
    pub(crate) servant: Arc<dyn Servant>,
    pub(super) manager: PoaManager,
    /// Distinguishes keys of this adapter from those of an earlier one at its path.
    pub(crate) stamp: u64,
    pub(super) slot: SlotKey,
    /// Number of the lane that serves all its requests, or none. The first thing that
    /// requests look at.
    pub(crate) lane: u32,
    /// Its own priority, if it was given one.
    pub(crate) priority: Option<Priority>,
    pub(super) adapter: Arc<PoaCore>,
}

impl ActiveObject {
    pub(crate) fn poa(&self) -> Poa {
        Poa::from(Arc::clone(&self.adapter))
    }

    /// The path of its adapter, as introspection has it.
    pub(crate) fn adapter_path(&self) -> String {
        self.adapter.path_text()
    }

    /// The policies of its adapter.
    pub(crate) fn policies(&self) -> &Policies {
        self.adapter.policies()
    }

    /// What is added to its adapter.
    #[inline]
    pub(crate) fn extension(&self) -> Option<&Extension> {
        self.adapter.extension()
    }

    /// Asks to serve a request on the object at once.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Serving<'_>> {
        self.manager.enter()
    }

    /// The same, waiting as long as requests are held.
    #[cold]
    pub(crate) fn enter_slowly(
        &self,
        expiry: &Expiry,
        operation: &[u8],
    ) -> Result<Serving<'_>, SystemException> {
        let destroyed = self.adapter.is_destroyed();
        self.manager.enter_slowly(destroyed, expiry, operation)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.manager.state() == ManagerState::Holding
    }

    /// Whether its manager serves requests.
    pub(crate) fn is_active(&self) -> bool {
        self.manager.state() == ManagerState::Active
    }

    #[inline]
    pub(crate) fn reference(&self) -> Result<ObjectRef, SystemException> {
        let key = self.adapter.key_of(&self.id, self.slot);
        self.adapter
            .reference(&key, self.servant.repository_id(), self.priority)
    }
}

impl Drop for ActiveObject {
    /// The last request on a deactivated object has ended.
    fn drop(&mut self) {
        self.adapter.object_gone();
    }
}

impl fmt::Debug for ActiveObject {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveObject")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
