// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time of a processor that the system reserves for a thread.

use std::fmt;
use std::time::Duration;

/// Processor time in each period, by a deadline (SCHED_DEADLINE): the system gives the thread
/// `runtime` within `deadline` of the beginning of each period, before all threads with priorities,
/// and no more than that. It refuses a reservation that it cannot guarantee together with the
/// others.
///
/// A thread with a reservation runs on all processors of the process. Threads that it creates have
/// none. The reservation ends with its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reservation {
    /// Time in each period; at least 1.024 µs on Linux.
    pub runtime: Duration,
    /// The time within which it is given; at most the period.
    pub deadline: Duration,
    /// The time between the beginnings of periods.
    pub period: Duration,
    /// Whether the thread may also use time that other reservations leave unused
    /// (SCHED_FLAG_RECLAIM): the system charges its runtime more slowly while others do not use
    /// theirs. Time of a virtual processor that the host takes away is charged like use, so that a
    /// thread of a virtual machine may need this.
    pub reclaims: bool,
}

impl Reservation {
    /// Time in each period, with the period as deadline.
    #[must_use]
    pub const fn new(runtime: Duration, period: Duration) -> Self {
        Self {
            runtime,
            deadline: period,
            period,
            reclaims: false,
        }
    }

    /// The same; the thread may also use time that other reservations leave unused.
    ///
    /// ```
    /// use std::time::Duration;
    /// use orbium_sys::Reservation;
    ///
    /// let ms = Duration::from_millis;
    /// let reservation = Reservation::new(ms(2), ms(50)).reclaiming();
    /// assert_eq!(reservation.to_string(), "2ms in each 50ms by 50ms, and what others leave");
    /// ```
    #[must_use]
    pub const fn reclaiming(self) -> Self {
        Self {
            reclaims: true,
            ..self
        }
    }
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} in each {:?} by {:?}",
            self.runtime, self.period, self.deadline
        )?;
        if self.reclaims {
            f.write_str(", and what others leave")?;
        }
        Ok(())
    }
}
