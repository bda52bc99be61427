// SPDX-License-Identifier: MIT OR Apache-2.0
//! Activation and deactivation of objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::SlotKey;

use super::{Poa, PoaCore, PoaError};
use crate::adapter::object::{ActiveObject, ETHEREALIZED};
use crate::adapter::{IdAssignment, IdUniqueness, Lifespan};
use crate::{IncarnatedObject, ObjectRef, Priority, Servant, ServedBy};
use orbium_adapter::object_key::system_id;

/// The key of a servant: its address.
pub(super) fn address(servant: &Arc<dyn Servant>) -> [u8; size_of::<usize>()] {
    (Arc::as_ptr(servant).cast::<()>() as usize).to_ne_bytes()
}

fn erased(skeleton: impl Servant) -> Arc<dyn Servant> {
    Arc::new(skeleton)
}

impl Poa {
    /// Activates an object with an id assigned by the adapter and incarnated by the servant, and
    /// returns the reference.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] under USER_ID, or without a map of active
    /// objects; a system exception if the ORB cannot listen.
    pub fn activate<I: ServedBy<S>, S>(&self, servant: S) -> Result<I, PoaError> {
        let object = self.activate_servant(&erased(I::skeleton(servant)))?;
        Ok(I::from_object(object))
    }

    /// As [`Poa::activate`], for a servant that is wrapped already.
    ///
    /// # Errors
    /// As [`Poa::activate`]; [`PoaError::ServantAlreadyActive`].
    pub fn activate_servant(&self, servant: &Arc<dyn Servant>) -> Result<ObjectRef, PoaError> {
        if self.0.policies.id_assignment != IdAssignment::System {
            return Err(PoaError::WrongPolicy);
        }
        let id = self.generates_ids().then(|| self.new_system_id());
        self.enter(id.transpose()?, servant, None)
    }

    /// Activates the object with that id, incarnated by the servant.
    ///
    /// [`PoaError::ObjectAlreadyActive`]; a system exception if the adapter assigns ids itself and
    /// has not assigned this one, or if the ORB cannot listen.
    pub fn activate_with_id<I: ServedBy<S>, S>(
        &self,
        id: &[u8],
        servant: S,
    ) -> Result<I, PoaError> {
        let object = self.activate_servant_with_id(id, &erased(I::skeleton(servant)))?;
        Ok(I::from_object(object))
    }

    /// As [`Poa::activate_with_id`], for a servant that is wrapped already.
    ///
    /// # Errors
    /// As [`Poa::activate_with_id`]; [`PoaError::ServantAlreadyActive`].
    #[inline]
    pub fn activate_servant_with_id(
        &self,
        id: &[u8],
        servant: &Arc<dyn Servant>,
    ) -> Result<ObjectRef, PoaError> {
        self.check_id(id)?;
        self.enter(Some(id.into()), servant, self.0.settled_priority(id))
    }

    /// As [`Poa::activate_servant`] or [`Poa::activate_servant_with_id`], with a priority of the
    /// object: for a layer above, which checks whether the adapter's policies allow that.
    ///
    /// # Errors
    /// As for those.
    pub fn activate_servant_at(
        &self,
        id: Option<&[u8]>,
        servant: &Arc<dyn Servant>,
        priority: Priority,
    ) -> Result<ObjectRef, PoaError> {
        match id {
            Some(id) => {
                self.check_id(id)?;
                self.enter(Some(id.into()), servant, Some(priority))
            }
            None => {
                let id = self.next_object_id()?;
                self.enter(self.generates_ids().then_some(id), servant, Some(priority))
            }
        }
    }

    /// Whether its ids are independent of the slots of the objects.
    fn generates_ids(&self) -> bool {
        self.0.policies.lifespan == Lifespan::Persistent
    }

    /// An id that no adapter with this path has assigned before.
    pub(super) fn new_system_id(&self) -> Result<Box<[u8]>, SystemException> {
        Ok(self.0.adapters()?.registry.next_id())
    }

    /// Refuses ids that an adapter with system-assigned ids cannot have assigned.
    pub(super) fn check_id(&self, id: &[u8]) -> Result<(), PoaError> {
        let plausible = match self.0.policies.lifespan {
            Lifespan::Transient => matches!(id.len(), 8 | 16),
            Lifespan::Persistent => id.len() == 16,
        };
        if self.0.policies.id_assignment == IdAssignment::System && !plausible {
            return Err(SystemException::omg(ExceptionKind::BadParam, 14, Completion::No).into());
        }
        Ok(())
    }

    fn enter(
        &self,
        id: Option<Box<[u8]>>,
        servant: &Arc<dyn Servant>,
        priority: Option<Priority>,
    ) -> Result<ObjectRef, PoaError> {
        let core = &self.0;
        let adapters = core.adapters()?;
        if !core.policies.retains() {
            return Err(PoaError::WrongPolicy);
        }
        // Listen first: no reference is made to an unreachable object.
        adapters.listens_for(adapters.lanes_of(&core.policies))?;
        let (slot, given) = self.insert(id, servant, priority)?;
        let repository_id = servant.interface_of(&IncarnatedObject::new(&given, self));
        crate::log::debug!(
            target: "orbium::poa",
            adapter = core.path_text(),
            interface = &*repository_id,
            "object activated",
        );
        Ok(core.reference((&given, slot), &repository_id, priority)?)
    }

    /// Makes a servant an active object; returns its slot and id.
    pub(super) fn insert(
        &self,
        id: Option<Box<[u8]>>,
        servant: &Arc<dyn Servant>,
        priority: Option<Priority>,
    ) -> Result<(SlotKey, Box<[u8]>), PoaError> {
        let core = &self.0;
        let unique = core.policies.id_uniqueness == IdUniqueness::Unique;
        let mut objects = match &id {
            Some(id) => core.await_end_of(id)?,
            None => core.lock(),
        };
        // Under the lock: `end` empties the map under it.
        let adapters = core.adapters()?;
        if unique && objects.by_servant.contains_key(&address(servant)[..]) {
            return Err(PoaError::ServantAlreadyActive);
        }
        let is_active = |id: &[u8]| objects.by_id.contains_key(id);
        if id.as_deref().is_some_and(is_active) {
            return Err(PoaError::ObjectAlreadyActive);
        }
        let lane = adapters.lane_of_object(&core.policies, priority, servant.shows_requests());
        let mut given = Box::<[u8]>::default();
        let inserted = adapters.registry.objects.insert_with(|slot| {
            let id = id.unwrap_or_else(|| system_id(slot));
            given.clone_from(&id);
            Arc::new(ActiveObject {
                id,
                servant: Arc::clone(servant),
                manager: core.manager.clone(),
                stamp: core.stamp,
                slot,
                lane: lane.into(),
                priority,
                adapter: Arc::<PoaCore>::clone(core),
                end: AtomicU8::new(0),
            })
        });
        let slot = inserted
            .map_err(|_| SystemException::new(ExceptionKind::NoResources, 0, Completion::No))?;
        objects.alive += 1;
        if unique {
            let servant = &address(servant)[..];
            objects.by_servant.insert(servant.into(), slot);
        }
        if core.policies.etherealizes() {
            *objects.incarnations.entry(address(servant)).or_default() += 1;
            objects.incarnated += 1;
        }
        objects.by_id.insert(given.clone(), slot);
        Ok((slot, given))
    }

    /// Deactivates an object. Requests in progress are completed; the servant is dropped
    /// after the last, or handed to the servant activator.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`]; [`PoaError::WrongPolicy`] without a map of active
    /// objects.
    pub fn deactivate(&self, id: &[u8]) -> Result<(), PoaError> {
        let adapters = self.0.adapters()?;
        if !self.0.policies.retains() {
            return Err(PoaError::WrongPolicy);
        }
        let removed = {
            let mut objects = self.0.lock();
            let ended = objects.by_id.remove_entry(id);
            let (id, slot) = ended.ok_or(PoaError::ObjectNotActive)?;
            let removed = adapters.registry.objects.remove(slot);
            if let Some(object) = &removed {
                objects.by_servant.remove(&address(&object.servant)[..]);
                if self.0.policies.etherealizes() {
                    // Before this pin is dropped: `etherealize` follows the last.
                    object.end.store(ETHEREALIZED, Ordering::Release);
                    objects.ending.insert(id, slot);
                }
            }
            removed
        };
        // Dropped without the lock: the servant's own code may run here.
        drop(removed);
        Ok(())
    }
}
