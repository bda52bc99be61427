// SPDX-License-Identifier: MIT OR Apache-2.0
//! Computation of a schedule from a repository.

use super::blocking::Calls;
use super::level::Verdict;
use super::outcome::Schedule;
use super::{analysis, findings, levels, order};
use crate::error::SchedError;
use crate::graph::Graph;
use crate::info::RtInfo;
use crate::options::Options;
use crate::repository::Repository;
use crate::threads::{self, Thread};
use crate::time::Time;

impl Schedule {
    /// Analyses a repository.
    ///
    /// # Errors
    /// `CyclicDependencies`, `InsufficientPriorityLevels`, `TooManyOperations`. Missed deadlines
    /// are [anomalies](Schedule::anomalies).
    pub fn compute(repository: &Repository, options: &Options) -> Result<Self, SchedError> {
        let graph = Graph::new(repository)?;
        let (threads, mut anomalies) = threads::find(repository, &graph, &options.overhead)?;
        let mut levels = levels::of(&threads, options);
        if levels.len() > options.levels() {
            return Err(SchedError::InsufficientPriorityLevels {
                needed: levels.len(),
                available: options.levels(),
            });
        }
        let queues = levels::queues(&levels, threads.len());
        let suppliers = analysis::Suppliers::new(&threads, repository.infos().len())?;
        let queue_of = order::queue_of(&threads, &queues, repository.infos().len());
        let calls = Calls {
            infos: repository.infos(),
            graph: &graph,
            overhead: options.overhead.call,
        };
        let blocking = |time: fn(&RtInfo) -> Time| {
            calls.blocking(&threads, &queues, &queue_of, levels.len(), time)
        };
        let analysed = |blocking: &[Time], cost: fn(&Thread) -> Time| {
            analysis::run(
                &threads, &levels, &queues, &suppliers, blocking, options, cost,
            )
        };
        let exact = analysed(&blocking(RtInfo::worst_case), |it| it.worst_case);
        let usual = analysed(&blocking(RtInfo::typical), |it| it.typical);
        for (index, level) in levels.iter_mut().enumerate() {
            level.response = exact.responses[index];
            level.verdict = match (level.verdict, exact.met[index], usual.met[index]) {
                (Verdict::Background, ..) => Verdict::Background,
                (_, Some(test), _) => Verdict::Guaranteed(test),
                (_, None, Some(_)) => Verdict::Statistical,
                (_, None, None) => Verdict::NotGuaranteed,
            };
        }
        let assignments = order::assign(repository, &graph, &queue_of, options);
        let mut schedule = Schedule {
            strategy: options.strategy,
            preemption: options.preemption,
            // An empty sum is -0.
            utilization: threads.iter().map(Thread::utilization).sum::<f64>() + 0.0,
            threads,
            levels,
            assignments,
            anomalies: Vec::new(),
            jitters: exact.jitters,
        };
        findings::add(&schedule, repository, options, &mut anomalies);
        schedule.anomalies = anomalies;
        Ok(schedule)
    }
}

impl Repository {
    /// Computes the schedule and writes the assignments into the RT_Infos.
    ///
    /// # Errors
    /// Errors of [`Schedule::compute`]; the assignments are unchanged then.
    pub fn compute_scheduling(&mut self, options: &Options) -> Result<Schedule, SchedError> {
        let schedule = Schedule::compute(self, options)?;
        self.assign(&schedule);
        Ok(schedule)
    }

    /// Writes the assignments of a schedule of these operations into the RT_Infos.
    ///
    /// ```
    /// use orbium_sched::{Options, Repository, Schedule, Time, Timing};
    ///
    /// let mut repository = Repository::new();
    /// let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
    /// let steer = repository.register("Rudder::steer", timing)?;
    /// let schedule = Schedule::compute(&repository, &Options::default())?;
    /// repository.assign(&schedule);
    /// assert_eq!(repository.priority(steer)?.priority, 99);
    /// # Ok::<(), orbium_sched::SchedError>(())
    /// ```
    pub fn assign(&mut self, schedule: &Schedule) {
        self.set_assignments(&schedule.assignments);
    }
}
