// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of scheduling a program.

use std::path::PathBuf;
use std::{fmt, io};

use orbium::{OrbError, lane::RealTimeError};
use orbium_sched::SchedError;

use crate::calibration::CalibrationError;

/// Error of scheduling a program. `Display` and `Debug` are sentences.
#[non_exhaustive]
pub enum SchedulerError {
    /// The value of the environment variable `ORBIUM_SCHED` is not a mode.
    Mode(String),
    /// The analysis refuses the operations, or the table was made for others.
    Sched(SchedError),
    /// The table could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The priorities of a table cannot be those of lanes: a native priority is not a valid CORBA
    /// priority, or is not below the priority of the previous queue.
    Priority(i32),
    /// A lane could not be started.
    Lane(Box<OrbError>),
    /// The number of lanes differs from that of the schedule's queues.
    Lanes {
        /// The number of lanes.
        lanes: usize,
        /// The number of queues of the schedule.
        queues: usize,
    },
    /// A period of zero.
    NoPeriod(String),
    /// A thread could not be started.
    Thread {
        /// The name of the thread.
        name: String,
        /// The cause.
        cause: io::Error,
    },
    /// The host refuses the scheduling of a thread.
    Host {
        /// The name of the thread.
        name: String,
        /// The cause, with advice.
        cause: RealTimeError,
    },
    /// The execution times of the operation of that name could not be measured.
    Calibration {
        /// The name of the operation.
        name: String,
        /// The cause.
        cause: CalibrationError,
    },
    /// A run of the task of that name panicked, which ended its thread.
    Panicked(String),
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode(value) => write!(
                f,
                "ORBIUM_SCHED is `{value}`: write `run`, `configure` or `configure=FILE`"
            ),
            Self::Sched(error) => error.fmt(f),
            Self::Write { path, cause } => {
                write!(f, "cannot write the table {}: {cause}", path.display())
            }
            Self::Priority(number) => write!(
                f,
                "native priority {number} of the schedule is none for a lane: they go from 0 to 32767, the most urgent first"
            ),
            Self::Lane(error) => error.fmt(f),
            Self::Lanes { lanes, queues } => write!(
                f,
                "there are {lanes} lanes for the {queues} queues of the schedule"
            ),
            Self::NoPeriod(name) => write!(f, "`{name}` has no period"),
            Self::Thread { name, cause } => write!(f, "cannot start thread `{name}`: {cause}"),
            Self::Host { name, cause } => write!(f, "thread `{name}`: {cause}"),
            Self::Calibration { name, cause } => write!(f, "`{name}`: {cause}"),
            Self::Panicked(name) => write!(f, "a run of `{name}` panicked"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SchedulerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { cause, .. } | Self::Thread { cause, .. } => Some(cause),
            Self::Lane(error) => Some(error),
            Self::Host { cause, .. } => Some(cause),
            Self::Calibration { cause, .. } => Some(cause),
            Self::Sched(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SchedError> for SchedulerError {
    fn from(error: SchedError) -> Self {
        Self::Sched(error)
    }
}

impl From<OrbError> for SchedulerError {
    fn from(error: OrbError) -> Self {
        Self::Lane(Box::new(error))
    }
}
