// SPDX-License-Identifier: MIT OR Apache-2.0
//! Response time analysis of the levels of a schedule.
//!
//! A consumer in the queue of its supplier follows it without a gap, so that for others both are
//! released together; not so in a queue by deadline or laxity without preemption, which orders a
//! consumer by its own release. A consumer in another queue is released when its supplier ends: the
//! response of the supplier is its jitter, and as responses depend on jitter, the levels are
//! analysed again until a fixed point is reached.

use super::level::{Dispatching, Level, Test};
use super::outcome::task_of;
use crate::error::SchedError;
use crate::feasibility::{
    Effort, NonPreemptive, Task, merged, nonpreemptive_queue_is_feasible_within,
    queue_is_feasible_within, response_time_within, utilization_bound,
};
use crate::info::Handle;
use crate::options::{Options, Preemption};
use crate::rates::{MAX_RATES, Rate};
use crate::threads::Thread;
use crate::time::Time;

/// Maximum number of rounds, after which jitter counts as unbounded.
const MAX_ROUNDS: usize = 100;

/// Maximum number of terms of the tests of all levels and rounds together, after which they end
/// without a proof: less than a second.
const MAX_TERMS: u64 = 100_000_000;

/// Pairs of a thread and one that supplies its data: a bound on memory and time.
const MAX_PAIRS: usize = 10_000_000;

/// Distance within which rounding could decide, and the bounds defer to the exact test.
const MARGIN: f64 = 1e-9;

/// The supplying threads of each consumer.
pub(super) struct Suppliers {
    /// For each thread, the threads that supply its data.
    of: Vec<Vec<usize>>,
}

impl Suppliers {
    /// # Errors
    /// `TooManyOperations`.
    pub(super) fn new(threads: &[Thread], operations: usize) -> Result<Self, SchedError> {
        let mut supplies = vec![false; operations];
        for handle in threads.iter().flat_map(|it| &it.suppliers) {
            supplies[handle.index()] = true;
        }
        let mut runners: Vec<Vec<usize>> = vec![Vec::new(); operations];
        for (index, thread) in threads.iter().enumerate() {
            let supplied = thread.operations.iter().map(|it: &Handle| it.index());
            for operation in supplied.filter(|it| supplies[*it]) {
                runners[operation].push(index);
            }
        }
        let all = threads.iter().flat_map(|it| &it.suppliers);
        let pairs = all.map(|it| runners[it.index()].len());
        if pairs.fold(0, usize::saturating_add) > MAX_PAIRS {
            return Err(SchedError::TooManyOperations);
        }
        let of = |thread: &Thread| {
            let runners = thread.suppliers.iter().flat_map(|it| &runners[it.index()]);
            runners.copied().collect()
        };
        Ok(Suppliers {
            of: threads.iter().map(of).collect(),
        })
    }
}

/// Results of an analysis, by level.
pub(super) struct Outcome {
    pub(super) responses: Vec<Option<Time>>,
    /// The test by which the level meets its deadlines, if it does.
    pub(super) met: Vec<Option<Test>>,
    /// The jitter of each rate of each thread.
    pub(super) jitters: Vec<Vec<Time>>,
}

pub(super) fn run(
    threads: &[Thread],
    levels: &[Level],
    queues: &[u32],
    suppliers: &Suppliers,
    calls: &[Time],
    options: &Options,
    cost: impl Fn(&Thread) -> Time,
) -> Outcome {
    let mut jitters: Vec<Vec<Time>> = threads
        .iter()
        .map(|it| vec![Time::ZERO; it.rates.len()])
        .collect();
    let (mut round, mut effort) = (0, Effort::of(MAX_TERMS));
    loop {
        let mut state = State::new(options);
        for level in levels {
            let tasks = tasks(level, threads, &jitters, &cost);
            let is_last = level.queue as usize + 1 == levels.len();
            state.add(
                level,
                &tasks,
                (is_last, calls[level.queue as usize]),
                &mut effort,
            );
        }
        round += 1;
        let ends = |thread: usize, jitter: Time, is_followed: bool| {
            if round < MAX_ROUNDS {
                let level = &levels[queues[thread] as usize];
                state.end(level, &threads[thread], jitter, is_followed)
            } else {
                Time::MAX
            }
        };
        let next = delayed(threads, queues, suppliers, &jitters, ends);
        if next == jitters {
            return Outcome {
                responses: state.responses,
                met: state.met,
                jitters,
            };
        }
        jitters = next;
    }
}

fn tasks(
    level: &Level,
    threads: &[Thread],
    jitters: &[Vec<Time>],
    cost: impl Fn(&Thread) -> Time,
) -> Vec<NonPreemptive> {
    let mut tasks = Vec::new();
    for index in &level.threads {
        let thread = &threads[*index];
        for (rate, jitter) in thread.rates.iter().zip(&jitters[*index]) {
            let (run, jitter) = (cost(thread), *jitter);
            let time = run.saturating_mul(rate.runs);
            tasks.push(NonPreemptive {
                task: Task {
                    jitter,
                    ..task_of(level, thread, rate.period, time)
                },
                section: run,
                estimate: match level.dispatching {
                    Dispatching::Laxity => thread.estimate,
                    _ => Time::ZERO,
                },
            });
        }
    }
    tasks
}

/// The jitter of each rate of each thread, from the ends of threads with a jitter; for a consumer
/// in the same queue, only if it does not follow without a gap.
fn delayed(
    threads: &[Thread],
    queues: &[u32],
    suppliers: &Suppliers,
    jitters: &[Vec<Time>],
    ends: impl Fn(usize, Time, bool) -> Time,
) -> Vec<Vec<Time>> {
    let of_rate = |consumer: usize, period: Time| {
        let of_period = |supplier: &&usize| is_supplied(threads, consumer, **supplier, period);
        let delays = suppliers.of[consumer]
            .iter()
            .filter(of_period)
            .map(|supplier| {
                let own = jitters[*supplier].iter().copied().max().unwrap_or_default();
                let is_followed = queues[*supplier] == queues[consumer];
                ends(*supplier, own, is_followed)
            });
        delays.max().unwrap_or_default()
    };
    let of_thread = |(index, thread): (usize, &Thread)| {
        let rates = thread.rates.iter().zip(&jitters[index]);
        // Jitter never decreases from one round to the next, so that the iteration terminates.
        let delay = |(rate, known): (&Rate, &Time)| {
            if thread.implied {
                of_rate(index, rate.period).max(*known)
            } else {
                // An operation with its own period samples the data of its suppliers.
                Time::ZERO
            }
        };
        rates.map(delay).collect()
    };
    threads.iter().enumerate().map(of_thread).collect()
}

/// Whether a supplier releases the runs of its consumer with that period: a consumer of one rate
/// may be a conjunction, and rates beyond a number are merged.
fn is_supplied(threads: &[Thread], consumer: usize, supplier: usize, period: Time) -> bool {
    let rates = threads[consumer].rates.len();
    let has_period = || threads[supplier].rates.iter().any(|it| it.period == period);
    supplier != consumer && (rates == 1 || rates >= MAX_RATES || has_period())
}

/// The levels analysed so far.
struct State {
    preemption: Preemption,
    blocking: Time,
    higher: Vec<Task>,
    responses: Vec<Option<Time>>,
    met: Vec<Option<Test>>,
    bounds: Bounds,
    /// The response of the static level above, and its blocking.
    last: Time,
    last_blocking: Time,
}

impl State {
    fn new(options: &Options) -> Self {
        State {
            preemption: options.preemption,
            blocking: options.overhead.blocking,
            higher: Vec::new(),
            responses: Vec::new(),
            met: Vec::new(),
            bounds: Bounds {
                tasks: 0,
                utilization: 0.0,
                product: 1.0,
                apply: options.overhead.blocking.is_zero(),
            },
            last: Time::ZERO,
            last_blocking: Time::ZERO,
        }
    }

    /// `calls` is the blocking by calls of less urgent threads, which is zero for the last level.
    fn add(
        &mut self,
        level: &Level,
        queue: &[NonPreemptive],
        (is_last, calls): (bool, Time),
        effort: &mut Effort,
    ) {
        let tasks: Vec<Task> = queue.iter().map(|it| it.task).collect();
        let bound = self.bounds.add(level, &tasks).filter(|_| calls.is_zero());
        let tasks = merged(tasks);
        let blocking = if is_last { Time::ZERO } else { self.blocking };
        let blocking = blocking.saturating_add(calls);
        let (response, met) = match level.dispatching {
            Dispatching::TimeSliced => (None, None),
            Dispatching::Static => self.fixed(&tasks, blocking, bound, effort),
            Dispatching::Deadline | Dispatching::Laxity => {
                (None, self.dynamic(queue, &tasks, blocking, effort))
            }
        };
        self.responses.push(response);
        self.met.push(met);
        self.higher.extend(tasks);
    }

    fn dynamic(
        &self,
        queue: &[NonPreemptive],
        tasks: &[Task],
        blocking: Time,
        effort: &mut Effort,
    ) -> Option<Test> {
        let (met, test) = match self.preemption {
            Preemption::Preemptive => (
                queue_is_feasible_within(tasks, &self.higher, blocking, effort),
                Test::ProcessorDemand,
            ),
            Preemption::NonPreemptive => (
                nonpreemptive_queue_is_feasible_within(queue, &self.higher, blocking, effort),
                Test::NonPreemptiveDemand,
            ),
        };
        met.then_some(test)
    }

    fn fixed(
        &mut self,
        tasks: &[Task],
        blocking: Time,
        bound: Option<Test>,
        effort: &mut Effort,
    ) -> (Option<Time>, Option<Test>) {
        let limit = tasks.iter().map(|it| it.deadline).max().unwrap_or_default();
        // As long as the level above, unless that had a longer blocking.
        let begin = if blocking >= self.last_blocking {
            self.last
        } else {
            Time::ZERO
        };
        let response = response_time_within(tasks, &self.higher, blocking, limit, begin, effort);
        self.last = response.unwrap_or_default();
        self.last_blocking = blocking;
        let is_met = |it: &Task, response: Time| response.saturating_add(it.jitter) <= it.deadline;
        let met = response.is_some_and(|response| tasks.iter().all(|it| is_met(it, response)));
        (response, met.then(|| bound.unwrap_or(Test::ResponseTime)))
    }

    /// The latest end of a thread, from the beginning of its period; for a consumer in its queue
    /// that follows without a gap, the time at which both become ready.
    fn end(&self, level: &Level, thread: &Thread, jitter: Time, is_followed: bool) -> Time {
        let longest = thread.rates.iter().map(|it| it.period).max();
        let longest = longest.unwrap_or(Time::MAX);
        let by_deadline = if self.counts_from_release(level) {
            longest.saturating_add(jitter)
        } else {
            longest
        };
        let number = level.queue as usize;
        match (self.responses[number], self.met[number]) {
            // Valid if no deadline is missed, which is tested with this value.
            _ if is_followed && self.counts_from_release(level) => by_deadline,
            _ if is_followed => jitter,
            (Some(response), _) => response.saturating_add(jitter),
            (None, Some(_)) => by_deadline,
            (None, None) => Time::MAX,
        }
    }

    /// Whether the deadline of a job is relative to when it becomes ready, which is when a consumer
    /// is submitted to its queue: another job can be between it and its supplier.
    fn counts_from_release(&self, level: &Level) -> bool {
        let is_dynamic = matches!(
            level.dispatching,
            Dispatching::Deadline | Dispatching::Laxity
        );
        is_dynamic && self.preemption == Preemption::NonPreemptive
    }
}

/// The bounds on utilization, which hold for independent tasks in rate-monotonic order.
struct Bounds {
    tasks: usize,
    utilization: f64,
    product: f64,
    apply: bool,
}

impl Bounds {
    /// The bound by which a level, with all above it, meets its deadlines.
    fn add(&mut self, level: &Level, tasks: &[Task]) -> Option<Test> {
        for task in tasks {
            let share = task.execution_time.ticks() as f64 / task.period.ticks() as f64;
            self.tasks += 1;
            self.utilization += share;
            self.product *= share + 1.0;
            self.apply &= task.jitter.is_zero() && task.period == level.period;
        }
        if !self.apply || level.dispatching != Dispatching::Static {
            return None;
        }
        if self.utilization <= utilization_bound(self.tasks) - MARGIN {
            return Some(Test::UtilizationBound);
        }
        (self.product <= 2.0 - MARGIN).then_some(Test::HyperbolicBound)
    }
}
