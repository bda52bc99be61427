// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks, with the interface of the model checker of the tests. No user code runs under one.

use std::hint::spin_loop;

pub(crate) use orbium_sync::lock::{Condvar, Mutex, MutexGuard};

/// The number of times that a thread tries a lock before it sleeps; it pauses once after the first
/// try, then twice as long each time. Together that is a few microseconds, as much as putting it to
/// sleep and waking it takes.
const MAX_SPINS: u32 = 7;

/// The guard of a lock that is held for a shorter time than a system call.
pub(crate) fn acquire<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for look in 0..MAX_SPINS {
        if let Some(guard) = mutex.try_lock() {
            return guard;
        }
        (0..1 << look).for_each(|_| spin_loop());
    }
    mutex.lock()
}
