// SPDX-License-Identifier: MIT OR Apache-2.0
//! POA managers by their ids (`PortableServer::POAManagerFactory`, CORBA 3.3 Part 1, clause
//! 15.3.2).

use std::sync::Arc;

use orbium_adapter::ManagerAlreadyExists;

use crate::adapter::{Adapters, PoaManager};

impl Adapters {
    /// A manager with that id, or with a generated id that contains the name of its adapter.
    pub(super) fn new_manager(
        &self,
        id: Option<&str>,
        adapter: &str,
    ) -> Result<PoaManager, ManagerAlreadyExists> {
        self.registry.managers.add(id, adapter, |id| {
            let interceptors = self.ior_interceptors.clone();
            let started = self.registry.started();
            let limits = self.context.limits();
            PoaManager::new(self.context.number, limits, started, id, interceptors)
        })
    }
}

/// Makes and finds the POA managers of an ORB; see
/// [`Poa::manager_factory`](crate::Poa::manager_factory).
#[derive(Clone, Debug)]
pub struct PoaManagerFactory(pub(super) Arc<Adapters>);

impl PoaManagerFactory {
    /// Makes a manager with that id, or with a generated id if it is empty. It exists as long as an
    /// adapter or the program holds it.
    ///
    /// # Errors
    /// [`ManagerAlreadyExists`].
    pub fn create(&self, id: &str) -> Result<PoaManager, ManagerAlreadyExists> {
        self.0
            .new_manager(Some(id).filter(|id| !id.is_empty()), "POA")
    }

    /// The manager with that id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<PoaManager> {
        self.list().into_iter().find(|it| it.id() == id)
    }

    /// All existing managers, including those that adapters have created.
    #[must_use]
    pub fn list(&self) -> Vec<PoaManager> {
        self.0.registry.managers.list()
    }
}
