// SPDX-License-Identifier: MIT OR Apache-2.0
//! POA managers of an ORB, by their ids.

use std::fmt;

use orbium_sync::lock::{Mutex, MutexGuard};

use crate::manager::{PoaManager, WeakManager};

/// A POA manager with that id already exists.
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

/// The existing managers, by weak references.
#[derive(Debug, Default)]
pub struct Managers(Mutex<KnownManagers>);

#[derive(Debug, Default)]
struct KnownManagers {
    all: Vec<WeakManager>,
    /// The number of generated ids that were taken at first.
    renamed: u64,
}

impl KnownManagers {
    fn has(&self, id: &str) -> bool {
        let mut all = self.all.iter().filter_map(WeakManager::upgrade);
        all.any(|it| it.id() == id)
    }

    /// An unused id that contains the name of an adapter.
    fn free_id(&mut self, adapter: &str) -> String {
        let mut id = format!("{adapter}Manager");
        while self.has(&id) {
            self.renamed += 1;
            id = format!("{adapter}Manager{}", self.renamed);
        }
        id
    }
}

impl Managers {
    fn lock(&self) -> MutexGuard<'_, KnownManagers> {
        self.0.lock()
    }

    /// Adds the manager made by `make` with that id, or with one that contains the name of its
    /// adapter.
    ///
    /// # Errors
    /// [`ManagerAlreadyExists`]: a manager has that id.
    pub fn add(
        &self,
        id: Option<&str>,
        adapter: &str,
        make: impl FnOnce(&str) -> PoaManager,
    ) -> Result<PoaManager, ManagerAlreadyExists> {
        let mut known = self.lock();
        known.all.retain(|it| it.upgrade().is_some());
        let id = match id {
            Some(id) if known.has(id) => return Err(ManagerAlreadyExists),
            Some(id) => id.to_owned(),
            None => known.free_id(adapter),
        };
        let manager = make(&id);
        known.all.push(manager.downgrade());
        Ok(manager)
    }

    /// All managers.
    #[must_use]
    pub fn list(&self) -> Vec<PoaManager> {
        let known = self.lock();
        known.all.iter().filter_map(WeakManager::upgrade).collect()
    }
}
