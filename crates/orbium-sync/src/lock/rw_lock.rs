// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks that many readers share.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError};

use super::counts::Held;
use super::take;

/// [`std::sync::RwLock`] without poisoning.
#[derive(Default)]
pub struct RwLock<T: ?Sized>(sync::RwLock<T>);

/// Holds an [`RwLock`] for reading.
#[must_use = "dropping it releases the lock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    guard: sync::RwLockReadGuard<'a, T>,
    _held: Held,
}

/// Holds an [`RwLock`] for writing.
#[must_use = "dropping it releases the lock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    guard: sync::RwLockWriteGuard<'a, T>,
    _held: Held,
}

impl<T> RwLock<T> {
    /// A lock that protects a value.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes the lock for reading; blocks while a writer has it.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        let wait = || self.0.read().unwrap_or_else(PoisonError::into_inner);
        RwLockReadGuard {
            guard: take(|| self.0.try_read(), wait),
            _held: Held::new(),
        }
    }

    /// Takes the lock for writing; blocks while readers or a writer have it.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        let wait = || self.0.write().unwrap_or_else(PoisonError::into_inner);
        RwLockWriteGuard {
            guard: take(|| self.0.try_write(), wait),
            _held: Held::new(),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
