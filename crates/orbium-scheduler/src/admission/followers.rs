// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers of a schedule: they are released when their suppliers end, which bindings may delay.

use std::collections::HashMap;

use orbium_sched::{Dispatching, Handle, Schedule, Thread, Time};

/// The threads of a schedule with the threads that supply their data.
#[derive(Clone, Debug)]
pub(super) struct Followers {
    /// For each rate of each thread, the threads that release those runs as they end.
    suppliers: Vec<Vec<Vec<usize>>>,
    /// For each thread, its queue.
    queues: Vec<usize>,
    /// For each queue, the response that the schedule assumes for the release of its consumers;
    /// none for queues by deadline or laxity, which use the deadlines.
    responses: Vec<Option<Time>>,
}

impl Followers {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let mut runners: HashMap<Handle, Vec<usize>> = HashMap::new();
        for (index, thread) in schedule.threads.iter().enumerate() {
            for operation in &thread.operations {
                runners.entry(*operation).or_default().push(index);
            }
        }
        let of_thread = |(index, thread): (usize, &Thread)| {
            let suppliers = thread.suppliers.iter().filter(|_| thread.implied);
            let runners = suppliers.filter_map(|it| runners.get(it)).flatten();
            let all: Vec<usize> = runners.copied().filter(|it| *it != index).collect();
            of_rates(schedule, thread, &all)
        };
        let suppliers = schedule.threads.iter().enumerate().map(of_thread).collect();
        let mut queues = vec![0; schedule.threads.len()];
        for (queue, level) in schedule.levels.iter().enumerate() {
            level.threads.iter().for_each(|it| queues[*it] = queue);
        }
        let levels = schedule.levels.iter();
        let of_static = |dispatching| dispatching == Dispatching::Static;
        let responses = levels.map(|it| it.response.filter(|_| of_static(it.dispatching)));
        Self {
            suppliers,
            queues,
            responses: responses.collect(),
        }
    }

    /// The number of queues.
    pub(super) fn queues(&self) -> usize {
        self.responses.len()
    }

    /// The state in which no rate of any thread is late.
    pub(super) fn in_time(&self) -> Late {
        let rates = self.suppliers.iter().map(Vec::len);
        rates.map(|it| vec![Time::ZERO; it]).collect()
    }

    /// The lateness of each rate of each thread beyond the schedule's, if its queues have these
    /// responses, as far as they were computed, and the rates were late by `late`. It is never less
    /// than `late`.
    pub(super) fn delays(&self, late: &Late, responses: &[Option<Time>]) -> Late {
        let longer = |queue: usize| {
            let (before, now) = (self.responses[queue], responses[queue]);
            let (Some(before), Some(now)) = (before, now) else {
                return Time::ZERO;
            };
            Time::from_ticks(now.ticks().saturating_sub(before.ticks()))
        };
        let end = |thread: usize, supplier: usize| {
            // A consumer in the same queue follows without a gap.
            let by_queue = match self.queues[supplier] {
                queue if queue == self.queues[thread] => Time::ZERO,
                queue => longer(queue),
            };
            let own = late[supplier].iter().max().copied();
            own.unwrap_or_default().saturating_add(by_queue)
        };
        let of_thread = |(thread, rates): (usize, &Vec<Vec<usize>>)| {
            let known = rates.iter().zip(&late[thread]);
            let delays = known.map(|(suppliers, known)| {
                let ends = suppliers.iter().map(|supplier| end(thread, *supplier));
                ends.max().unwrap_or_default().max(*known)
            });
            delays.collect()
        };
        self.suppliers.iter().enumerate().map(of_thread).collect()
    }
}

/// For each rate of each thread, its lateness.
pub(super) type Late = Vec<Vec<Time>>;

/// The suppliers of each rate of a thread: those with its period, or all if some have another
/// period than the thread, as those of a conjunction.
fn of_rates(schedule: &Schedule, thread: &Thread, all: &[usize]) -> Vec<Vec<usize>> {
    let has = |thread: &Thread, period| thread.rates.iter().any(|it| it.period == period);
    let periods = |supplier: &usize| schedule.threads[*supplier].rates.iter();
    let is_exact = (all.iter().flat_map(periods)).all(|it| has(thread, it.period));
    let of_period = |period| {
        let suppliers = all.iter().copied();
        let supplies = |it: &usize| !is_exact || has(&schedule.threads[*it], period);
        suppliers.filter(supplies).collect()
    };
    thread.rates.iter().map(|it| of_period(it.period)).collect()
}
