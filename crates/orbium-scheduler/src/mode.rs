// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mode of a program: a configuration run, or scheduled work.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::error::SchedulerError;

/// The environment variable that [`Mode::from_environment`] reads.
pub const VARIABLE: &str = "ORBIUM_SCHED";

/// The default file of the table that a configuration run writes.
const DEFAULT_PATH: &str = "schedule.rs";

/// Mode of [`Scheduler::schedule`](crate::Scheduler::schedule).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It checks that the table was made for this program.
    #[default]
    Run,
    /// It computes the schedule and writes the table to that file.
    Configure(PathBuf),
}

impl Mode {
    /// The mode of `ORBIUM_SCHED`: `configure` or `configure=FILE`; without the variable, or with
    /// `run`, [`Mode::Run`].
    ///
    /// # Errors
    /// [`SchedulerError::Mode`] for any other value.
    pub fn from_environment() -> Result<Self, SchedulerError> {
        match std::env::var_os(VARIABLE) {
            Some(value) => Self::parse(&value),
            None => Ok(Self::Run),
        }
    }

    /// The mode of a value of the variable.
    ///
    /// ```
    /// use orbium_scheduler::Mode;
    ///
    /// let mode = Mode::parse("configure=src/schedule.rs".as_ref())?;
    /// assert_eq!(mode, Mode::Configure("src/schedule.rs".into()));
    /// assert!(Mode::parse("configured".as_ref()).is_err());
    /// # Ok::<(), orbium_scheduler::SchedulerError>(())
    /// ```
    ///
    /// # Errors
    /// [`SchedulerError::Mode`] for any other value.
    pub fn parse(value: &OsStr) -> Result<Self, SchedulerError> {
        let unknown = || SchedulerError::Mode(value.to_string_lossy().chars().take(80).collect());
        match value.to_str().ok_or_else(unknown)? {
            "" | "run" => Ok(Self::Run),
            "configure" => Ok(Self::Configure(DEFAULT_PATH.into())),
            other => match other.strip_prefix("configure=") {
                Some(path) if !path.is_empty() => Ok(Self::Configure(path.into())),
                _ => Err(unknown()),
            },
        }
    }
}
