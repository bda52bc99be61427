// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes: their start, their threads and their queue.

pub(crate) mod draining;
pub(crate) mod lane_core;
pub(crate) mod lane_start;
pub(crate) mod nested_calls;
pub(crate) mod pool;
pub(crate) mod rank;
pub(crate) mod sizes;
mod waiting;
