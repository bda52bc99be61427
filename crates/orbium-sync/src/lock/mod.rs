// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standard library's locks without poisoning, which can be counted.
//!
//! A thread that panics while it holds one of these locks releases it without poisoning: an upcall
//! that panics ends its request, not the adapter. So the data that a lock protects must be
//! consistent at every place at which the program may panic.
//!
//! With the feature `counted` every operation is counted, for figures 30 and 31 of Schmidt,
//! Mungee, Flores-Gaitan and Gokhale, "Software Architectures for Reducing Priority Inversion
//! and Non-determinism in Real-time Object Request Brokers". Without it these locks are the
//! standard library's, without any overhead.
//!
//! ```
//! use orbium_sync::lock::Mutex;
//!
//! let counter = Mutex::new(0);
//! *counter.lock() += 1;
//! assert_eq!(*counter.lock(), 1);
//! assert_eq!(counter.try_lock().map(|held| *held), Some(1));
//! ```

mod condvar;
mod counts;
mod mutex;
mod rw_lock;

use std::sync::{PoisonError, TryLockError, TryLockResult};

pub use condvar::Condvar;
pub use counts::{Counts, ENABLED, counts};
pub use mutex::{Mutex, MutexGuard};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Takes a lock by an attempt first if operations are counted, to detect contention.
fn take<G>(attempt: impl FnOnce() -> TryLockResult<G>, wait: impl FnOnce() -> G) -> G {
    if !ENABLED {
        return wait();
    }
    taken(attempt()).unwrap_or_else(|| {
        counts::contended();
        wait()
    })
}

/// The guard of an attempt, poisoned or not; `None` if another thread holds the lock.
fn taken<G>(attempt: TryLockResult<G>) -> Option<G> {
    match attempt {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
        Err(TryLockError::WouldBlock) => None,
    }
}
