// SPDX-License-Identifier: MIT OR Apache-2.0
//! References, ids and servants: from each to the others. Compiled where it is used
//! (`#[inline]`), but for what activation needs.

use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_sync::SlotKey;

use super::activation::address;
use super::{Poa, PoaCore, PoaError};
use crate::adapter::key::{NO_HINT, ObjectKey, system_id};
use crate::adapter::{IdAssignment, IdUniqueness, Lifespan};
use crate::{Interface, ObjectRef, Priority, Servant};

impl PoaCore {
    /// The key of an object of this adapter.
    pub(in crate::adapter) fn key_of(&self, id: &[u8], slot: SlotKey) -> Vec<u8> {
        let persistent = self.policies.lifespan == Lifespan::Persistent;
        if !persistent && slot != NO_HINT && *id == *system_id(slot) {
            return ObjectKey::short(self.stamp, slot);
        }
        ObjectKey::long(self.stamp, slot, persistent, &self.path, id)
    }

    pub(in crate::adapter) fn reference(
        &self,
        key: &[u8],
        repository_id: &str,
        priority: Option<Priority>,
    ) -> Result<ObjectRef, SystemException> {
        let protocols = self.policies.protocols.as_ref();
        let extension = self.extension();
        let components = extension.map_or_else(Vec::new, |it| it.0.components(priority));
        let adapters = self.adapters()?;
        let lanes = (adapters.lanes_of(&self.policies), priority);
        let factory = adapters.factory()?;
        factory.reference(key, repository_id, protocols, components, lanes)
    }
}

impl Poa {
    /// An id that no object had before, for one that is yet to be.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if users name objects here.
    #[inline]
    pub fn next_object_id(&self) -> Result<Box<[u8]>, PoaError> {
        if self.0.policies.id_assignment != IdAssignment::System {
            return Err(PoaError::WrongPolicy);
        }
        Ok(self.new_system_id())
    }

    /// A reference to an object that need not be active (yet), with a new id.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if users name objects here.
    pub fn create_reference<I: Interface>(&self) -> Result<I, PoaError> {
        self.create_reference_with_id(&self.next_object_id()?)
    }

    /// A reference to the object with that id, which need not be active (yet).
    ///
    /// # Errors
    /// As [`Poa::activate_with_id`].
    pub fn create_reference_with_id<I: Interface>(&self, id: &[u8]) -> Result<I, PoaError> {
        self.check_id(id)?;
        let object = self.make_reference(id, I::REPOSITORY_ID)?;
        Ok(I::from_object(object))
    }

    /// As [`Poa::create_reference`], untyped: for layers above.
    ///
    /// # Errors
    /// As [`Poa::create_reference`].
    #[inline]
    pub fn create_object_reference(&self, repository_id: &str) -> Result<ObjectRef, PoaError> {
        self.create_object_reference_with_id(&self.next_object_id()?, repository_id)
    }

    /// As [`Poa::create_reference_with_id`], untyped: for layers above.
    ///
    /// # Errors
    /// As [`Poa::create_reference_with_id`].
    #[inline]
    pub fn create_object_reference_with_id(
        &self,
        id: &[u8],
        repository_id: &str,
    ) -> Result<ObjectRef, PoaError> {
        self.check_id(id)?;
        self.make_reference(id, repository_id)
    }

    #[inline]
    fn make_reference(&self, id: &[u8], repository_id: &str) -> Result<ObjectRef, PoaError> {
        let slot = self.0.lock().by_id.get(id).copied().unwrap_or(NO_HINT);
        let key = self.0.key_of(id, slot);
        let priority = self.0.settled_priority(id);
        Ok(self.0.reference(&key, repository_id, priority)?)
    }

    /// The reference to an active object.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`].
    #[inline]
    pub fn id_to_reference(&self, id: &[u8]) -> Result<ObjectRef, PoaError> {
        self.0.adapters()?;
        let object = self.active(id).ok_or(PoaError::ObjectNotActive)?;
        Ok(object.reference()?)
    }

    /// The servant of an active object.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`].
    #[inline]
    pub fn id_to_servant(&self, id: &[u8]) -> Result<Arc<dyn Servant>, PoaError> {
        self.0.adapters()?;
        let object = self.active(id).ok_or(PoaError::ObjectNotActive)?;
        Ok(Arc::clone(&object.servant))
    }

    /// The id of a servant that is one object.
    ///
    /// # Errors
    /// [`PoaError::ServantNotActive`], [`PoaError::WrongPolicy`].
    #[inline]
    pub fn servant_to_id(&self, servant: &Arc<dyn Servant>) -> Result<Vec<u8>, PoaError> {
        let adapters = self.0.adapters()?;
        if self.0.policies.id_uniqueness != IdUniqueness::Unique {
            return Err(PoaError::WrongPolicy);
        }
        let slot = self.0.lock().by_servant.get(&address(servant)[..]).copied();
        let object = slot.and_then(|slot| adapters.registry.objects.get(slot));
        Ok(object.ok_or(PoaError::ServantNotActive)?.id.to_vec())
    }

    /// The id in a reference that this adapter made.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`].
    pub fn reference_to_id(&self, reference: &impl Interface) -> Result<Vec<u8>, PoaError> {
        self.0.adapters()?;
        let key = reference
            .as_object()
            .own_key()
            .ok_or(PoaError::WrongAdapter)?;
        let key = ObjectKey::parse(&key).ok_or(PoaError::WrongAdapter)?;
        match key.path {
            None if key.incarnation == self.0.stamp => Ok(system_id(key.hint).into()),
            Some(path)
                if self.0.serves(path.persistent, key.incarnation)
                    && path
                        .names()
                        .eq(self.0.path.iter().map(std::string::String::as_bytes)) =>
            {
                Ok(path.object_id.to_vec())
            }
            _ => Err(PoaError::WrongAdapter),
        }
    }
}
