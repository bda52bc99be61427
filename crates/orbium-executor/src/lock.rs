// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks, as the model checker of the tests has them too. No code of a user runs under one, so none
//! is poisoned.

use std::hint::spin_loop;
use std::sync::{PoisonError, TryLockError};

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// How often a thread looks for a lock before it sleeps; between two looks it pauses once, then twice as long each time.
/// Together that is a few microseconds, as much as the system takes to put it to sleep and wake it.
const MAX_SPINS: u32 = 7;

/// The guard of a lock that is held for less time than a system call takes.
pub(crate) fn acquire<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for look in 0..MAX_SPINS {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => (0..1 << look).for_each(|_| spin_loop()),
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
