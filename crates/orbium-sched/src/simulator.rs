// SPDX-License-Identifier: MIT OR Apache-2.0
//! A discrete-event simulator of one processor: it runs a schedule job by job, without the formulas
//! of the analysis.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::feasibility::hyperperiod;
use crate::options::Preemption;
use crate::schedule::{Dispatching, Schedule};
use crate::time::Time;

/// A periodic task of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// Its queue, 0 being the most urgent.
    pub queue: usize,
    /// The time between releases; not zero.
    pub period: Time,
    /// The execution time of each job.
    pub execution_time: Time,
    /// The time from the release of a job to its deadline.
    pub deadline: Time,
    /// The execution time that a non-preemptive queue by laxity assumes.
    pub estimate: Time,
    /// The first release.
    pub offset: Time,
}

/// An interval in which one job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The index of the task.
    pub task: usize,
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
}

/// A released job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The index of the task.
    pub task: usize,
    /// Its release.
    pub release: Time,
    /// Its deadline.
    pub deadline: Time,
    /// Its completion; none if it was not completed before the end.
    pub finish: Option<Time>,
}

impl Job {
    /// The time from release to completion.
    #[must_use]
    pub fn response(&self) -> Option<Time> {
        let finish = self.finish?;
        Some(Time::from_ticks(finish.ticks() - self.release.ticks()))
    }
}

/// Trace of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The running task over time; intervals without a slice are idle.
    pub slices: Vec<Slice>,
    /// All jobs, in the order in which they finished, then those that did not.
    pub jobs: Vec<Job>,
    /// The end of the simulation.
    pub end: Time,
}

impl Trace {
    /// The jobs that missed their deadlines.
    pub fn misses(&self) -> impl Iterator<Item = &Job> {
        let is_missed = |job: &&Job| match job.finish {
            Some(finish) => finish > job.deadline,
            None => job.deadline <= self.end,
        };
        self.jobs.iter().filter(is_missed)
    }

    /// The longest response among the jobs of a task that finished.
    #[must_use]
    pub fn worst_response(&self, task: usize) -> Option<Time> {
        let own = self.jobs.iter().filter(|it| it.task == task);
        own.filter_map(Job::response).max()
    }
}

/// Runs tasks until `end`, or for `max_steps` steps. A step ends when a job is released or
/// completed, or when another one preempts.
///
/// A more urgent queue preempts the others. A static queue runs each job to completion, the task of
/// the smallest index first. The others choose by deadline or laxity, ties to the smallest index:
/// when a job is completed, or, if they are preemptive, at any time. A job that misses its deadline
/// continues.
#[must_use]
pub fn simulate(
    tasks: &[Simulated],
    dispatching: &[Dispatching],
    preemption: Preemption,
    until: Time,
    max_steps: usize,
) -> Trace {
    let mut run = Run::new(tasks, dispatching, preemption);
    for _ in 0..max_steps {
        if run.now >= until.ticks() {
            break;
        }
        run.step(until.ticks());
    }
    run.finished()
}

/// The tasks of a schedule, one for each rate of each thread, with the index of the thread; and
/// the dispatching of its queues.
#[must_use]
pub fn tasks_of(schedule: &Schedule) -> (Vec<(usize, Simulated)>, Vec<Dispatching>) {
    let mut tasks = Vec::new();
    for (queue, level) in schedule.levels.iter().enumerate() {
        for (thread, task) in schedule.tasks(level) {
            let simulated = Simulated {
                queue,
                period: task.period,
                execution_time: task.execution_time,
                deadline: task.deadline,
                estimate: schedule.threads[thread].estimate,
                offset: Time::ZERO,
            };
            tasks.push((thread, simulated));
        }
    }
    let order = |(thread, task): &(usize, Simulated)| {
        let entry = schedule.threads[*thread].entry;
        (
            task.queue,
            schedule.assignment(entry).map(|it| it.subpriority),
        )
    };
    tasks.sort_by_key(order);
    (
        tasks,
        schedule.levels.iter().map(|it| it.dispatching).collect(),
    )
}

/// The time after which the schedule repeats; none if it exceeds a [`Time`].
#[must_use]
pub fn hyperperiod_of(schedule: &Schedule) -> Option<Time> {
    let tasks: Vec<_> = schedule
        .levels
        .iter()
        .flat_map(|it| schedule.tasks(it))
        .collect();
    hyperperiod(&tasks.iter().map(|(_, task)| *task).collect::<Vec<_>>())
}

struct Active {
    job: Job,
    remaining: u64,
    has_run: bool,
}

struct Run<'a> {
    tasks: &'a [Simulated],
    dispatching: &'a [Dispatching],
    preemption: Preemption,
    releases: BinaryHeap<Reverse<(u64, usize)>>,
    ready: Vec<Vec<Active>>,
    /// The greatest common divisor of all times, at which laxities are compared.
    grain: u64,
    now: u64,
    trace: Trace,
}

impl<'a> Run<'a> {
    fn new(tasks: &'a [Simulated], dispatching: &'a [Dispatching], preemption: Preemption) -> Self {
        let running = tasks
            .iter()
            .enumerate()
            .filter(|(_, it)| !it.execution_time.is_zero());
        let releases = running.map(|(index, it)| Reverse((it.offset.ticks(), index)));
        let times = tasks
            .iter()
            .flat_map(|it| [it.period, it.execution_time, it.deadline, it.offset]);
        let grain = times.fold(0, |grain, it| gcd(grain, it.ticks()));
        let queues = tasks.iter().map(|it| it.queue + 1).max().unwrap_or(0);
        Run {
            tasks,
            dispatching,
            preemption,
            releases: releases.collect(),
            ready: (0..queues).map(|_| Vec::new()).collect(),
            grain: grain.max(1),
            now: 0,
            trace: Trace::default(),
        }
    }

    /// Releases the due jobs, then runs one job until the next event.
    fn step(&mut self, until: u64) {
        self.release();
        let next = self
            .releases
            .peek()
            .map_or(until, |Reverse((at, _))| (*at).min(until));
        let Some(queue) = self.ready.iter().position(|it| !it.is_empty()) else {
            self.now = next;
            return;
        };
        let (chosen, lasts) = self.choose(queue);
        let job = &mut self.ready[queue][chosen];
        let length = job.remaining.min(next - self.now).min(lasts);
        job.remaining -= length;
        job.has_run = true;
        let (task, is_done) = (job.job.task, job.remaining == 0);
        self.record(task, length);
        self.now += length;
        if is_done {
            let mut done = self.ready[queue].remove(chosen).job;
            done.finish = Some(Time::from_ticks(self.now));
            self.trace.jobs.push(done);
        }
    }

    fn release(&mut self) {
        while let Some(Reverse((at, index))) = self.releases.peek().copied()
            && at <= self.now
        {
            self.releases.pop();
            let task = &self.tasks[index];
            self.ready[task.queue].push(Active {
                job: Job {
                    task: index,
                    release: Time::from_ticks(at),
                    deadline: Time::from_ticks(at).saturating_add(task.deadline),
                    finish: None,
                },
                remaining: task.execution_time.ticks(),
                has_run: false,
            });
            let next = at.saturating_add(task.period.ticks().max(1));
            self.releases.push(Reverse((next, index)));
        }
    }

    /// The job of a queue that runs, and the time for which no event within the queue changes that.
    fn choose(&self, queue: usize) -> (usize, u64) {
        let jobs = &self.ready[queue];
        let order = |it: &Active| (it.job.task, it.job.release);
        let least = |key: &dyn Fn(&Active) -> i128| {
            let keys = jobs.iter().map(|it| (key(it), order(it)));
            let least = keys.enumerate().min_by_key(|(_, key)| *key);
            least.map_or(0, |(index, _)| index)
        };
        let begun = jobs.iter().position(|it| it.has_run);
        if let (Some(begun), Preemption::NonPreemptive) = (begun, self.preemption) {
            return (begun, u64::MAX);
        }
        match self.dispatching.get(queue) {
            Some(Dispatching::Laxity) if self.preemption == Preemption::NonPreemptive => {
                (least(&|it| self.latest_start(it)), u64::MAX)
            }
            Some(Dispatching::Deadline) => (least(&|it| it.job.deadline.ticks().into()), u64::MAX),
            Some(Dispatching::Laxity) => {
                let chosen = least(&|it| self.laxity(it));
                let own = self.laxity(&jobs[chosen]);
                let others = jobs
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| *index != chosen);
                let nearest = others.map(|(_, it)| self.laxity(it) - own).min();
                // The laxity of waiting jobs decreases; a lesser one preempts.
                let lasts = nearest.and_then(|it| u64::try_from(it).ok());
                (
                    chosen,
                    lasts.map_or(u64::MAX, |it| it.saturating_add(self.grain)),
                )
            }
            _ => (least(&|it| i128::from(!it.has_run)), u64::MAX),
        }
    }

    fn laxity(&self, it: &Active) -> i128 {
        i128::from(it.job.deadline.ticks()) - i128::from(self.now) - i128::from(it.remaining)
    }

    fn latest_start(&self, it: &Active) -> i128 {
        let estimate = self.tasks[it.job.task].estimate;
        i128::from(it.job.deadline.ticks()) - i128::from(estimate.ticks())
    }

    fn record(&mut self, task: usize, length: u64) {
        let (start, end) = (
            Time::from_ticks(self.now),
            Time::from_ticks(self.now + length),
        );
        match self.trace.slices.last_mut() {
            Some(last) if last.task == task && last.end == start => last.end = end,
            _ => self.trace.slices.push(Slice { task, start, end }),
        }
    }

    fn finished(mut self) -> Trace {
        self.release();
        self.trace.end = Time::from_ticks(self.now);
        let left = self.ready.into_iter().flatten().map(|it| it.job);
        self.trace.jobs.extend(left);
        self.trace
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
