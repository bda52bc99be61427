// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timers that a subscription may have.

use std::time::Duration;

use crate::event::{DEADLINE_TIMEOUT, INTERVAL_TIMEOUT, TIMEOUT};

/// Kind of a subscription's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerKind {
    /// Fires once.
    OneShot,
    /// Fires in every period.
    Interval,
    /// Fires at the end of a period; each delivery to the consumer begins a new one.
    Deadline,
}

impl TimerKind {
    /// The type of the timer's events.
    pub(crate) fn event_type(self) -> i32 {
        match self {
            Self::OneShot => TIMEOUT,
            Self::Interval => INTERVAL_TIMEOUT,
            Self::Deadline => DEADLINE_TIMEOUT,
        }
    }
}

/// A timer of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The kind of the timer.
    pub kind: TimerKind,
    /// The time until its first event, and between two events.
    pub period: Duration,
}
