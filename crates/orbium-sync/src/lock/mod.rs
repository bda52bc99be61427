// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks that can be counted.
//!
//! What lies on the way of a call takes its locks from here. They are the
//! standard library's own, and not an instruction more, unless the feature
//! `counted` is on: then every operation on one is counted, for figures 30 and
//! 31 of Schmidt, Mungee, Flores-Gaitan and Gokhale, "Software Architectures for
//! Reducing Priority Inversion and Non-determinism in Real-time Object Request
//! Brokers".

pub mod counted;
pub mod counts;
pub mod plain;

pub use counts::{Counts, counts};

// Names that are imported one by one go before those of a glob import.
#[cfg(feature = "counted")]
pub use counted::{Condvar, ENABLED, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use plain::*;
