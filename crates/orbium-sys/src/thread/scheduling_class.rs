// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduling classes, and priorities of theirs.
#![expect(unsafe_code, reason = "system calls that no safe crate offers")]

use std::fmt;
use std::ops::RangeInclusive;

use libc::c_int;

/// The policy of threads with reservations, which is no class with priorities.
#[cfg(target_os = "linux")]
pub(crate) const SCHED_DEADLINE: u8 = 6;

/// Scheduling class of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchedulingClass {
    /// Fair shares, the default of threads (SCHED_OTHER). One priority: 0.
    #[default]
    Other,
    /// The thread of the highest priority runs until it blocks (SCHED_FIFO).
    Fifo,
    /// As FIFO, with time slices among threads of equal priority (SCHED_RR).
    RoundRobin,
}

/// A scheduling class, and a priority of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scheduling {
    /// The class.
    pub class: SchedulingClass,
    /// The native priority; greater numbers are more urgent.
    pub priority: i32,
}

impl SchedulingClass {
    pub(crate) const fn policy(self) -> c_int {
        match self {
            Self::Other => libc::SCHED_OTHER,
            Self::Fifo => libc::SCHED_FIFO,
            Self::RoundRobin => libc::SCHED_RR,
        }
    }

    pub(crate) const fn of_policy(policy: c_int) -> Self {
        match policy {
            libc::SCHED_FIFO => Self::Fifo,
            libc::SCHED_RR => Self::RoundRobin,
            // Batch and idle, which also have no priorities.
            _ => Self::Other,
        }
    }

    /// The priorities of the system in this class: on Linux 1 to 99, and only 0 for
    /// [`Other`](Self::Other).
    #[must_use]
    pub fn range(self) -> RangeInclusive<i32> {
        // SAFETY: both take a number and return one.
        let (low, high) = unsafe {
            (
                libc::sched_get_priority_min(self.policy()),
                libc::sched_get_priority_max(self.policy()),
            )
        };
        low..=high
    }

    /// The name in system interfaces, such as `SCHED_FIFO`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "SCHED_OTHER",
            Self::Fifo => "SCHED_FIFO",
            Self::RoundRobin => "SCHED_RR",
        }
    }
}

impl fmt::Display for SchedulingClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} priority {}", self.class, self.priority)
    }
}

impl Scheduling {
    /// The default of threads.
    pub const OTHER: Self = Self {
        class: SchedulingClass::Other,
        priority: 0,
    };

    /// SCHED_FIFO at a priority.
    #[must_use]
    pub const fn fifo(priority: i32) -> Self {
        Self {
            class: SchedulingClass::Fifo,
            priority,
        }
    }

    /// SCHED_RR at a priority.
    #[must_use]
    pub const fn round_robin(priority: i32) -> Self {
        Self {
            class: SchedulingClass::RoundRobin,
            priority,
        }
    }
}
