// SPDX-License-Identifier: MIT OR Apache-2.0
//! The adapter of a service's objects, and the file of their records.

use std::sync::Arc;

use orbium::cdr::Encode;
use orbium::stub::ServedBy;
use orbium::{
    Interface, ObjectRef, Servant, SystemException,
    poa::{Poa, PoaError},
};

use super::Connections;
use super::key::Key;

/// Activates and records the objects of a service.
#[derive(Clone)]
pub(crate) struct Objects {
    poa: Poa,
    connections: Option<Arc<Connections>>,
}

impl Objects {
    /// With persistent connections, the adapter has the policies PERSISTENT and USER_ID.
    pub(crate) fn new(poa: &Poa, connections: Option<Connections>) -> Self {
        Self {
            poa: poa.clone(),
            connections: connections.map(Arc::new),
        }
    }

    pub(crate) fn activate<I: ServedBy<S>, S>(&self, key: Key, servant: S) -> Result<I, PoaError> {
        match self.connections {
            Some(_) => self.poa.activate_with_id(&key.to_bytes(), servant),
            None => self.poa.activate(servant),
        }
    }

    pub(crate) fn activate_servant(
        &self,
        key: Key,
        servant: &Arc<dyn Servant>,
    ) -> Result<ObjectRef, PoaError> {
        match self.connections {
            Some(_) => self.poa.activate_servant_with_id(&key.to_bytes(), servant),
            None => self.poa.activate_servant(servant),
        }
    }

    /// The id of an object of this service.
    pub(crate) fn id_of(&self, object: &impl Interface) -> Option<Vec<u8>> {
        self.poa.reference_to_id(object).ok()
    }

    pub(crate) fn deactivate(&self, object: &impl Interface) {
        if let Some(id) = self.id_of(object) {
            // It may have been deactivated already.
            let _ = self.poa.deactivate(&id);
        }
    }

    /// Whether connections are persistent.
    pub(crate) fn are_recorded(&self) -> bool {
        self.connections.is_some()
    }

    /// The file, if there is one.
    pub(crate) fn connections(&self) -> Option<&Connections> {
        self.connections.as_deref()
    }

    /// Records an object, if objects are recorded.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save<R: Encode>(
        &self,
        key: Key,
        record: impl FnOnce() -> R,
    ) -> Result<(), SystemException> {
        match &self.connections {
            Some(connections) => connections.save(key, &record()),
            None => Ok(()),
        }
    }

    /// Records an object unless it has ended. An object that ends has ended when its record is removed: one that has ended when it is
    /// recorded may be recorded after that.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn save_unless<R: Encode>(
        &self,
        key: Key,
        has_ended: impl Fn() -> bool,
        record: impl FnOnce() -> R,
    ) -> Result<(), SystemException> {
        let saved = if has_ended() {
            Ok(())
        } else {
            self.save(key, record)
        };
        if has_ended() {
            self.forget(key);
        }
        saved
    }

    /// A number for a filter, if objects are recorded; otherwise an unused constant.
    ///
    /// # Errors
    /// `PERSIST_STORE`.
    pub(crate) fn next_filter(&self) -> Result<i32, SystemException> {
        let connections = self.connections.as_ref();
        connections.map_or(Ok(0), |it| it.next(|numbers| &mut numbers.next_filter))
    }

    /// Removes the record of a deactivated object.
    pub(crate) fn forget(&self, key: Key) {
        if let Some(connections) = &self.connections {
            connections.forget(key);
        }
    }
}
