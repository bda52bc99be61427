// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locking without poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex, also after a panic of a thread that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
