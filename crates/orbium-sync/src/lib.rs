// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small concurrent structures an ORB is made of. None of them knows CORBA.
//!
//! * [`Slab`]: values found by index in constant time; a generation in each
//!   slot tells a value from the one that was there before.
//! * [`ObjectCache`]: objects for reuse, with a slot per thread and without a lock.
//! * [`role`]: what a thread is doing for others, so that it can hand that over
//!   before it blocks.
//! * [`lock`]: the locks on the way of a call, which can be counted.
//! * [`PriorityMutex`]: its owner is as urgent as who waits for it.
//! * [`spawn`], [`ThreadCache`]: new threads, and threads that are kept for a
//!   while after their work.
//! * [`Turns`]: who of those who wait reads for all of them.
#![deny(unsafe_code)]

mod atomic;
pub mod lock;
mod object_cache;
#[cfg(all(target_os = "linux", feature = "priority-mutex"))]
mod pi_futex;
#[cfg(all(not(target_os = "linux"), feature = "priority-mutex"))]
#[path = "pi_futex_elsewhere.rs"]
mod pi_futex;
#[cfg(feature = "priority-mutex")]
mod priority_mutex;
pub mod role;
mod slab;
mod threads;
#[cfg(feature = "turns")]
mod turns;

pub use object_cache::ObjectCache;
#[cfg(feature = "priority-mutex")]
pub use priority_mutex::{MutexError, PriorityMutex};
pub use slab::{Pinned, Slab, SlabFull, SlotKey};
pub use threads::{Starter, ThreadCache, ThreadOptions, spawn};
#[cfg(feature = "turns")]
pub use turns::{Turn, Turns};
