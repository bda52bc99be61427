// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schedules: queues, priorities, and which deadlines hold.

use super::level::{Dispatching, Level};
use crate::anomaly::{Anomaly, Severity};
use crate::error::SchedError;
use crate::feasibility::Task;
use crate::info::{Assignment, Handle};
use crate::options::{Preemption, Strategy};
use crate::threads::Thread;
use crate::time::Time;

/// Schedule of a repository, with its analysis. Equal repositories have equal schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// What it was computed for.
    pub strategy: Strategy,
    /// Whether jobs of a queue by deadline or laxity were taken to preempt each other.
    pub preemption: Preemption,
    /// The threads, in the order of the handles of their entry points.
    pub threads: Vec<Thread>,
    /// The queues, the most urgent first.
    pub levels: Vec<Level>,
    /// What each operation was assigned, in the order of handles; none for those that no thread runs.
    pub assignments: Vec<Option<Assignment>>,
    /// What is wrong or doubtful.
    pub anomalies: Vec<Anomaly>,
    /// The sum of execution time over period of all threads.
    pub utilization: f64,
    pub(super) jitters: Vec<Vec<Time>>,
}

impl Schedule {
    /// Whether every deadline that the strategy promises holds.
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

    /// The paper's question: the lowest priority level of which all operations meet their deadlines,
    /// as do those of all levels above it.
    #[must_use]
    pub fn lowest_level_met(&self) -> Option<&Level> {
        self.levels.iter().take_while(|it| it.is_met()).last()
    }

    /// The threads with guaranteed deadlines: the deterministic class.
    pub fn guaranteed(&self) -> impl Iterator<Item = &Thread> {
        self.of_levels(Level::is_met)
    }

    /// All other threads: the statistical class, and what is served as far as possible.
    pub fn best_effort(&self) -> impl Iterator<Item = &Thread> {
        self.of_levels(|it| !it.is_met())
    }

    /// Whether any queue is by deadline or laxity.
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

    /// The tasks of a level: one for each rate of each thread, with the index of the thread.
    pub fn tasks(&self, level: &Level) -> Vec<(usize, Task)> {
        let mut tasks = Vec::new();
        for index in &level.threads {
            let thread = &self.threads[*index];
            for (rate, jitter) in thread.rates.iter().zip(&self.jitters[*index]) {
                let time = thread.worst_case.saturating_mul(rate.runs);
                let jitter = *jitter;
                tasks.push((
                    *index,
                    Task {
                        jitter,
                        ..Task::new(rate.period, time)
                    },
                ));
            }
        }
        tasks
    }
}
