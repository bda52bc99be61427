// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entries of an IOR table: plain keys of objects in any process.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use orbium_giop::Ior;
use orbium_sync::lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Error of an IOR table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IorTableError {
    /// The key has an entry.
    AlreadyBound,
    /// The key has no entry.
    NotFound,
}

impl fmt::Display for IorTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyBound => "the key has an entry already",
            Self::NotFound => "the key has no entry",
        })
    }
}

impl fmt::Debug for IorTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for IorTableError {}

/// The entries of an ORB's table, and the locator of objects with other keys. It stores IORs, since
/// references hold the ORB.
pub struct TableEntries<L: ?Sized> {
    entries: RwLock<HashMap<Box<[u8]>, Ior>>,
    locator: RwLock<Option<Arc<L>>>,
}

impl<L: ?Sized> Default for TableEntries<L> {
    fn default() -> Self {
        Self {
            entries: RwLock::default(),
            locator: RwLock::new(None),
        }
    }
}

impl<L: ?Sized> fmt::Debug for TableEntries<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableEntries")
            .field("entries", &self.read().len())
            .finish_non_exhaustive()
    }
}

impl<L: ?Sized> TableEntries<L> {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<Box<[u8]>, Ior>> {
        self.entries.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Box<[u8]>, Ior>> {
        self.entries.write()
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`IorTableError::AlreadyBound`].
    pub fn bind(&self, key: &str, ior: &Ior) -> Result<(), IorTableError> {
        let mut entries = self.write();
        if entries.contains_key(key.as_bytes()) {
            return Err(IorTableError::AlreadyBound);
        }
        entries.insert(key.as_bytes().into(), ior.clone());
        Ok(())
    }

    /// Adds or replaces an entry.
    pub fn rebind(&self, key: &str, ior: &Ior) {
        self.write().insert(key.as_bytes().into(), ior.clone());
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn unbind(&self, key: &str) -> Result<(), IorTableError> {
        let removed = self.write().remove(key.as_bytes());
        removed.map(drop).ok_or(IorTableError::NotFound)
    }

    /// The IOR of an entry.
    pub fn get(&self, key: &[u8]) -> Option<Ior> {
        self.read().get(key).cloned()
    }

    /// The locator of objects for keys without an entry.
    pub fn locator(&self) -> Option<Arc<L>> {
        let locator = self.locator.read();
        locator.clone()
    }

    /// Sets or removes the locator.
    pub fn set_locator(&self, locator: Option<Arc<L>>) {
        let mut place = self.locator.write();
        let before = std::mem::replace(&mut *place, locator);
        // Dropped without the lock: its destructor belongs to the program.
        drop(place);
        drop(before);
    }
}
