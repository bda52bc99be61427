// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules: queues, priorities, and verdicts on deadlines.

use super::level::{Dispatching, Level};
use crate::anomaly::{Anomaly, Severity};
use crate::error::SchedError;
use crate::feasibility::Task;
use crate::info::{Assignment, Handle, RtInfo};
use crate::options::{Preemption, Strategy};
use crate::threads::Thread;
use crate::time::Time;

/// Schedule of a repository, with its analysis. Equal repositories have equal schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The strategy that it was computed for.
    pub strategy: Strategy,
    /// Whether the analysis assumes that jobs of a queue by deadline or laxity preempt each other.
    pub preemption: Preemption,
    /// The threads, in the order of the handles of their entry points.
    pub threads: Vec<Thread>,
    /// The queues, the most urgent first.
    pub levels: Vec<Level>,
    /// The assignment of each operation, in the order of handles; none for those that no thread
    /// runs.
    pub assignments: Vec<Option<Assignment>>,
    /// Errors and doubtful inputs.
    pub anomalies: Vec<Anomaly>,
    /// The sum of execution time over period of all threads.
    pub utilization: f64,
    pub(super) jitters: Vec<Vec<Time>>,
}

impl Schedule {
    /// Whether every deadline that the strategy guarantees holds.
    #[must_use]
    pub fn is_feasible(&self) -> bool {
        self.levels.iter().all(|it| it.is_met() || !it.promised)
    }

    /// Whether it is feasible and no anomaly is an error.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let mut anomalies = self.anomalies.iter();
        self.is_feasible() && anomalies.all(|it| it.severity < Severity::Error)
    }

    /// This schedule if it is feasible.
    ///
    /// # Errors
    /// `UtilizationBoundExceeded`.
    pub fn require_feasible(&self) -> Result<&Self, SchedError> {
        if self.is_feasible() {
            Ok(self)
        } else {
            Err(SchedError::UtilizationBoundExceeded {
                utilization: self.utilization,
            })
        }
    }

    /// This schedule if it is sound: feasible, and without an anomaly that is an error.
    ///
    /// # Errors
    /// `UtilizationBoundExceeded`, `Unsound`.
    pub fn require_sound(&self) -> Result<&Self, SchedError> {
        self.require_feasible()?;
        let mut anomalies = self.anomalies.iter();
        match anomalies.find(|it| it.severity == Severity::Error) {
            None => Ok(self),
            Some(error) => Err(SchedError::Unsound(error.description.clone())),
        }
    }

    /// The result of the paper's analysis: the lowest priority level of which all operations meet
    /// their deadlines, as do those of all levels above it.
    #[must_use]
    pub fn lowest_level_met(&self) -> Option<&Level> {
        self.levels.iter().take_while(|it| it.is_met()).last()
    }

    /// The threads with guaranteed deadlines: the deterministic class.
    pub fn guaranteed(&self) -> impl Iterator<Item = &Thread> {
        self.of_levels(Level::is_met)
    }

    /// All other threads: the statistical class and best effort.
    pub fn best_effort(&self) -> impl Iterator<Item = &Thread> {
        self.of_levels(|it| !it.is_met())
    }

    /// Whether a queue is ordered by deadline or laxity.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        let is_dynamic =
            |it: &Level| matches!(it.dispatching, Dispatching::Deadline | Dispatching::Laxity);
        self.levels.iter().any(is_dynamic)
    }

    fn of_levels(&self, wanted: impl Fn(&Level) -> bool) -> impl Iterator<Item = &Thread> {
        let levels = self.levels.iter().filter(move |it| wanted(it));
        levels.flat_map(|it| it.threads.iter().map(|index| &self.threads[*index]))
    }

    /// The assignment of an operation; none if no thread runs it.
    #[must_use]
    pub fn assignment(&self, handle: Handle) -> Option<Assignment> {
        self.assignments.get(handle.index()).copied().flatten()
    }

    /// The period of each operation, for its deadlines, and its longest run, for tables. Those of
    /// the thread that begins with it, which has the period of its data if it has none itself, and
    /// the time of all its callees; otherwise its own, with a period of zero if it runs within its
    /// callers.
    pub(crate) fn runs(&self, infos: &[RtInfo]) -> Vec<(Time, Time)> {
        let own = |it: &RtInfo| (it.timing.period, it.timing.worst_case_execution_time);
        let mut runs: Vec<_> = infos.iter().map(own).collect();
        for thread in self.threads.iter().filter(|it| !it.background) {
            if let Some((period, longest)) = runs.get_mut(thread.entry.index()) {
                *longest = thread.worst_case;
                if period.is_zero() {
                    *period = thread.period;
                }
            }
        }
        runs
    }

    /// The tasks of a level: one for each rate of each thread, with the index of the thread.
    pub fn tasks(&self, level: &Level) -> Vec<(usize, Task)> {
        let mut tasks = Vec::new();
        for index in &level.threads {
            let thread = &self.threads[*index];
            for (rate, jitter) in thread.rates.iter().zip(&self.jitters[*index]) {
                let time = thread.worst_case.saturating_mul(rate.runs);
                let task = task_of(level, thread, rate.period, time);
                let jitter = *jitter;
                tasks.push((*index, Task { jitter, ..task }));
            }
        }
        tasks
    }
}

/// A task of a thread in that level. A queue by deadline or laxity orders all runs of a thread by
/// one relative deadline, which is the least of its periods; other queues use the period of each.
pub(super) fn task_of(level: &Level, thread: &Thread, period: Time, time: Time) -> Task {
    let task = Task::new(period, time);
    match level.dispatching {
        Dispatching::Deadline | Dispatching::Laxity => task.with_deadline(thread.period),
        Dispatching::Static | Dispatching::TimeSliced => task,
    }
}
