// SPDX-License-Identifier: MIT OR Apache-2.0
//! POA managers by their ids (`PortableServer::POAManagerFactory`, CORBA 3.3 Part 1, clause
//! 15.3.2).

use std::fmt;
use std::sync::Arc;

use crate::adapter::{Adapters, PoaManager};
use orbium_adapter::WeakManager;

/// A POA manager with that id exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ManagerAlreadyExists;

impl fmt::Display for ManagerAlreadyExists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a POA manager with that id exists already")
    }
}

impl fmt::Debug for ManagerAlreadyExists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ManagerAlreadyExists {}

impl Adapters {
    /// A manager with that id, or with one that shows the name of its adapter.
    pub(super) fn new_manager(
        &self,
        id: Option<&str>,
        adapter: &str,
    ) -> Result<PoaManager, ManagerAlreadyExists> {
        let managers = &self.registry.managers;
        let mut managers = managers.lock();
        let (known, count) = &mut *managers;
        known.retain(|it| it.upgrade().is_some());
        let is_known = |id: &str| {
            let mut all = known.iter().filter_map(WeakManager::upgrade);
            all.any(|it| it.id() == id)
        };
        let id = match id {
            Some(id) if is_known(id) => return Err(ManagerAlreadyExists),
            Some(id) => id.to_owned(),
            None => {
                let mut id = format!("{adapter}Manager");
                while is_known(&id) {
                    *count += 1;
                    id = format!("{adapter}Manager{count}");
                }
                id
            }
        };
        let interceptors = self.ior_interceptors.clone();
        let started = self.registry.started();
        let manager = PoaManager::new(
            self.context.number,
            self.context.limits(),
            started,
            &id,
            interceptors,
        );
        known.push(manager.downgrade());
        Ok(manager)
    }
}

/// Makes and finds the POA managers of an ORB; see
/// [`Poa::manager_factory`](crate::Poa::manager_factory).
#[derive(Clone, Debug)]
pub struct PoaManagerFactory(pub(super) Arc<Adapters>);

impl PoaManagerFactory {
    /// Makes a manager with that id, or with one of the factory's choice if it is empty. It
    /// exists as long as an adapter or the program holds it.
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

    /// All managers that exist, those of adapters that were made without one too.
    #[must_use]
    pub fn list(&self) -> Vec<PoaManager> {
        let managers = self.0.registry.managers.lock();
        managers.0.iter().filter_map(WeakManager::upgrade).collect()
    }
}
