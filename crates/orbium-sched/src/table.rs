// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of a schedule: static data in which a program looks priorities up by a constant index.

use std::time::Duration;

use crate::error::SchedError;
use crate::info::{Assignment, RtInfo};
use crate::options::Strategy;
use crate::repository::Repository;
use crate::schedule::{Dispatching, Level, Schedule};
use crate::time::Time;

use fingerprint::{HASH_OF_NOTHING, hash_of};

pub(crate) mod fingerprint;

/// A schedule as static data, in the form that [`source`](crate::source) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The strategy.
    pub strategy: Strategy,
    /// The hash of the operations as the program registers them: names in order and requirements, without
    /// execution times.
    pub hash: u64,
    /// The operations in the order of their handles; index them with the constants of the table.
    pub entries: &'static [Entry],
    /// The queues, the most urgent first.
    pub queues: &'static [Queue],
}

/// An operation of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its assignment.
    pub assignment: Assignment,
    /// Its period, or that of the data for which it runs, the least of several; zero if it runs
    /// only when it is called.
    pub period: Time,
    /// Its worst-case execution time.
    pub worst_case: Time,
    /// Its longest run, with all its callees and the overhead of the analysis.
    pub longest_run: Time,
}

impl Entry {
    /// An entry: queue, position in it, native priority, and times in units of 100 ns.
    #[must_use]
    pub const fn new(
        name: &'static str,
        (preemption_priority, subpriority, priority): (u32, u32, i32),
        period: u64,
        worst_case: u64,
    ) -> Self {
        Entry {
            name,
            assignment: Assignment {
                preemption_priority,
                subpriority,
                priority,
            },
            period: Time::from_ticks(period),
            worst_case: Time::from_ticks(worst_case),
            longest_run: Time::from_ticks(worst_case),
        }
    }

    /// The same for an operation that takes longer with its callees: at most so many units of 100
    /// ns.
    #[must_use]
    pub const fn with_calls(self, longest_run: u64) -> Self {
        Self {
            longest_run: Time::from_ticks(longest_run),
            ..self
        }
    }

    /// The entry of a disabled operation: it has no queue. Times are in units of 100 ns.
    #[must_use]
    pub const fn disabled(name: &'static str, period: u64, worst_case: u64) -> Self {
        Self::new(name, (NO_QUEUE, u32::MAX, 0), period, worst_case)
    }

    /// Whether the operation is excluded from the schedule.
    #[must_use]
    pub const fn is_disabled(&self) -> bool {
        self.assignment.preemption_priority == NO_QUEUE
    }

    /// The deadline of a run released at that time of any clock: one period later. None without a
    /// period.
    #[must_use]
    pub fn deadline(&self, released: Duration) -> Option<Duration> {
        let period = self.period.as_duration();
        (!period.is_zero()).then(|| released.saturating_add(period))
    }
}

/// The queue of disabled operations, which no table has.
const NO_QUEUE: u32 = u32::MAX;

/// A queue of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its native priority.
    pub priority: i32,
    /// Its dispatching policy.
    pub dispatching: Dispatching,
}

impl Table {
    /// The table of a program that has not been configured yet: no operations, no queues.
    pub const EMPTY: Table = Table {
        strategy: Strategy::Rms,
        hash: HASH_OF_NOTHING,
        entries: &[],
        queues: &[],
    };

    /// The table of a schedule that the program computes itself, without a configuration run. Its
    /// memory is not freed.
    ///
    /// # Errors
    /// `NotScheduled` for an enabled operation that no thread runs.
    ///
    /// ```
    /// use orbium_sched::{Options, Repository, Schedule, Table, Time, Timing};
    ///
    /// let mut repository = Repository::new();
    /// let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
    /// repository.register("Gyro::read", timing)?;
    /// let schedule = Schedule::compute(&repository, &Options::default())?;
    /// let table = Table::leak(&repository, &schedule)?;
    /// assert_eq!(table.entry(0)?.name, "Gyro::read");
    /// table.check(&repository)?;
    /// # Ok::<(), orbium_sched::SchedError>(())
    /// ```
    pub fn leak(
        repository: &Repository,
        schedule: &Schedule,
    ) -> Result<&'static Table, SchedError> {
        let assignment = |info: &RtInfo| {
            let not_scheduled = || SchedError::NotScheduled(info.entry_point.clone());
            match schedule.assignment(info.handle) {
                None if info.state.is_disabled() => Ok(Entry::disabled("", 0, 0).assignment),
                assigned => assigned.ok_or_else(not_scheduled),
            }
        };
        // All of them before the first name is leaked.
        let assignments: Result<Vec<_>, SchedError> =
            repository.infos().iter().map(assignment).collect();
        let entry = |((info, assignment), run): ((&RtInfo, Assignment), (Time, Time))| Entry {
            name: info.entry_point.clone().leak(),
            assignment,
            period: run.0,
            worst_case: info.timing.worst_case_execution_time,
            longest_run: run.1,
        };
        let entries: Vec<_> = repository
            .infos()
            .iter()
            .zip(assignments?)
            .zip(schedule.runs(repository.infos()))
            .map(entry)
            .collect();
        let queue = |level: &Level| Queue {
            priority: level.priority,
            dispatching: level.dispatching,
        };
        let queues: Vec<_> = schedule.levels.iter().map(queue).collect();
        Ok(Box::leak(Box::new(Table {
            strategy: schedule.strategy,
            hash: hash_of(repository),
            entries: entries.leak(),
            queues: queues.leak(),
        })))
    }

    /// The operation of that index.
    ///
    /// # Errors
    /// `UnknownTask` for an index beyond the table, `NotScheduled` for a disabled operation.
    pub fn entry(&self, index: usize) -> Result<&'static Entry, SchedError> {
        match self.entries.get(index) {
            Some(entry) if entry.is_disabled() => {
                Err(SchedError::NotScheduled(entry.name.to_owned()))
            }
            Some(entry) => Ok(entry),
            None => Err(SchedError::UnknownTask(index.to_string())),
        }
    }

    /// The number of the queue of an operation, and the queue; none if it is disabled, or the table
    /// is inconsistent.
    #[must_use]
    pub fn queue_of(&self, entry: &Entry) -> Option<(usize, &'static Queue)> {
        let number = entry.assignment.preemption_priority as usize;
        Some((number, self.queues.get(number)?))
    }

    /// Checks that the program has registered the operations of the table, as the paper's
    /// `schedule` does at run time. Names, periods, quanta, criticality, importance, threads, kinds
    /// and dependencies are compared; execution times are not, as calibration differs in each
    /// configuration run, nor are dependencies that it [has
    /// recorded](Repository::add_recorded_dependency).
    ///
    /// # Errors
    /// `TaskCountMismatch`, `OtherProgram`.
    pub fn check(&self, repository: &Repository) -> Result<(), SchedError> {
        let registered = repository.infos().len();
        if registered != self.entries.len() {
            return Err(SchedError::TaskCountMismatch {
                registered,
                scheduled: self.entries.len(),
            });
        }
        if hash_of(repository) == self.hash {
            Ok(())
        } else {
            Err(SchedError::OtherProgram)
        }
    }
}
