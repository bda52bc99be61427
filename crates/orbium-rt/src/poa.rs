// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTPortableServer::POA`: objects with individual priorities (RT-CORBA 1.2, clause 5.7.3).

use std::ops::Deref;
use std::sync::Arc;

use orbium_core::{Extension, Interface, ObjectRef, Poa, PoaError, Priority, Servant, ServedBy};

use crate::error::{bad_param, priority_is_settled};
use crate::policy::adapter::Adapter;
use crate::priority::band::holds;

/// The real-time interface of an adapter, in addition to that of [`Poa`]. It is available for any
/// adapter: one without a priority model refuses priorities with [`PoaError::WrongPolicy`].
#[derive(Clone, Debug, PartialEq)]
pub struct RtPoa(Poa);

impl Deref for RtPoa {
    type Target = Poa;

    fn deref(&self) -> &Poa {
        &self.0
    }
}

impl From<Poa> for RtPoa {
    fn from(poa: Poa) -> Self {
        Self(poa)
    }
}

impl RtPoa {
    /// The adapter.
    #[must_use]
    pub fn poa(&self) -> &Poa {
        &self.0
    }

    /// A reference with a new id to an object of that priority, which need not be active.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] unless the model is SERVER_DECLARED and the adapter assigns ids;
    /// BAD_PARAM for an invalid priority, or one without a lane or a band.
    pub fn create_reference_with_priority<I: Interface>(
        &self,
        priority: i16,
    ) -> Result<I, PoaError> {
        let extension = self.declared()?;
        let priority = check(of(&extension)?, priority)?;
        let id = self.0.next_object_id()?;
        self.refer(of(&extension)?, &id, priority)
    }

    /// Creates a reference to the object with that id and priority, which need not be active.
    ///
    /// # Errors
    /// As [`create_reference_with_priority`](Self::create_reference_with_priority)
    /// and [`Poa::create_reference_with_id`]; BAD_INV_ORDER 18 if the object has
    /// another priority already.
    pub fn create_reference_with_id_and_priority<I: Interface>(
        &self,
        id: &[u8],
        priority: i16,
    ) -> Result<I, PoaError> {
        let extension = self.declared()?;
        let priority = check(of(&extension)?, priority)?;
        self.refer(of(&extension)?, id, priority)
    }

    /// A reference to the object with that id and priority.
    fn refer<I: Interface>(
        &self,
        adapter: &Adapter,
        id: &[u8],
        priority: Priority,
    ) -> Result<I, PoaError> {
        let object = self.settling(adapter, id, priority, || {
            self.0.create_object_reference_with_id(id, I::REPOSITORY_ID)
        })?;
        Ok(I::from_object(object))
    }

    /// Activates an object of that priority, incarnated by the servant, with an id assigned by the
    /// adapter.
    ///
    /// # Errors
    /// As [`create_reference_with_priority`](Self::create_reference_with_priority)
    /// and [`Poa::activate`].
    pub fn activate_object_with_priority<I: ServedBy<S>, S>(
        &self,
        servant: S,
        priority: i16,
    ) -> Result<I, PoaError> {
        let servant: Arc<dyn Servant> = Arc::new(I::skeleton(servant));
        let object = self.activate_servant_with_priority(&servant, priority)?;
        Ok(I::from_object(object))
    }

    /// The same for a wrapped servant.
    ///
    /// # Errors
    /// As [`activate_object_with_priority`](Self::activate_object_with_priority);
    /// [`PoaError::ServantAlreadyActive`].
    pub fn activate_servant_with_priority(
        &self,
        servant: &Arc<dyn Servant>,
        priority: i16,
    ) -> Result<ObjectRef, PoaError> {
        let extension = self.declared()?;
        let priority = check(of(&extension)?, priority)?;
        self.0.activate_servant_at(None, servant, priority)
    }

    /// Activates the object with that id and priority, incarnated by the servant.
    ///
    /// # Errors
    /// As [`activate_object_with_priority`](Self::activate_object_with_priority)
    /// and [`Poa::activate_with_id`]; BAD_INV_ORDER 18 if the object has another
    /// priority already.
    pub fn activate_object_with_id_and_priority<I: ServedBy<S>, S>(
        &self,
        id: &[u8],
        servant: S,
        priority: i16,
    ) -> Result<I, PoaError> {
        let servant: Arc<dyn Servant> = Arc::new(I::skeleton(servant));
        let object = self.activate_servant_with_id_and_priority(id, &servant, priority)?;
        Ok(I::from_object(object))
    }

    /// The same for a wrapped servant.
    ///
    /// # Errors
    /// As that; [`PoaError::ServantAlreadyActive`].
    pub fn activate_servant_with_id_and_priority(
        &self,
        id: &[u8],
        servant: &Arc<dyn Servant>,
        priority: i16,
    ) -> Result<ObjectRef, PoaError> {
        let extension = self.declared()?;
        let priority = check(of(&extension)?, priority)?;
        if self.0.id_to_servant(id).is_ok() {
            return Err(PoaError::ObjectAlreadyActive);
        }
        self.settling(of(&extension)?, id, priority, || {
            self.0.activate_servant_at(Some(id), servant, priority)
        })
    }

    /// The extension of the adapter, if its objects have priorities.
    fn declared(&self) -> Result<Extension, PoaError> {
        let extension = self.0.policies().extension.ok_or(PoaError::WrongPolicy)?;
        match of(&extension) {
            Ok(adapter) if adapter.is_server_declared() => Ok(extension),
            _ => Err(PoaError::WrongPolicy),
        }
    }

    /// Makes an object or its reference with the priority of the object noted. If that fails, the
    /// priority is as it was.
    fn settling(
        &self,
        adapter: &Adapter,
        id: &[u8],
        priority: Priority,
        make: impl FnOnce() -> Result<ObjectRef, PoaError>,
    ) -> Result<ObjectRef, PoaError> {
        let is_new = self.settle(adapter, id, priority)?;
        let made = make();
        if is_new && made.is_err() {
            adapter.settled().remove(id);
        }
        made
    }

    /// Notes the priority of an object; returns whether it had none.
    fn settle(&self, adapter: &Adapter, id: &[u8], priority: Priority) -> Result<bool, PoaError> {
        let active = self.0.id_to_servant(id).is_ok();
        let mut settled = adapter.settled();
        let known = settled.get(id).copied();
        let known = known.or(active.then_some(adapter.server_priority));
        match known {
            Some(known) if known != priority => Err(priority_is_settled().into()),
            Some(_) => Ok(false),
            None => {
                settled.insert(id.into(), priority);
                Ok(true)
            }
        }
    }
}

fn of(extension: &Extension) -> Result<&Adapter, PoaError> {
    let adapter = extension.0.as_any().downcast_ref();
    adapter.ok_or(PoaError::WrongPolicy)
}

/// Whether objects of the adapter may have that priority.
fn check(adapter: &Adapter, priority: i16) -> Result<Priority, PoaError> {
    let priority = Priority::new(priority).ok_or_else(bad_param)?;
    adapter.shared.host.to_native(priority)?;
    let lanes = adapter.pool.as_ref().filter(|pool| pool.has_lanes);
    let no_lane = lanes.is_some_and(|pool| !pool.priorities().any(|it| it == priority));
    let bands = &adapter.bands;
    let no_band = !bands.is_empty() && !bands.iter().any(|band| holds(band, priority));
    if no_lane || no_band {
        return Err(bad_param().into());
    }
    Ok(priority)
}
