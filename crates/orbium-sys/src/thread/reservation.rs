// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time of a processor that the system reserves for a thread.

use std::fmt;
use std::time::Duration;

/// Time of a processor in each period, by a deadline (SCHED_DEADLINE): the system gives the thread
/// `runtime` within `deadline` of the beginning of each period, before all threads with priorities,
/// and no more than that. It refuses what it could not keep together with the other reservations.
///
/// A thread with a reservation runs on all processors of the process. Threads that it makes have
/// none. The reservation ends with its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// Time in each period; at least 1.024 µs on Linux.
    pub runtime: Duration,
    /// The time by which it is given; at most the period.
    pub deadline: Duration,
    /// From one beginning to the next.
    pub period: Duration,
}

impl Reservation {
    /// Time in each period, with the period as deadline.
    #[must_use]
    pub const fn new(runtime: Duration, period: Duration) -> Self {
        Self {
            runtime,
            deadline: period,
            period,
        }
    }
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} in each {:?} by {:?}",
            self.runtime, self.period, self.deadline
        )
    }
}
