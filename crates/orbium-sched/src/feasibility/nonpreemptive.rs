// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processor demand of queues in which a started job runs to completion: non-preemptive EDF, and
//! the order of latest starts, which is that of least laxity while jobs wait.
//!
//! A job misses its deadline only if, since a time at which no job of at least its urgency was
//! pending, the processor has been busy with one less urgent job of the queue that had begun
//! before, with jobs at least as urgent, and with more urgent queues, and all of that exceeds the
//! time up to the deadline. For EDF that is the test of Jeffay, Stanat and Martel (1991) and, for
//! deadlines before the period, of George, Rivierre and Spuri (1996).

use super::bounds::utilization_is_at_most_one;
use super::effort::Effort;
use super::task::{Task, sum};
use crate::time::Time;

/// Maximum number of evaluated tasks, after which the test ends without a proof.
const MAX_TERMS: u64 = 20_000_000;

/// A task of a queue in which no job preempts another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonPreemptive {
    /// The task. Its deadline is relative to when a job becomes ready, the jitter included, as in
    /// the queue.
    pub task: Task,
    /// The longest non-preemptible section of a job: the whole job, or one of several runs.
    pub section: Time,
    /// The value that the order subtracts from the deadline of a job: zero under EDF, the estimate
    /// of the execution time under least laxity.
    pub estimate: Time,
}

impl NonPreemptive {
    /// A task of a queue by deadline; each job is one run.
    #[must_use]
    pub const fn by_deadline(task: Task) -> Self {
        NonPreemptive {
            task,
            section: task.execution_time,
            estimate: Time::ZERO,
        }
    }

    /// A task of a queue by laxity with the execution time as its estimate; each job is one run.
    #[must_use]
    pub const fn by_laxity(task: Task) -> Self {
        NonPreemptive {
            estimate: task.execution_time,
            ..Self::by_deadline(task)
        }
    }
}

/// Whether all deadlines are met under non-preemptive EDF, for all releases with at least one
/// period between them. Exact for tasks without jitter.
#[must_use]
pub fn nonpreemptive_edf_is_feasible(tasks: &[Task]) -> bool {
    let queue: Vec<_> = tasks
        .iter()
        .copied()
        .map(NonPreemptive::by_deadline)
        .collect();
    nonpreemptive_queue_is_feasible(&queue, &[], Time::ZERO)
}

/// Whether the tasks of a queue meet their deadlines when no job of it preempts another one,
/// `higher` preempt all of them and a lower queue can block them. Exact under the conditions of
/// [`nonpreemptive_edf_is_feasible`], otherwise sufficient.
#[must_use]
pub fn nonpreemptive_queue_is_feasible(
    queue: &[NonPreemptive],
    higher: &[Task],
    blocking: Time,
) -> bool {
    let mut effort = Effort::of(MAX_TERMS);
    nonpreemptive_queue_is_feasible_within(queue, higher, blocking, &mut effort)
}

/// As [`nonpreemptive_queue_is_feasible`], with an effort shared by several tests.
pub(crate) fn nonpreemptive_queue_is_feasible_within(
    queue: &[NonPreemptive],
    higher: &[Task],
    blocking: Time,
    effort: &mut Effort,
) -> bool {
    let all: Vec<Task> = queue
        .iter()
        .map(|it| it.task)
        .chain(higher.iter().copied())
        .collect();
    if !utilization_is_at_most_one(&all) {
        return false;
    }
    let Some(demand) = Demand::new(queue, higher, blocking) else {
        return true;
    };
    let Some(window) = demand.longest_window(&all, effort) else {
        return false;
    };
    demand.is_met_within(window, effort)
}

/// The demand on the processor by windows that end at *starts*: deadlines less estimates, all of
/// them shifted by the longest estimate, so that none is negative.
struct Demand {
    /// Sorted by starts.
    queue: Vec<Ordered>,
    higher: Vec<Task>,
    blocking: Time,
    /// Falling sections, each with the start before which it can block.
    sections: Vec<(Time, Time)>,
    /// Rising differences of start and deadline, each with the first start that has it.
    shifts: Vec<(Time, Time)>,
    is_simple: bool,
}

/// A task with its start as deadline.
struct Ordered {
    task: Task,
    section: Time,
    shift: Time,
}

impl Demand {
    /// None for a queue without tasks.
    fn new(queue: &[NonPreemptive], higher: &[Task], blocking: Time) -> Option<Self> {
        let longest = queue.iter().map(|it| it.estimate).max()?;
        let is_plain = |it: &NonPreemptive| {
            it.estimate.is_zero() && it.task.jitter.is_zero() && it.task.deadline >= it.task.period
        };
        let ordered = |it: &NonPreemptive| {
            let shift = less(longest, it.estimate);
            let start = it.task.deadline.saturating_add(shift);
            Ordered {
                task: it.task.with_deadline(start),
                section: it.section,
                shift,
            }
        };
        let mut demand = Demand {
            is_simple: higher.is_empty() && blocking.is_zero() && queue.iter().all(is_plain),
            queue: merged(queue.iter().map(ordered).collect()),
            higher: super::merged(higher.to_vec()),
            blocking,
            sections: Vec::new(),
            shifts: Vec::new(),
        };
        for it in demand.queue.iter().rev() {
            let last = demand.sections.last();
            if last.is_none_or(|(_, section)| *section < it.section) {
                demand.sections.push((it.task.deadline, it.section));
            }
        }
        demand.sections.reverse();
        let starts = demand.queue.iter().map(|it| (it.task.deadline, it.shift));
        let mut firsts: Vec<_> = starts.collect();
        firsts.sort_unstable();
        for (first, shift) in firsts {
            if demand.shifts.last().is_none_or(|(_, last)| *last < shift) {
                demand.shifts.push((first, shift));
            }
        }
        Some(demand)
    }

    /// The longest window to check, as a start; none if it is not found within the effort. Beyond
    /// the last start no less urgent job blocks, and the busy period is at most that long.
    fn longest_window(&self, all: &[Task], effort: &mut Effort) -> Option<Time> {
        let last = self.queue.last().map(|it| it.task.deadline)?;
        if self.is_simple {
            // A utilization of at most 1 is sufficient for all windows beyond.
            return Some(last);
        }
        let shift = self.shifts.last().map_or(Time::ZERO, |(_, shift)| *shift);
        let all = super::merged(all.to_vec());
        let mut length = self
            .blocking
            .saturating_add(sum(&all, |it| it.execution_time));
        while effort.take(all.len()) {
            let work = sum(&all, |it| it.interference(length));
            let next = self.blocking.saturating_add(work);
            if next == Time::MAX {
                return None;
            }
            if next == length {
                return Some(last.max(length.saturating_add(shift)));
            }
            length = next;
        }
        None
    }

    /// Whether the demand of every window up to that one is met, iterating downwards as Zhang and
    /// Burns (2009), and stopping where another section begins to block.
    fn is_met_within(&self, mut start: Time, effort: &mut Effort) -> bool {
        let least = self.shifts.first().map_or(Time::MAX, |(first, _)| *first);
        while start >= least {
            let shift = self.shift(start);
            let window = less(start, shift);
            let (section, longer_before) = self.section(start);
            let own = sum_of(&self.queue, start);
            let demand = own.saturating_add(self.blocking).saturating_add(section);
            let Some(end) = self.end(demand, window, effort) else {
                return false;
            };
            let next = end.saturating_add(shift).max(longer_before);
            if start.is_zero() {
                break;
            }
            start = next.min(less(start, Time::from_ticks(1)));
        }
        true
    }

    /// The time at which a demand is met that more urgent queues preempt, if it is within a window.
    fn end(&self, demand: Time, window: Time, effort: &mut Effort) -> Option<Time> {
        let mut end = demand;
        while end <= window && effort.take(self.queue.len() + self.higher.len()) {
            let taken = sum(&self.higher, |it| it.interference(end));
            let next = demand.saturating_add(taken);
            if next == end {
                return Some(end);
            }
            end = next;
        }
        None
    }

    /// The most by which a start that is due within a window precedes its deadline less.
    fn shift(&self, start: Time) -> Time {
        let count = self.shifts.partition_point(|(first, _)| *first <= start);
        let last = self.shifts[..count].last();
        last.map_or(Time::ZERO, |(_, shift)| *shift)
    }

    /// The rest of the longest section of a job with a later start, begun before the window; and the
    /// last start that a longer one can delay.
    fn section(&self, start: Time) -> (Time, Time) {
        let one = Time::from_ticks(1);
        let count = self.sections.partition_point(|(later, _)| *later <= start);
        let blocks = self.sections.get(count);
        let section = blocks.map_or(Time::ZERO, |(_, section)| less(*section, one));
        let longer = self.sections[..count].last();
        (
            section,
            longer.map_or(Time::ZERO, |(later, _)| less(*later, one)),
        )
    }
}

impl Ordered {
    /// The execution of jobs that become ready and have to start within a window.
    fn demand(&self, start: Time) -> Time {
        if start < self.task.deadline {
            Time::ZERO
        } else {
            self.task.demand(start)
        }
    }
}

/// Tasks that differ in execution time and section alone, as one; the earliest start first.
fn merged(mut tasks: Vec<Ordered>) -> Vec<Ordered> {
    let key = |it: &Ordered| (it.task.deadline, it.task.period, it.task.jitter, it.shift);
    tasks.sort_unstable_by_key(key);
    tasks.dedup_by(|later, kept| {
        let is_same = key(later) == key(kept);
        if is_same {
            let (time, more) = (kept.task.execution_time, later.task.execution_time);
            kept.task.execution_time = time.saturating_add(more);
            kept.section = kept.section.max(later.section);
        }
        is_same
    });
    tasks
}

fn sum_of(queue: &[Ordered], start: Time) -> Time {
    let add = |sum: Time, it: &Ordered| sum.saturating_add(it.demand(start));
    queue.iter().fold(Time::ZERO, add)
}

fn less(time: Time, by: Time) -> Time {
    Time::from_ticks(time.ticks().saturating_sub(by.ticks()))
}
