// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads: starting them, their scheduling, processors and reservations.

pub(crate) mod native_thread;
pub(crate) mod processors;
mod pthread;
pub(crate) mod real_time_error;
pub(crate) mod reservation;
mod reserving;
mod scheduling;
pub(crate) mod scheduling_class;
pub(crate) mod spawning;
mod thread_limits;
