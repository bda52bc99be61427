// SPDX-License-Identifier: MIT OR Apache-2.0
//! References, ids and servants: conversions between them.

use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_sync::SlotKey;

use super::activation::address;
use super::{Poa, PoaCore, PoaError};
use crate::adapter::frames::{self, Frame};
use crate::adapter::object::Adapter;
use crate::adapter::{IdAssignment, IdUniqueness, Lifespan, RequestProcessing};
use crate::{IncarnatedObject, Interface, ObjectRef, Priority, Servant};
use orbium_adapter::object_key::{NO_HINT, ObjectKey, system_id};

impl PoaCore {
    /// The key of an object of this adapter.
    pub(in crate::adapter) fn key_of(&self, id: &[u8], slot: SlotKey) -> Vec<u8> {
        let persistent = self.policies.lifespan == Lifespan::Persistent;
        if !persistent && slot != NO_HINT && *id == *system_id(slot) {
            return ObjectKey::short(self.stamp, slot);
        }
        ObjectKey::long(self.stamp, slot, persistent, &self.path, id)
    }

    /// The reference to the object with that id, and with that slot if it has one.
    pub(in crate::adapter) fn reference(
        &self,
        (id, slot): (&[u8], SlotKey),
        repository_id: &str,
        priority: Option<Priority>,
    ) -> Result<ObjectRef, SystemException> {
        let Some(factory) = self.factory.get() else {
            return self.own_reference((id, slot), repository_id, priority);
        };
        let orb = self.adapters()?.factory()?;
        orb.received_reference(factory.make_object(repository_id, id)?)
    }

    /// The reference before interceptors change it.
    pub(super) fn own_reference(
        &self,
        (id, slot): (&[u8], SlotKey),
        repository_id: &str,
        priority: Option<Priority>,
    ) -> Result<ObjectRef, SystemException> {
        let key = self.key_of(id, slot);
        let protocols = self.policies.protocols.as_ref();
        let extension = self.extension();
        let mut components = self.components.get().cloned().unwrap_or_default();
        if let Some(extension) = extension {
            components.of_all.extend(extension.0.components(priority));
        }
        self.policies.routers.publish_in(&mut components.of_all);
        let adapters = self.adapters()?;
        let lanes = (adapters.lanes_of(&self.policies), priority);
        let factory = adapters.factory()?;
        factory.reference(&key, repository_id, protocols, components, lanes)
    }

    /// The slot of an active object.
    pub(super) fn slot_for(&self, id: &[u8]) -> SlotKey {
        self.lock().by_id.get(id).copied().unwrap_or(NO_HINT)
    }
}

impl Poa {
    /// A new id for a future object.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if ids are assigned by users here.
    pub fn next_object_id(&self) -> Result<Box<[u8]>, PoaError> {
        if self.0.policies.id_assignment != IdAssignment::System {
            return Err(PoaError::WrongPolicy);
        }
        Ok(self.new_system_id()?)
    }

    /// A reference to an object that need not be active (yet), with a new id.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] if ids are assigned by users here.
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
    pub fn create_object_reference(&self, repository_id: &str) -> Result<ObjectRef, PoaError> {
        self.create_object_reference_with_id(&self.next_object_id()?, repository_id)
    }

    /// As [`Poa::create_reference_with_id`], untyped: for layers above.
    ///
    /// # Errors
    /// As [`Poa::create_reference_with_id`].
    pub fn create_object_reference_with_id(
        &self,
        id: &[u8],
        repository_id: &str,
    ) -> Result<ObjectRef, PoaError> {
        self.check_id(id)?;
        self.make_reference(id, repository_id)
    }

    pub(super) fn make_reference(
        &self,
        id: &[u8],
        repository_id: &str,
    ) -> Result<ObjectRef, PoaError> {
        let priority = self.0.settled_priority(id);
        let at = (id, self.0.slot_for(id));
        Ok(self.0.reference(at, repository_id, priority)?)
    }

    /// The reference to an active object.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`]; [`PoaError::WrongPolicy`] without a map of active
    /// objects.
    pub fn id_to_reference(&self, id: &[u8]) -> Result<ObjectRef, PoaError> {
        self.0.adapters()?;
        if !self.0.policies.retains() {
            return Err(PoaError::WrongPolicy);
        }
        let object = self.active(id).ok_or(PoaError::ObjectNotActive)?;
        Ok(object.reference()?)
    }

    /// The servant of an active object, or else the default servant.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`]; [`PoaError::WrongPolicy`] with neither a map of active
    /// objects nor USE_DEFAULT_SERVANT.
    pub fn id_to_servant(&self, id: &[u8]) -> Result<Arc<dyn Servant>, PoaError> {
        self.0.adapters()?;
        if !self.0.policies.retains() && !self.defaults() {
            return Err(PoaError::WrongPolicy);
        }
        if let Some(object) = self.active(id) {
            return Ok(Arc::clone(&object.servant));
        }
        let default = self.0.default_servant();
        default.ok_or(PoaError::ObjectNotActive)
    }

    /// The servant of the object that a reference of this adapter denotes.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`]; as [`Poa::id_to_servant`].
    pub fn reference_to_servant(
        &self,
        reference: &impl Interface,
    ) -> Result<Arc<dyn Servant>, PoaError> {
        if !self.0.policies.retains() && !self.defaults() {
            return Err(PoaError::WrongPolicy);
        }
        self.id_to_servant(&self.reference_to_id(reference)?)
    }

    fn defaults(&self) -> bool {
        self.0.policies.request_processing == RequestProcessing::DefaultServant
    }

    /// The id of a servant: that of its only object; a new one under implicit activation; within a
    /// request to the default servant that of the object called.
    ///
    /// # Errors
    /// [`PoaError::ServantNotActive`], [`PoaError::WrongPolicy`].
    pub fn servant_to_id(&self, servant: &Arc<dyn Servant>) -> Result<Vec<u8>, PoaError> {
        self.0.adapters()?;
        let policies = &self.0.policies;
        let unique = policies.id_uniqueness == IdUniqueness::Unique;
        let maps = policies.retains() && (unique || policies.implicit_activation);
        if !maps && !self.defaults() {
            return Err(PoaError::WrongPolicy);
        }
        if let Some(id) = self.unique_id_of(servant)? {
            return Ok(id);
        }
        if policies.implicit_activation {
            let activated = self.activate_servant(servant);
            return match activated {
                Ok(object) => self.reference_to_id(&object),
                // Another thread was faster.
                Err(PoaError::ServantAlreadyActive) => self
                    .unique_id_of(servant)?
                    .ok_or(PoaError::ServantNotActive),
                Err(error) => Err(error),
            };
        }
        let called = self.called(servant).filter(|_| self.defaults());
        Ok(called.ok_or(PoaError::ServantNotActive)?.id.into())
    }

    /// The reference to the object with the id of [`Poa::servant_to_id`]; within a request to the
    /// servant that of the object called, if the servant may incarnate several.
    ///
    /// # Errors
    /// [`PoaError::ServantNotActive`], [`PoaError::WrongPolicy`].
    pub fn servant_to_reference(&self, servant: &Arc<dyn Servant>) -> Result<ObjectRef, PoaError> {
        let id = match (self.servant_to_id(servant), self.called(servant)) {
            (Ok(id), _) => id,
            (Err(PoaError::WrongPolicy | PoaError::ServantNotActive), Some(it)) => it.id.into(),
            (Err(error), _) => return Err(error),
        };
        let interface = servant.interface_of(&IncarnatedObject::new(&id, self));
        self.make_reference(&id, &interface)
    }

    /// The id of a servant that incarnates one object.
    fn unique_id_of(&self, servant: &Arc<dyn Servant>) -> Result<Option<Vec<u8>>, PoaError> {
        let adapters = self.0.adapters()?;
        let slot = self.0.lock().by_servant.get(&address(servant)[..]).copied();
        let object = slot.and_then(|slot| adapters.registry.objects.get(slot));
        Ok(object.map(|object| object.id.to_vec()))
    }

    /// The request to that servant that this thread serves.
    fn called(&self, servant: &Arc<dyn Servant>) -> Option<Frame> {
        let frame = frames::innermost()?;
        let adapter: Arc<dyn Adapter> = self.0.clone();
        let is_it = frame.servant.as_ref()?;
        (Arc::ptr_eq(&frame.adapter, &adapter) && address(is_it) == address(servant))
            .then_some(frame)
    }

    /// The id in a reference that this adapter made.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`].
    pub fn reference_to_id(&self, reference: &impl Interface) -> Result<Vec<u8>, PoaError> {
        self.0.adapters()?;
        let key = reference.as_object().own_key();
        let key = key.ok_or(PoaError::WrongAdapter)?;
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
