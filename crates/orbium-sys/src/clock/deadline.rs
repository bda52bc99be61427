// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines of waits.

use std::io;
use std::time::{Duration, Instant};

/// A time of the monotonic clock, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No deadline.
    pub const NEVER: Self = Self(None);

    /// The deadline that long from now; `None`, and a time beyond the range of the clock, mean
    /// never.
    #[must_use]
    #[inline]
    pub fn after(timeout: Option<Duration>) -> Self {
        match timeout {
            None => Self::NEVER,
            Some(timeout) => Self(Instant::now().checked_add(timeout)),
        }
    }

    /// At that instant.
    #[must_use]
    pub const fn at(instant: Instant) -> Self {
        Self(Some(instant))
    }

    /// The instant; `None` if there is no deadline.
    #[must_use]
    #[inline]
    pub const fn instant(self) -> Option<Instant> {
        self.0
    }

    /// The remaining time: `Ok(None)` without a deadline, an error of kind
    /// [`TimedOut`](io::ErrorKind::TimedOut) if there is none.
    ///
    /// # Errors
    /// The deadline has passed.
    pub fn remaining(self) -> io::Result<Option<Duration>> {
        let Some(instant) = self.0 else {
            return Ok(None);
        };
        match instant.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => Ok(Some(left)),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|instant| instant <= Instant::now())
    }

    /// The earlier of two; never is later than all.
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Self(Some(a.min(b))),
            (a, b) => Self(a.or(b)),
        }
    }
}
