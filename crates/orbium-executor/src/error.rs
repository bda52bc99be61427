// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the executor, by operation.

use std::error::Error;
use std::{fmt, io};

use orbium_sys::RealTimeError;

/// Error of spawning a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpawnError {
    /// The maximum number of tasks of the context is reached.
    Full,
    /// The context was destroyed.
    Destroyed,
}

/// Error of migrating a task. The task stays in its context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MigrateError {
    /// The maximum number of tasks of the destination is reached.
    Full,
    /// The destination was destroyed.
    Destroyed,
    /// The task has ended, or ends with its context.
    Ended,
}

/// Error of a task without a result.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskError {
    /// It was cancelled, or its context was destroyed.
    Cancelled,
    /// It panicked.
    Panicked,
}

/// Error of changing the threads of a context.
#[non_exhaustive]
pub enum ThreadError {
    /// The host cannot start a further thread.
    Start(io::Error),
    /// The host refuses the native scheduling or the processors of the context.
    Scheduling(RealTimeError),
    /// The context has no thread that could leave.
    NoThread,
    /// The context was destroyed.
    Destroyed,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the scheduler context has as many tasks as it may have",
            Self::Destroyed => "the scheduler context was destroyed",
        })
    }
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => SpawnError::Full.fmt(f),
            Self::Destroyed => SpawnError::Destroyed.fmt(f),
            Self::Ended => f.write_str("the task has ended"),
        }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "the task was cancelled",
            Self::Panicked => "the task panicked",
        })
    }
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => write!(f, "no thread for the scheduler context: {error}"),
            Self::Scheduling(error) => write!(f, "a thread of the scheduler context: {error}"),
            Self::NoThread => f.write_str("the scheduler context has no thread that could go"),
            Self::Destroyed => SpawnError::Destroyed.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for SpawnError {}
/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for MigrateError {}
/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for TaskError {}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ThreadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Start(error) => Some(error),
            Self::Scheduling(error) => Some(error),
            Self::NoThread | Self::Destroyed => None,
        }
    }
}

impl From<SpawnError> for MigrateError {
    fn from(error: SpawnError) -> Self {
        match error {
            SpawnError::Full => Self::Full,
            SpawnError::Destroyed => Self::Destroyed,
        }
    }
}
