// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IOR table: plain keys of objects that may be anywhere, as other ORBs have it under
//! the name `IORTable`.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_giop::Ior;
use orbium_sync::lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::adapter::dispatch::forward::ForwardRequest;
use crate::{Interface, ObjectRef, Orb};

/// The entries of an ORB's table. References hold the ORB, so it has IORs.
#[derive(Default)]
pub(crate) struct Table {
    entries: RwLock<HashMap<Box<[u8]>, Ior>>,
    locator: RwLock<Option<Arc<dyn IorLocator>>>,
}

/// Finds objects for keys that are not in the [`IorTable`].
///
/// Functions and closures that take the key implement it.
pub trait IorLocator: Send + Sync + 'static {
    /// The object to which calls by that key are forwarded. It runs on the thread that
    /// reads the connection, so it must not block. After a panic there is no object.
    fn locate(&self, key: &[u8]) -> Option<ForwardRequest>;
}

impl<F: Fn(&[u8]) -> Option<ForwardRequest> + Send + Sync + 'static> IorLocator for F {
    fn locate(&self, key: &[u8]) -> Option<ForwardRequest> {
        self(key)
    }
}

/// Error of an [`IorTable`].
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

impl Table {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<Box<[u8]>, Ior>> {
        self.entries.read()
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<Box<[u8]>, Ior>> {
        self.entries.write()
    }

    /// Drops what the user has given.
    pub(crate) fn clear(&self) {
        let mut locator = self.locator.write();
        let before = locator.take();
        drop(locator);
        drop(before);
    }

    /// Where clients that call by a key are sent, and whether for good.
    pub(super) fn lookup(&self, key: &[u8]) -> Option<(Ior, bool)> {
        if let Some(ior) = self.read().get(key) {
            return Some((ior.clone(), false));
        }
        let locator = self.locator.read();
        let locator = locator.clone()?;
        let located = catch_unwind(AssertUnwindSafe(|| locator.locate(key)));
        let forward = located.ok().flatten()?;
        Some((forward.to.ior().clone(), forward.permanent))
    }
}

/// Keys and the objects, anywhere, to which calls by them are forwarded
/// (LOCATION_FORWARD), as in `corbaloc::host:port/Key`. Keys of the ORB's own objects and
/// those of [`Orb::bind_key`] come first.
#[derive(Clone, Debug)]
pub struct IorTable(Orb);

impl IorTable {
    fn table(&self) -> &Table {
        &self.0.core().adapters.table
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`IorTableError::AlreadyBound`].
    pub fn bind(&self, key: &str, object: &impl Interface) -> Result<(), IorTableError> {
        let mut entries = self.table().write();
        if entries.contains_key(key.as_bytes()) {
            return Err(IorTableError::AlreadyBound);
        }
        entries.insert(key.as_bytes().into(), object.as_object().ior().clone());
        Ok(())
    }

    /// Adds or replaces an entry.
    pub fn rebind(&self, key: &str, object: &impl Interface) {
        let ior = object.as_object().ior().clone();
        self.table().write().insert(key.as_bytes().into(), ior);
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn unbind(&self, key: &str) -> Result<(), IorTableError> {
        let removed = self.table().write().remove(key.as_bytes());
        removed.map(drop).ok_or(IorTableError::NotFound)
    }

    /// The object of an entry.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn find(&self, key: &str) -> Result<ObjectRef, IorTableError> {
        let found = self.table().read().get(key.as_bytes()).cloned();
        let ior = found.ok_or(IorTableError::NotFound)?;
        Ok(self.0.plain_reference(ior))
    }

    /// Sets what finds the objects of keys without an entry.
    pub fn set_locator(&self, locator: impl IorLocator) {
        let mut place = self.table().locator.write();
        let before = place.replace(Arc::new(locator));
        drop(place);
        drop(before);
    }
}

impl Orb {
    /// The table of keys of objects that may be anywhere.
    #[must_use]
    pub fn ior_table(&self) -> IorTable {
        IorTable(self.clone())
    }
}
