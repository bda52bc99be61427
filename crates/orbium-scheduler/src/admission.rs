// SPDX-License-Identifier: MIT OR Apache-2.0
//! Admission of bindings to a scheduled server by their deadlines.

mod followers;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use orbium::lane::Priority;
use orbium::lock::{Mutex, MutexGuard};
use orbium::rt::Offer;
use orbium::rt::binding::{
    Admission, BindingRequest, Rate, Reason, ReasonCode, Reservation, Terms, Verdict,
};
use orbium_sched::feasibility::{Effort, Task, merged, response_time_within, utilization};
use orbium_sched::{Schedule, Time};

use crate::admission::followers::{Followers, Late};

/// Maximum number of terms of the response times for one rate of an offer. A rate without a proof
/// within them, as near a utilization of 1, is refused.
const MAX_TERMS: u64 = 2_000_000;

/// Maximum number of rounds, after which the lateness of consumers counts as unbounded.
const MAX_ROUNDS: usize = 100;

/// Admits a binding if it and all other bindings and the schedule meet their deadlines: by exact
/// response times on one processor, in place of a share of it.
///
/// A binding is a task of its priority: a request in each of its intervals, with the burst of its
/// rate, the execution time of its adapter, and its deadline, or else the interval. It has a
/// dedicated thread, and its CORBA priority is compared with the native priorities of the queues,
/// as in [`ScheduledLanes`](crate::ScheduledLanes); those of equal priority delay each other. An
/// infeasible offer is answered with the highest feasible rate, if there is one. The analysis of an
/// offer is bounded: close to a full processor, where response times converge slowly, a feasible
/// rate may be refused.
///
/// ```
/// use orbium_sched::{Options, Repository, Time, Timing};
/// use orbium_scheduler::ScheduleAdmission;
/// use std::time::Duration;
///
/// let mut repository = Repository::new();
/// let timing = Timing {
///     period: Time::from_millis(50),
///     worst_case_execution_time: Time::from_millis(20),
///     ..Timing::default()
/// };
/// repository.register("Rudder::steer", timing)?;
/// let schedule = repository.compute_scheduling(&Options::default())?;
/// let admission = ScheduleAdmission::new(&schedule)
///     .cost_in("charts", Duration::from_millis(5))
///     .bindings(8);
/// // rt.serve_bindings(admission)?
/// # assert_eq!(admission.active(), 0);
/// # Ok::<(), orbium_sched::SchedError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScheduleAdmission {
    /// The tasks of the schedule, with their priorities.
    scheduled: Vec<Prioritized>,
    followers: Arc<Followers>,
    cost: Duration,
    costs: HashMap<String, Duration>,
    blocking: Time,
    bindings: usize,
    bound: Arc<Mutex<Bound>>,
}

/// A task and its priority: higher numbers are more urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prioritized {
    priority: i32,
    task: Task,
    /// The longest response, from the release of a job, with which its deadline holds.
    longest: Time,
    scheduled: Option<Place>,
}

/// The origin of a task in the schedule, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    thread: usize,
    rate: usize,
    queue: usize,
}

#[derive(Debug, Default)]
struct Bound {
    last: u64,
    tasks: HashMap<u64, Prioritized>,
}

/// The reservation of a binding.
#[derive(Debug)]
struct Held {
    bound: Arc<Mutex<Bound>>,
    number: u64,
}

fn lock(bound: &Mutex<Bound>) -> MutexGuard<'_, Bound> {
    bound.lock()
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.bound).tasks.remove(&self.number);
    }
}

impl ScheduleAdmission {
    /// Together with the threads of that schedule: at most 64 bindings, 1 ms for each request.
    #[must_use]
    pub fn new(schedule: &Schedule) -> Self {
        let of_level = schedule
            .levels
            .iter()
            .enumerate()
            .flat_map(|(queue, level)| {
                let (mut last, mut rate) = (None, 0);
                let tasks = schedule
                    .tasks(level)
                    .into_iter()
                    .map(move |(thread, task)| {
                        rate = if last == Some(thread) { rate + 1 } else { 0 };
                        last = Some(thread);
                        Prioritized {
                            priority: level.priority,
                            task,
                            longest: less(task.deadline, task.jitter),
                            scheduled: Some(Place {
                                thread,
                                rate,
                                queue,
                            }),
                        }
                    });
                tasks.filter(|it| it.task.period > Time::ZERO)
            });
        Self {
            scheduled: of_level.collect(),
            followers: Arc::new(Followers::new(schedule)),
            cost: Duration::from_millis(1),
            costs: HashMap::new(),
            blocking: Time::ZERO,
            bindings: 64,
            bound: Arc::default(),
        }
    }

    /// The worst-case execution time of a request, at least 100 ns.
    #[must_use]
    pub fn cost(mut self, cost: Duration) -> Self {
        self.cost = cost;
        self
    }

    /// The same for objects of the adapter of that name.
    #[must_use]
    pub fn cost_in(mut self, adapter: impl Into<String>, cost: Duration) -> Self {
        self.costs.insert(adapter.into(), cost);
        self
    }

    /// The longest time for which a lower priority can block a higher one: 0 by default.
    #[must_use]
    pub fn blocking(mut self, blocking: Time) -> Self {
        self.blocking = blocking;
        self
    }

    /// The maximum number of bindings. Each is analysed with each offer.
    #[must_use]
    pub fn bindings(mut self, most: usize) -> Self {
        self.bindings = most;
        self
    }

    /// The number of bindings.
    #[must_use]
    pub fn active(&self) -> usize {
        lock(&self.bound).tasks.len()
    }

    fn cost_of(&self, adapter: &str) -> Time {
        let cost = self.costs.get(adapter).copied().unwrap_or(self.cost);
        Time::from_ticks(ticks(cost).max(1))
    }

    fn decide(&self, asked: &BindingRequest<'_>) -> Result<Verdict, Reason> {
        let offer = asked.offer;
        let cost = self.cost_of(asked.adapter);
        let held = asked.held.and_then(Reservation::downcast_ref::<Held>);
        let own = held.map(|it| it.number);
        let mut bound = lock(&self.bound);
        let others = bound
            .tasks
            .iter()
            .filter(|(number, _)| own != Some(**number));
        if others.clone().count() >= self.bindings {
            let text = format!(
                "there are {} bindings, as many as there may be",
                self.bindings
            );
            return Err(Reason::new(ReasonCode::Bindings, text));
        }
        let others = others.map(|(_, task)| task);
        let others: Vec<_> = self.scheduled.iter().chain(others).copied().collect();
        let holds = |requests: u32| {
            let mine = task_of(offer, requests, cost);
            mine.is_some_and(|mine| self.holds(&others, mine))
        };
        let requests = most(offer.rate.requests, holds).ok_or_else(|| {
            let text = "not one request in a period would meet its deadline and let all others meet theirs";
            Reason::new(ReasonCode::Deadline, text)
        })?;
        let terms = terms(asked, requests);
        if requests < offer.least_requests {
            let text = format!(
                "deadlines hold with at most {requests} requests in {:?}",
                offer.rate.period
            );
            return Ok(Verdict::Counter(terms, Reason::new(ReasonCode::Rate, text)));
        }
        let Some(task) = task_of(offer, requests, cost) else {
            return Err(Reason::new(
                ReasonCode::Rate,
                "the rate is too high to be analysed",
            ));
        };
        bound.last += 1;
        let number = bound.last;
        bound.tasks.insert(number, task);
        let held = Held {
            bound: Arc::clone(&self.bound),
            number,
        };
        Ok(Verdict::Accept(terms, Reservation::new(held)))
    }

    /// Whether one more task meets its deadline, and all of those that it delays meet theirs: those
    /// of its priority and below, and consumers of their data.
    fn holds(&self, others: &[Prioritized], mine: Prioritized) -> bool {
        let mut all: Vec<Prioritized> = others.iter().copied().chain([mine]).collect();
        all.sort_by_key(|it| Reverse(it.priority));
        let mut late = self.followers.in_time();
        let mut effort = Effort::of(MAX_TERMS);
        for _ in 0..MAX_ROUNDS {
            let Some(responses) = self.responses(&all, mine.priority, &late, &mut effort) else {
                return false;
            };
            let next = self.followers.delays(&late, &responses);
            if next == late {
                return true;
            }
            late = next;
        }
        false
    }

    /// The response of each queue of the schedule that the priority delays, or else none; `None` if
    /// a deadline is not shown to hold. The jobs of a priority end with the longest busy period of
    /// those and more urgent ones. Later jobs of a task are included, so a deadline may be longer
    /// than the period.
    fn responses(
        &self,
        all: &[Prioritized],
        delaying: i32,
        late: &Late,
        effort: &mut Effort,
    ) -> Option<Vec<Option<Time>>> {
        let mut responses = vec![None; self.followers.queues()];
        let (mut higher, mut begin, mut is_delayed) = (Vec::new(), Time::ZERO, false);
        for level in all.chunk_by(|one, other| one.priority == other.priority) {
            let level: Vec<_> = level.iter().map(|it| it.delayed(late)).collect();
            is_delayed |= level
                .iter()
                .any(|it| it.priority <= delaying || it.is_late(late));
            let tasks = merged(level.iter().map(|it| it.task).collect());
            if is_delayed {
                if utilization(&tasks) + utilization(&higher) > OVERLOAD {
                    return None;
                }
                let limit = level.iter().map(|it| it.longest).min().unwrap_or_default();
                let blocking = self.blocking;
                // It is no shorter than that of more urgent priorities.
                begin = response_time_within(&tasks, &higher, blocking, limit, begin, effort)?;
                for it in level.iter().filter_map(|it| it.scheduled) {
                    responses[it.queue] = Some(begin);
                }
            }
            higher.extend(tasks);
            higher = merged(higher);
        }
        Some(responses)
    }
}

impl Prioritized {
    /// The same, for a thread that may be late.
    fn delayed(mut self, late: &Late) -> Self {
        if let Some(Place { thread, rate, .. }) = self.scheduled {
            let late = late[thread][rate];
            self.task.jitter = self.task.jitter.saturating_add(late);
            self.longest = less(self.longest, late);
        }
        self
    }

    fn is_late(&self, late: &Late) -> bool {
        let scheduled = self.scheduled;
        scheduled.is_some_and(|it| !late[it.thread][it.rate].is_zero())
    }
}

fn less(time: Time, by: Time) -> Time {
    Time::from_ticks(time.ticks().saturating_sub(by.ticks()))
}

impl Admission for ScheduleAdmission {
    fn consider(&self, asked: &BindingRequest<'_>) -> Verdict {
        self.decide(asked).unwrap_or_else(Verdict::Refuse)
    }
}

/// A utilization without a finite response, whatever the rounding.
const OVERLOAD: f64 = 1.0 + 1e-9;

/// The largest number up to `wanted` with which deadlines hold: they hold with fewer requests, too.
fn most(wanted: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    if holds(wanted) {
        return Some(wanted);
    }
    let (mut holding, mut beyond) = (0, wanted);
    while beyond - holding > 1 {
        let middle = holding + (beyond - holding) / 2;
        if holds(middle) {
            holding = middle;
        } else {
            beyond = middle;
        }
    }
    (holding > 0).then_some(holding)
}

/// A binding of so many requests as a task; none if the interval is less than 100 ns.
fn task_of(offer: &Offer, requests: u32, cost: Time) -> Option<Prioritized> {
    let interval = ticks(offer.rate.period) / u64::from(requests.max(1));
    if interval == 0 {
        return None;
    }
    let period = Time::from_ticks(interval);
    let deadline = Time::from_ticks(offer.deadline.map_or(interval, ticks));
    let early = u64::from(offer.rate.burst.max(1) - 1);
    Some(Prioritized {
        priority: i32::from(offer.priority.high),
        task: Task {
            // All requests of a burst may arrive at once.
            jitter: period.saturating_mul(early),
            ..Task::new(period, cost).with_deadline(deadline)
        },
        longest: deadline,
        scheduled: None,
    })
}

fn terms(asked: &BindingRequest<'_>, requests: u32) -> Terms {
    let offer = asked.offer;
    Terms {
        priority: Priority::new(offer.priority.high).unwrap_or(Priority::MIN),
        rate: Rate {
            requests,
            ..offer.rate
        },
        excess: offer.excess,
        buffer: offer.buffer,
        deadline: offer.deadline,
        // The schedule has no reservation of processor time for it.
        reservation: None,
        protocol: asked.protocol.to_owned(),
    }
}

/// Units of 100 ns, rounded up.
fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(100)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
