// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedulers of segments, and their parameters.

pub(crate) mod counted_scheduler;
pub(crate) mod fixed_priority;
pub(crate) mod parameter;
pub(crate) mod ranked;
pub(crate) mod scheduler;
mod utility;
