// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of locking and unlocking a mutex.

use std::fmt;

/// Error of locking or unlocking a mutex.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MutexError {
    /// The calling thread holds it already: waiting would deadlock, directly or through other
    /// threads.
    HeldHere,
    /// The calling thread does not hold it.
    NotHeld,
    /// The thread that held it has ended without unlocking it: it can no longer be locked.
    Abandoned,
    /// The system does not support mutexes of this kind, or has no memory for one: its error
    /// number.
    System(i32),
}

impl fmt::Display for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldHere => f.write_str("the mutex is held by the thread that wants it"),
            Self::NotHeld => f.write_str("the mutex is not held by the thread that unlocks it"),
            Self::Abandoned => f.write_str("the thread that held the mutex has ended"),
            Self::System(number) => {
                let error = std::io::Error::from_raw_os_error(*number);
                write!(f, "the system refuses the mutex: {error}")
            }
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MutexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MutexError {}
