// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of starting a lane.

use std::fmt;
use std::io;

use orbium_sys::RealTimeError;

/// Error of starting a lane; with the name of the lane.
pub enum StartError {
    /// The host refuses its scheduling or processors.
    RealTime(String, RealTimeError),
    /// The system refuses threads or descriptors for it.
    Threads(String, io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RealTime(lane, error) => write!(f, "cannot serve in lane {lane}: {error}"),
            Self::Threads(lane, error) => {
                write!(f, "no threads or descriptors for lane {lane}: {error}")
            }
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for StartError {}
