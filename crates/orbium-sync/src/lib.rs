// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small concurrent structures for an ORB. They have no notion of CORBA.
//!
//! * [`Slab`]: values by index in constant time; a generation in each slot
//!   distinguishes a value from an earlier one in the same slot.
//! * [`Projection`]: a value of a slab and a view of it, both looked up once.
//! * [`Erased`]: a boxed value of any type, with a type check that needs no call.
//! * [`ObjectCache`]: objects for reuse, with a slot per thread and without a lock.
//! * [`role`]: the role a thread has while it runs a servant (reader, reactor),
//!   which it hands off before it blocks.
//! * [`lock`]: the locks on the path of a call, which can be counted.
//! * [`Versions`]: a value that is replaced while others read it.
//! * [`Turn`]: one thread at a time, which may take its turn again.
//! * [`spawn`], [`ThreadCache`]: new threads, and a pool that ends idle threads after a
//!   while.
//! * [`oneshot`]: a channel for one value.
//! * [`lend`]: work that borrows from the stack of its thread, run by another.
//! * [`JobQueue`]: jobs that a bounded number of such threads run in order.
//! * [`LeaderFollower`]: elects one of the waiting threads to read for all.
#![deny(unsafe_code)]

mod atomic;
mod erased;
mod job_queue;
mod leader_follower;
mod lent;
pub mod lock;
mod object_cache;
mod oneshot;
mod process_barrier;
pub mod role;
mod slab;
mod start_barrier;
mod threads;
mod turn;
mod versions;

pub use erased::Erased;
pub use job_queue::JobQueue;
pub use leader_follower::{LeaderFollower, Wake};
pub use lent::{Lender, Loan, lend};
pub use object_cache::ObjectCache;
pub use oneshot::{OneshotReceiver, OneshotSender, oneshot};
pub use slab::{Pinned, Projection, Slab, SlabFull, SlotKey};
pub use start_barrier::{StartBarrier, StartGuard};
pub use threads::{Starter, ThreadCache, ThreadOptions, spawn};
pub use turn::{Taken, Turn};
pub use versions::Versions;
