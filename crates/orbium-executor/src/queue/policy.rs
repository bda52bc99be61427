// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of ready tasks, as a pure function.

use std::fmt;

use crate::clock::nanoseconds;
use crate::tasks::qos::TaskQos;

/// The order in which the threads of a context run ready tasks. Equals run in the order in which
/// they became ready.
///
/// A *job* of a task is from a wake-up until the task waits again or ends; a task that yields
/// continues its job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// In the order in which they became ready.
    #[default]
    Fifo,
    /// The highest priority first.
    Priority,
    /// Rate monotonic: the shortest period first. Tasks without period come last.
    Rms,
    /// The earliest deadline first. Tasks without deadline come last; criticality and priority
    /// break ties.
    Edf,
    /// The least laxity first: deadline − now − remaining worst case. Tasks without deadline come
    /// last; priority breaks ties.
    Llf,
    /// Maximum urgency first: by criticality, then laxity, then priority.
    Muf,
}

/// The job of a task: its release and its execution time so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Job {
    /// `None` until a policy needs it.
    pub(crate) released: Option<u64>,
    pub(crate) executed: u64,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 6] = [
        Self::Fifo,
        Self::Priority,
        Self::Rms,
        Self::Edf,
        Self::Llf,
        Self::Muf,
    ];

    /// The name: `fifo`, `priority`, `rms`, `edf`, `llf`, `muf`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Priority => "priority",
            Self::Rms => "rms",
            Self::Edf => "edf",
            Self::Llf => "llf",
            Self::Muf => "muf",
        }
    }

    /// Whether the order depends on the release of a job.
    pub(crate) const fn reads_clock(self) -> bool {
        matches!(self, Self::Edf | Self::Llf | Self::Muf)
    }

    /// Whether the order depends on the execution time of a job.
    pub(crate) const fn measures_execution(self) -> bool {
        matches!(self, Self::Llf | Self::Muf)
    }

    /// The key of a job: the least runs first.
    pub(crate) fn key(self, qos: &TaskQos, job: Job) -> u128 {
        match self {
            Self::Fifo => 0,
            Self::Priority => pack(0, 0, qos),
            Self::Rms => pack(0, qos.period.map_or(u64::MAX, nanoseconds), qos),
            Self::Edf => pack_time_first(deadline(qos, job), qos),
            Self::Llf => pack(0, latest_start(qos, job), qos),
            Self::Muf => pack(rank(qos), latest_start(qos, job), qos),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The absolute deadline of the job; the maximum without a deadline.
fn deadline(qos: &TaskQos, job: Job) -> u64 {
    let released = job.released.unwrap_or(0);
    let relative = qos.relative_deadline();
    relative.map_or(u64::MAX, |it| released.saturating_add(nanoseconds(it)))
}

/// The latest start of the rest of the job. The laxity of all waiting jobs decreases equally, so
/// this is their order by laxity.
fn latest_start(qos: &TaskQos, job: Job) -> u64 {
    let remaining = nanoseconds(qos.worst_case).saturating_sub(job.executed);
    match deadline(qos, job) {
        u64::MAX => u64::MAX,
        deadline => deadline.saturating_sub(remaining),
    }
}

/// 0 for the most critical.
fn rank(qos: &TaskQos) -> u8 {
    u8::MAX - qos.criticality as u8
}

/// Greater priorities are smaller numbers.
fn descending(priority: i32) -> u32 {
    !(priority.cast_unsigned() ^ (1 << 31))
}

fn pack(rank: u8, time: u64, qos: &TaskQos) -> u128 {
    u128::from(rank) << 96 | u128::from(time) << 32 | u128::from(descending(qos.priority))
}

fn pack_time_first(time: u64, qos: &TaskQos) -> u128 {
    u128::from(time) << 40 | u128::from(rank(qos)) << 32 | u128::from(descending(qos.priority))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use orbium_sched::Criticality;

    use super::*;

    fn qos(priority: i32, deadline: u64, worst_case: u64) -> TaskQos {
        TaskQos::default()
            .priority(priority)
            .deadline(Duration::from_nanos(deadline))
            .worst_case(Duration::from_nanos(worst_case))
    }

    /// The indices of tasks that are released at 0, in the order in which they run.
    fn order<const N: usize>(policy: Policy, tasks: [TaskQos; N]) -> [usize; N] {
        let mut order = std::array::from_fn(|it| it);
        let job = Job {
            released: Some(0),
            executed: 0,
        };
        order.sort_by_key(|it: &usize| policy.key(&tasks[*it], job));
        order
    }

    #[test]
    fn each_policy_has_its_order() {
        let tasks = [
            qos(-5, 90, 10).period(Duration::from_nanos(10)),
            qos(3, 50, 10).period(Duration::from_nanos(30)),
            qos(i32::MAX, 60, 55).period(Duration::from_nanos(20)),
            TaskQos::default().criticality(Criticality::High),
        ];
        assert_eq!(order(Policy::Fifo, tasks), [0, 1, 2, 3]);
        assert_eq!(order(Policy::Priority, tasks), [2, 1, 3, 0]);
        assert_eq!(order(Policy::Rms, tasks), [0, 2, 1, 3]);
        assert_eq!(order(Policy::Edf, tasks), [1, 2, 0, 3]);
        assert_eq!(order(Policy::Llf, tasks), [2, 1, 0, 3]);
        assert_eq!(order(Policy::Muf, tasks), [3, 2, 1, 0]);
    }

    #[test]
    fn ties_are_broken_by_criticality_and_priority() {
        let tasks = [
            qos(1, 50, 0),
            qos(2, 50, 0),
            qos(0, 50, 0).criticality(Criticality::VeryHigh),
        ];
        assert_eq!(order(Policy::Edf, tasks), [2, 1, 0]);
        assert_eq!(order(Policy::Llf, tasks), [1, 0, 2]);
        assert_eq!(order(Policy::Muf, tasks), [2, 1, 0]);
    }

    #[test]
    fn execution_adds_laxity() {
        let job = |executed| Job {
            released: Some(0),
            executed,
        };
        let task = qos(0, 100, 40);
        assert!(Policy::Llf.key(&task, job(0)) < Policy::Llf.key(&task, job(30)));
        // Beyond the worst case the rest is zero.
        assert_eq!(
            Policy::Llf.key(&task, job(40)),
            Policy::Llf.key(&task, job(90))
        );
    }

    #[test]
    fn extreme_values_have_keys() {
        let task = qos(i32::MIN, u64::MAX, u64::MAX).period(Duration::MAX);
        let job = Job {
            released: Some(u64::MAX),
            executed: u64::MAX,
        };
        for policy in Policy::ALL {
            let _ = policy.key(&task, job);
        }
    }
}
