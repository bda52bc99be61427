// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scheduler of a program: the same calls in a configuration run and at run time.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use orbium_sched::{
    Declaration, Entry, Handle, Options, Repository, SchedError, Schedule, Strategy, Table, source,
};

use crate::calibration::{Calibration, ExecutionTimes, ThreadClock};
use crate::call_recorder::{CallRecorder, Recording};
use crate::clock::Clock;
use crate::error::SchedulerError;
use crate::mode::Mode;

/// The scheduler of a program (paper, 4.5.3).
///
/// ```no_run
/// use orbium_scheduler::{Outcome, Scheduler};
/// use orbium_sched::Table;
///
/// # static SCHEDULE: Table = Table::EMPTY;
/// # static OPERATIONS: [orbium_sched::Declaration; 0] = [];
/// let mut scheduler = Scheduler::from_environment(&SCHEDULE)?;
/// scheduler.declare(&OPERATIONS)?;
/// if let Outcome::Configured { path, .. } = scheduler.schedule()? {
///     println!("{}", path.display());
///     return Ok(());
/// }
/// # Ok::<(), orbium_scheduler::SchedulerError>(())
/// ```
pub struct Scheduler {
    table: &'static Table,
    mode: Mode,
    options: Options,
    repository: Repository,
    recording: Option<Arc<Recording>>,
    is_scheduled: bool,
}

/// Outcome of [`Scheduler::schedule`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The table was made for this program, which may start its work.
    Ready,
    /// The schedule was computed and its table written: the program ends, is built again with the
    /// table, and then runs.
    Configured {
        /// The file.
        path: PathBuf,
        /// The schedule.
        schedule: Box<Schedule>,
    },
}

impl Scheduler {
    /// A scheduler with the table of the last configuration run, or [`Table::EMPTY`] if there was
    /// none. It uses the strategy of the table, rate monotonic for an empty one.
    #[must_use]
    pub fn new(table: &'static Table, mode: Mode) -> Self {
        Self {
            table,
            mode,
            options: Options::new(table.strategy),
            repository: Repository::new(),
            recording: None,
            is_scheduled: false,
        }
    }

    /// A scheduler in the mode of `ORBIUM_SCHED`.
    ///
    /// # Errors
    /// [`SchedulerError::Mode`].
    pub fn from_environment(table: &'static Table) -> Result<Self, SchedulerError> {
        Ok(Self::new(table, Mode::from_environment()?))
    }

    /// Sets the strategy in place of the table's; at run time a table of another one is refused.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.options.strategy = strategy;
        self
    }

    /// Sets the options, their strategy included.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The mode of [`Self::schedule`].
    #[must_use]
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Registers the declarations of generated code.
    ///
    /// # Errors
    /// [`SchedulerError::Sched`], with the errors of [`Repository::declare`].
    pub fn declare(&mut self, operations: &[Declaration]) -> Result<(), SchedulerError> {
        self.repository_mut().declare(operations)?;
        Ok(())
    }

    /// The registered operations.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The registered operations, to register others. Operations that are registered later need
    /// another call of [`Self::schedule`].
    pub fn repository_mut(&mut self) -> &mut Repository {
        self.is_scheduled = false;
        &mut self.repository
    }

    /// In a configuration run measures the execution times of an operation, which `work` runs, and
    /// enters them into its RT_Info. Without effect at run time: the table has the times.
    ///
    /// # Errors
    /// `UnknownTask`, before `work` runs; [`SchedulerError::Calibration`].
    ///
    /// ```
    /// use orbium_sched::{Table, Time, Timing};
    /// use orbium_scheduler::{Calibration, Mode, Scheduler};
    ///
    /// let mut scheduler = Scheduler::new(&Table::EMPTY, Mode::Configure("schedule.rs".into()));
    /// let timing = Timing { period: Time::from_millis(50), ..Timing::default() };
    /// let read = scheduler.repository_mut().register("Gyro::read", timing)?;
    /// let calibration = Calibration { tolerance: 0.5, ..Calibration::default() };
    /// scheduler.calibrate(read, &calibration, || {
    ///     std::hint::black_box((0..1_000).sum::<u64>());
    /// })?;
    /// assert!(!scheduler.repository().get(read)?.timing.worst_case_execution_time.is_zero());
    /// # Ok::<(), orbium_scheduler::SchedulerError>(())
    /// ```
    pub fn calibrate(
        &mut self,
        operation: Handle,
        calibration: &Calibration,
        work: impl FnMut(),
    ) -> Result<Option<ExecutionTimes>, SchedulerError> {
        self.calibrate_by(&ThreadClock::default(), operation, calibration, work)
    }

    /// As [`Self::calibrate`], with that clock.
    ///
    /// # Errors
    /// As [`Self::calibrate`].
    pub fn calibrate_by(
        &mut self,
        clock: &dyn Clock,
        operation: Handle,
        calibration: &Calibration,
        work: impl FnMut(),
    ) -> Result<Option<ExecutionTimes>, SchedulerError> {
        let info = self.repository.get(operation)?;
        if self.mode == Mode::Run {
            return Ok(None);
        }
        let (name, timing) = (&info.entry_point, info.timing);
        let measured = calibration.measure_by(clock, work);
        let found = measured.map_err(|cause| SchedulerError::Calibration {
            name: name.clone(),
            cause,
        })?;
        let filled = found.in_timing(timing);
        self.repository_mut().set(operation, filled)?;
        Ok(Some(found))
    }

    /// The recorder of the calls of the operations that are registered so far, from which
    /// [`Self::schedule`] derives dependencies. The last recorder counts. At run time it records no
    /// calls.
    pub fn record_calls(&mut self) -> CallRecorder {
        self.recording = match self.mode {
            Mode::Run => None,
            Mode::Configure(_) => Some(Arc::new(Recording::new(&self.repository))),
        };
        CallRecorder::new(self.recording.clone())
    }

    /// In a configuration run computes the schedule and writes its table, which is reproducible;
    /// the file is replaced atomically. At run time checks the table.
    ///
    /// # Errors
    /// [`SchedulerError::Sched`]: `CyclicDependencies`, `InsufficientPriorityLevels`,
    /// `UtilizationBoundExceeded`, `NotScheduled`, `Unsound` and `TooManyOperations` in a configuration run, `TaskCountMismatch` and
    /// `OtherProgram` at run time. [`SchedulerError::Write`]. Nothing is written then.
    pub fn schedule(&mut self) -> Result<Outcome, SchedulerError> {
        let Mode::Configure(path) = &self.mode else {
            self.table.check(&self.repository)?;
            if self.options.strategy != self.table.strategy {
                return Err(SchedError::OtherProgram.into());
            }
            self.is_scheduled = true;
            return Ok(Outcome::Ready);
        };
        if let Some(recording) = &self.recording {
            recording.add_to(&mut self.repository)?;
        }
        let schedule = self.repository.compute_scheduling(&self.options)?;
        schedule.require_feasible()?;
        // Before anomalies: those of operations that no thread runs have a separate error.
        let text = source(&self.repository, &schedule)?;
        schedule.require_sound()?;
        let path = path.clone();
        let written = orbium_sys::write_whole(&path, text.as_bytes());
        written.map_err(|cause| SchedulerError::Write {
            path: path.clone(),
            cause,
        })?;
        Ok(Outcome::Configured {
            path,
            schedule: Box::new(schedule),
        })
    }

    /// The entry of the table for the operation of that index: a constant of the table's
    /// file.
    ///
    /// # Errors
    /// `NotScheduled` before [`Self::schedule`] has checked the table, `UnknownTask` for an index
    /// beyond it.
    pub fn entry(&self, index: usize) -> Result<&'static Entry, SchedulerError> {
        if !self.is_scheduled {
            return Err(SchedError::NotScheduled(index.to_string()).into());
        }
        Ok(self.table.entry(index)?)
    }

    /// Removes all registered operations and the schedule.
    pub fn destroy(&mut self) {
        self.repository = Repository::new();
        self.recording = None;
        self.is_scheduled = false;
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("mode", &self.mode)
            .field("options", &self.options)
            .field("operations", &self.repository.infos().len())
            .field("is_scheduled", &self.is_scheduled)
            .finish_non_exhaustive()
    }
}
