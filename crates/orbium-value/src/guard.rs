// SPDX-License-Identifier: MIT OR Apache-2.0
//! Access to the state of a value.

use core::fmt;
use core::ops::{Deref, DerefMut};

use parking_lot::{MappedRwLockReadGuard, MappedRwLockWriteGuard};

/// Read access to the state of a value. Other readers may read it at the same time.
#[must_use]
pub struct Read<'v, S>(pub(crate) MappedRwLockReadGuard<'v, S>);

/// Write access to the state of a value. Until it is dropped, readers block, and so does a call
/// that passes the value.
#[must_use]
pub struct Write<'v, S>(pub(crate) MappedRwLockWriteGuard<'v, S>);

impl<S> Deref for Read<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> Deref for Write<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S> DerefMut for Write<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.0
    }
}

impl<S: fmt::Debug> fmt::Debug for Read<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<S: fmt::Debug> fmt::Debug for Write<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
