// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounded work of the tests.

/// The number of terms that a test may still evaluate: one is a task in one sum. Near a utilization
/// of 1 the iteration for a response can take steps of 100 ns up to minutes; a test without
/// remaining terms ends without a proof.
///
/// ```
/// use orbium_sched::Time;
/// use orbium_sched::feasibility::{Effort, Task, response_time_within};
///
/// let task = |period, time| Task::new(Time::from_ticks(period), Time::from_ticks(time));
/// let (own, higher) = ([task(u64::MAX, 1)], [task(1, 1)]);
/// let mut effort = Effort::of(1_000);
/// let limit = own[0].deadline;
/// let response = response_time_within(&own, &higher, Time::ZERO, limit, Time::ZERO, &mut effort);
/// assert_eq!(response, None);
/// assert!(effort.is_exhausted());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    left: u64,
}

impl Effort {
    /// So many terms.
    #[must_use]
    pub const fn of(terms: u64) -> Self {
        Self { left: terms }
    }

    /// Whether no terms remain: a `None` or `false` of a test then proves nothing.
    #[must_use]
    pub const fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Consumes the terms of a sum over so many tasks; `false` if none remain.
    pub(super) fn take(&mut self, tasks: usize) -> bool {
        let terms = u64::try_from(tasks).unwrap_or(u64::MAX).max(1);
        self.left = self.left.saturating_sub(terms);
        self.left > 0
    }

    /// For so many sums over so many tasks.
    pub(super) fn of_steps(steps: u64, tasks: usize) -> Self {
        let tasks = u64::try_from(tasks).unwrap_or(u64::MAX).max(1);
        Self::of(steps.saturating_mul(tasks).saturating_add(1))
    }
}
