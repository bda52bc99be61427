// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calling thread: its priority, scheduling and reactor, and dedicated threads.

pub mod dedication;
pub mod priority;
pub mod reactor;
pub(crate) mod real_time;
pub mod scheduling;
