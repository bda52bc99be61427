// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processor demand: deadlines of queues that are ordered by deadline or laxity.

use super::bounds::utilization_is_at_most_one;
use super::effort::Effort;
use super::task::{Task, merged, sum};
use crate::time::Time;

/// Maximum number of steps, after which the test ends without a proof.
const MAX_STEPS: u64 = 1_000_000;

/// Whether all deadlines are met under EDF, and so under least laxity: exact, by processor demand
/// (Baruah, Rosier and Howell 1990), iterating downwards as Zhang and Burns (2009).
#[must_use]
pub fn edf_is_feasible(tasks: &[Task]) -> bool {
    queue_is_feasible(tasks, &[], Time::ZERO)
}

/// Whether the tasks of a queue ordered by deadline or laxity meet their deadlines when `higher`
/// preempt it and a lower one can block it. Exact without either, sufficient with them.
#[must_use]
pub fn queue_is_feasible(queue: &[Task], higher: &[Task], blocking: Time) -> bool {
    let mut effort = Effort::of_steps(MAX_STEPS, queue.len() + higher.len());
    queue_is_feasible_within(queue, higher, blocking, &mut effort)
}

/// As [`queue_is_feasible`], with an effort shared by several tests.
pub(crate) fn queue_is_feasible_within(
    queue: &[Task],
    higher: &[Task],
    blocking: Time,
    effort: &mut Effort,
) -> bool {
    let queue: Vec<_> = busy(queue);
    let higher: Vec<_> = busy(higher);
    let Some(least) = queue
        .iter()
        .map(|it| it.deadline.ticks().saturating_sub(it.jitter.ticks()))
        .min()
    else {
        return true;
    };
    let all: Vec<_> = queue.iter().chain(&higher).copied().collect();
    if !utilization_is_at_most_one(&all) {
        return false;
    }
    let is_simple = |it: &Task| it.deadline >= it.period && it.jitter.is_zero();
    if higher.is_empty() && blocking.is_zero() && queue.iter().all(is_simple) {
        return true;
    }
    let Some(mut window) = busy_period(&all, blocking, effort) else {
        return false;
    };
    while effort.take(all.len()) {
        if window.ticks() < least {
            return true;
        }
        let taken = sum(&higher, |it| it.interference(window));
        let demand = sum(&queue, |it| it.demand(window));
        let demand = demand.saturating_add(taken).saturating_add(blocking);
        window = match demand.cmp(&window) {
            std::cmp::Ordering::Greater => return false,
            std::cmp::Ordering::Less => demand,
            // At zero there is no demand, or the least would be zero, and the demand greater.
            std::cmp::Ordering::Equal => Time::from_ticks(window.ticks().saturating_sub(1)),
        };
    }
    false
}

fn busy(tasks: &[Task]) -> Vec<Task> {
    let tasks = tasks.iter().filter(|it| !it.execution_time.is_zero());
    merged(tasks.copied().collect())
}

/// The longest busy period of the processor; none if it is not found within the effort.
fn busy_period(tasks: &[Task], blocking: Time, effort: &mut Effort) -> Option<Time> {
    let mut length = blocking.saturating_add(sum(tasks, |it| it.execution_time));
    while effort.take(tasks.len()) {
        let next = blocking.saturating_add(sum(tasks, |it| it.interference(length)));
        if next == Time::MAX {
            return None;
        }
        if next == length {
            return Some(length);
        }
        length = next;
    }
    None
}
