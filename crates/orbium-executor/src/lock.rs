// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks, as the model checker of the tests has them too. No code of a user runs under one.

use std::hint::spin_loop;

pub(crate) use orbium_sync::lock::{Condvar, Mutex, MutexGuard};

/// How often a thread looks for a lock before it sleeps; between two looks it pauses once, then twice as long each time.
/// Together that is a few microseconds, as much as the system takes to put it to sleep and wake it.
const MAX_SPINS: u32 = 7;

/// The guard of a lock that is held for less time than a system call takes.
pub(crate) fn acquire<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for look in 0..MAX_SPINS {
        if let Some(guard) = mutex.try_lock() {
            return guard;
        }
        (0..1 << look).for_each(|_| spin_loop());
    }
    mutex.lock()
}
