// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutual exclusion.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError};

use super::counts::{Held, waits};
use super::{take, taken};

/// [`std::sync::Mutex`] without poisoning.
#[derive(Default)]
pub struct Mutex<T: ?Sized>(sync::Mutex<T>);

/// Holds a [`Mutex`].
#[must_use = "dropping it releases the lock"]
pub struct MutexGuard<'a, T: ?Sized> {
    guard: sync::MutexGuard<'a, T>,
    held: Held,
}

impl<T> Mutex<T> {
    /// A mutex that protects a value.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// The value.
    #[inline]
    pub fn into_inner(self) -> T {
        let value = self.0.into_inner();
        value.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock; blocks until it is free.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let wait = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        MutexGuard::new(take(|| self.0.try_lock(), wait))
    }

    /// Takes the lock, unless it is held.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        taken(self.0.try_lock()).map(MutexGuard::new)
    }

    /// The value, to which no other thread has access.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        let value = self.0.get_mut();
        value.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    #[inline]
    pub(super) fn new(guard: sync::MutexGuard<'a, T>) -> Self {
        Self {
            guard,
            held: Held::new(),
        }
    }

    /// The standard library's guard, for a wait that releases the lock.
    #[inline]
    pub(super) fn into_waiting(self) -> sync::MutexGuard<'a, T> {
        waits();
        let Self { guard, held } = self;
        drop(held);
        guard
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
