// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object reference template of an adapter, as interceptors see and replace it.

use std::sync::{Arc, Weak};

use orbium_adapter::gone;
use orbium_giop::{Ior, SystemException};
use orbium_interceptor::{AdapterState, IorInfo, ObjectReferenceFactory, ObjectReferenceTemplate};

use super::{Poa, PoaCore};
use crate::Interface;
use crate::adapter::Adapters;

/// The adapter's own factory of references.
struct OwnReferences(Weak<PoaCore>);

impl ObjectReferenceFactory for OwnReferences {
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        let adapter = self.0.upgrade().ok_or_else(gone)?;
        let slot = adapter.slot_for(object_id);
        let priority = adapter.settled_priority(object_id);
        let object = adapter.own_reference((object_id, slot), repository_id, priority)?;
        Ok(object.as_object().ior().clone())
    }
}

impl Poa {
    /// Its template (`PortableInterceptor::ObjectReferenceTemplate`).
    pub(crate) fn template(&self) -> ObjectReferenceTemplate {
        let own = OwnReferences(Arc::downgrade(&self.0));
        ObjectReferenceTemplate::new(self.0.identity(), &self.0.path, Arc::new(own))
    }

    /// Lets interceptors add components to its references, and replace their factory.
    ///
    /// # Errors
    /// OBJ_ADAPTER 6: an interceptor refuses the adapter.
    pub(super) fn establish(&self, adapters: &Adapters) -> Result<(), SystemException> {
        let core = &self.0;
        let state = AdapterState::of_manager(core.manager.state() as usize);
        let manager = (core.manager.id(), state);
        let mut info = IorInfo::new(&core.path, manager, &core.policies.defined);
        let interceptors = &adapters.ior_interceptors;
        let _ = core.components.set(interceptors.establish(&mut info));
        if let Some(factory) = interceptors.established(&info, self.template())? {
            let _ = core.factory.set(factory);
        }
        Ok(())
    }
}
