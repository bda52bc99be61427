// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules: queues with verdicts, and priorities.

mod analysis;
mod blocking;
mod compute;
mod findings;
mod level;
mod levels;
mod order;
mod outcome;

pub use level::{Dispatching, Level, Test, Verdict};
pub use outcome::Schedule;
