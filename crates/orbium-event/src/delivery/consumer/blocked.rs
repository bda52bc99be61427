// SPDX-License-Identifier: MIT OR Apache-2.0
//! A set for which the queue of a consumer has no space.

use std::time::Duration;

use crate::delivery::queue::EventSet;
use crate::delivery::queue::limits::{QueueLimits, Rank};

/// A set that has passed the filter and is not in the queue.
pub(super) struct Blocked {
    pub(super) set: EventSet,
    pub(super) rank: Rank,
    pub(super) limits: QueueLimits,
    /// The time for which a thread may wait, from the arrival of the set.
    pub(super) time: Duration,
}
