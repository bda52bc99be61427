// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standard library's locks with a count of what is done with them.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult, WaitTimeoutResult};
use std::time::Duration;

use super::counts::{Held, contended, signals, waits};

/// These locks count.
pub const ENABLED: bool = true;

/// As [`std::sync::Mutex`].
#[derive(Default)]
pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

/// As [`std::sync::MutexGuard`].
#[derive(Debug)]
pub struct MutexGuard<'a, T: ?Sized> {
    guard: std::sync::MutexGuard<'a, T>,
    held: Held,
}

/// As [`std::sync::RwLock`].
#[derive(Default)]
pub struct RwLock<T: ?Sized>(std::sync::RwLock<T>);

/// As [`std::sync::RwLockReadGuard`].
#[derive(Debug)]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    guard: std::sync::RwLockReadGuard<'a, T>,
    _held: Held,
}

/// As [`std::sync::RwLockWriteGuard`].
#[derive(Debug)]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    guard: std::sync::RwLockWriteGuard<'a, T>,
    _held: Held,
}

/// As [`std::sync::Condvar`].
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

/// Changes the guard within a result, poisoned or not.
fn map<G, H>(result: LockResult<G>, change: impl FnOnce(G) -> H) -> LockResult<H> {
    match result {
        Ok(guard) => Ok(change(guard)),
        Err(poisoned) => Err(PoisonError::new(change(poisoned.into_inner()))),
    }
}

/// The same of an attempt.
fn map_try<G, H>(
    result: std::sync::TryLockResult<G>,
    change: impl FnOnce(G) -> H,
) -> TryLockResult<H> {
    match result {
        Ok(guard) => Ok(change(guard)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => Err(TryLockError::Poisoned(PoisonError::new(
            change(poisoned.into_inner()),
        ))),
    }
}

/// Locks by `try_lock` first, which detects contention.
fn take<G>(
    tried: std::sync::TryLockResult<G>,
    wait: impl FnOnce() -> LockResult<G>,
) -> LockResult<G> {
    match tried {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
        Err(TryLockError::WouldBlock) => {
            contended();
            wait()
        }
    }
}

impl<T> Mutex<T> {
    /// As [`std::sync::Mutex::new`].
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// As [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn into_inner(self) -> LockResult<T> {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// As [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        map(take(self.0.try_lock(), || self.0.lock()), guarded)
    }

    /// As [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// Another thread holds the lock, or one panicked while it did.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        map_try(self.0.try_lock(), guarded)
    }

    /// As [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.0.get_mut()
    }
}

fn guarded<T: ?Sized>(guard: std::sync::MutexGuard<'_, T>) -> MutexGuard<'_, T> {
    MutexGuard {
        guard,
        held: Held::new(),
    }
}

impl<T> RwLock<T> {
    /// As [`std::sync::RwLock::new`].
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// As [`std::sync::RwLock::read`].
    ///
    /// # Errors
    /// A thread panicked while it wrote.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let taken = take(self.0.try_read(), || self.0.read());
        map(taken, |guard| RwLockReadGuard {
            guard,
            _held: Held::new(),
        })
    }

    /// As [`std::sync::RwLock::write`].
    ///
    /// # Errors
    /// A thread panicked while it wrote.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let taken = take(self.0.try_write(), || self.0.write());
        map(taken, |guard| RwLockWriteGuard {
            guard,
            _held: Held::new(),
        })
    }
}

impl Condvar {
    /// As [`std::sync::Condvar::new`].
    #[must_use]
    pub const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// As [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        map(self.0.wait(waiting(guard)), guarded)
    }

    /// As [`std::sync::Condvar::wait_while`].
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let waited = self.0.wait_timeout(waiting(guard), time);
        map(waited, |(guard, result)| (guarded(guard), result))
    }

    /// As [`std::sync::Condvar::notify_one`].
    pub fn notify_one(&self) {
        signals();
        self.0.notify_one();
    }

    /// As [`std::sync::Condvar::notify_all`].
    pub fn notify_all(&self) {
        signals();
        self.0.notify_all();
    }
}

/// The guard of a lock that waiting for a condition releases.
fn waiting<T>(guard: MutexGuard<'_, T>) -> std::sync::MutexGuard<'_, T> {
    waits();
    let MutexGuard { guard, held } = guard;
    drop(held);
    guard
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
