// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IOR table: plain keys of objects in any process, known in other ORBs as `IORTable`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use orbium_adapter::{IorTableError, TableEntries};
use orbium_giop::Ior;

use crate::adapter::dispatch::forward::ForwardRequest;
use crate::{Interface, ObjectRef, Orb};

/// The entries of an ORB's table.
pub(crate) type Table = TableEntries<dyn IorLocator>;

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

/// The reference to which clients that call by a key are forwarded, and whether permanently.
pub(super) fn look_up(table: &Table, key: &[u8]) -> Option<(Ior, bool)> {
    if let Some(ior) = table.get(key) {
        return Some((ior, false));
    }
    let locator = table.locator()?;
    let located = catch_unwind(AssertUnwindSafe(|| locator.locate(key)));
    let forward = located.ok().flatten()?;
    Some((forward.to.ior().clone(), forward.permanent))
}

/// Maps keys to objects in any process, to which calls by the keys are forwarded
/// (LOCATION_FORWARD), as in `corbaloc::host:port/Key`. Keys of the ORB's own objects and those of
/// [`Orb::bind_key`] take precedence.
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
        self.table().bind(key, object.as_object().ior())
    }

    /// Adds or replaces an entry.
    pub fn rebind(&self, key: &str, object: &impl Interface) {
        self.table().rebind(key, object.as_object().ior());
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn unbind(&self, key: &str) -> Result<(), IorTableError> {
        self.table().unbind(key)
    }

    /// The object of an entry.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn find(&self, key: &str) -> Result<ObjectRef, IorTableError> {
        let found = self.table().get(key.as_bytes());
        let ior = found.ok_or(IorTableError::NotFound)?;
        Ok(self.0.plain_reference(ior))
    }

    /// Sets the locator of objects for keys without an entry.
    pub fn set_locator(&self, locator: impl IorLocator) {
        self.table().set_locator(Some(Arc::new(locator)));
    }
}

impl Orb {
    /// The table of plain keys of objects in any process.
    #[must_use]
    pub fn ior_table(&self) -> IorTable {
        IorTable(self.clone())
    }
}
