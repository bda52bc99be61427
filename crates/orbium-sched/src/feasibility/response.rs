// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact response times under fixed priorities (Joseph and Pandya 1986; Audsley 1993).

use super::effort::Effort;
use super::task::{Task, sum};
use crate::time::Time;

/// Maximum number of steps, after which a response counts as longer than the limit, which is
/// conservative.
const MAX_STEPS: u64 = 1_000_000;

/// The longest time from the release of jobs of `level` to the end of the last of them, preempted
/// by `higher`: the least fixed point of `R = B + sum of ceil((R + J) / T) C` over both. `begin` is
/// the start of the iteration, at most `R`; zero is always valid.
///
/// None if it exceeds `limit`, or is not found within a million steps.
#[must_use]
pub fn response_time(
    level: &[Task],
    higher: &[Task],
    blocking: Time,
    limit: Time,
    begin: Time,
) -> Option<Time> {
    let mut effort = Effort::of_steps(MAX_STEPS, level.len() + higher.len());
    response_time_within(level, higher, blocking, limit, begin, &mut effort)
}

/// As [`response_time`], within an effort that further tests share.
#[must_use]
pub fn response_time_within(
    level: &[Task],
    higher: &[Task],
    blocking: Time,
    limit: Time,
    begin: Time,
    effort: &mut Effort,
) -> Option<Time> {
    let once = |tasks| sum(tasks, |it| it.interference(Time::from_ticks(1)));
    let least = blocking
        .saturating_add(once(level))
        .saturating_add(once(higher));
    let mut response = begin.max(least);
    while response <= limit && effort.take(level.len() + higher.len()) {
        let own = sum(level, |it| it.interference(response));
        let taken = sum(higher, |it| it.interference(response));
        let next = blocking.saturating_add(own).saturating_add(taken);
        if next <= response {
            return Some(response);
        }
        response = next;
    }
    None
}

/// The response time of each of `tasks`, in the order of their priorities; none if it exceeds the
/// deadline.
#[must_use]
pub fn response_times(tasks: &[Task], blocking: Time) -> Vec<Option<Time>> {
    let one = |index: usize| {
        let task: &Task = &tasks[index];
        let is_last = index + 1 == tasks.len();
        let blocking = if is_last { Time::ZERO } else { blocking };
        let own = std::slice::from_ref(task);
        let found = response_time(own, &tasks[..index], blocking, task.deadline, Time::ZERO);
        let response = found.map(|it| it.saturating_add(task.jitter));
        response.filter(|it| *it <= task.deadline)
    };
    (0..tasks.len()).map(one).collect()
}
