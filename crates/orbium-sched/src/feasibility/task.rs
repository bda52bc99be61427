// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks.

use crate::time::Time;

/// A task: a sequence of jobs, at least a period from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The least time between two releases; not zero.
    pub period: Time,
    /// The longest execution of a job.
    pub execution_time: Time,
    /// The relative deadline of a job, at most the period.
    pub deadline: Time,
    /// The maximum delay of a job's readiness after its release; counts within the deadline.
    pub jitter: Time,
}

impl Task {
    /// A task with its period as deadline.
    #[must_use]
    pub const fn new(period: Time, execution_time: Time) -> Self {
        Task {
            period,
            execution_time,
            deadline: period,
            jitter: Time::ZERO,
        }
    }

    /// The same task with another deadline.
    #[must_use]
    pub const fn with_deadline(self, deadline: Time) -> Self {
        Task { deadline, ..self }
    }

    /// The longest execution that can become ready within a window of that length: the interference
    /// with tasks of lower priority.
    pub(crate) fn interference(&self, window: Time) -> Time {
        let window = window.saturating_add(self.jitter);
        let jobs = window.ticks().div_ceil(self.period.ticks().max(1));
        self.execution_time.saturating_mul(jobs)
    }

    /// The execution of jobs with release and deadline within a window of that length.
    pub(crate) fn demand(&self, window: Time) -> Time {
        let window = window.saturating_add(self.jitter);
        match window.ticks().checked_sub(self.deadline.ticks()) {
            None => Time::ZERO,
            Some(rest) => {
                let jobs = rest / self.period.ticks().max(1) + 1;
                self.execution_time.saturating_mul(jobs)
            }
        }
    }
}

/// The sum over tasks.
pub(crate) fn sum(tasks: &[Task], of: impl Fn(&Task) -> Time) -> Time {
    let sum = |sum: Time, task| sum.saturating_add(of(task));
    tasks.iter().fold(Time::ZERO, sum)
}

/// Merges tasks that differ only in their execution time: the formulas add those in any case.
#[must_use]
pub fn merged(mut tasks: Vec<Task>) -> Vec<Task> {
    let key = |it: &Task| (it.period, it.deadline, it.jitter);
    tasks.sort_unstable_by_key(key);
    tasks.dedup_by(|later, kept| {
        let is_same = key(later) == key(kept);
        if is_same {
            kept.execution_time = kept.execution_time.saturating_add(later.execution_time);
        }
        is_same
    });
    tasks
}
