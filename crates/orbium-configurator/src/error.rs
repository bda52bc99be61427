// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of reconfiguration.

use std::fmt;

use orbium_core::OrbError;
use orbium_settings::ConfigError;

/// Error of a reconfiguration; nothing was changed.
#[non_exhaustive]
pub enum ReconfigureError {
    /// Keys that cannot be changed while the ORB runs.
    Fixed(Vec<String>),
    /// Inconsistent settings: a sentence with the reason.
    Contradictory(&'static str),
    /// An endpoint that cannot be listened at, or a lane that cannot be started.
    Refused(OrbError),
    /// The ORB was reconfigured 65,535 times.
    TooOften,
    /// The ORB was shut down.
    Ended,
    /// The file cannot be read.
    File(ConfigError),
}

impl fmt::Display for ReconfigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(keys) => {
                write!(f, "cannot change while the ORB runs: {}", keys.join(", "))
            }
            Self::Contradictory(why) => f.write_str(why),
            Self::Refused(error) => error.fmt(f),
            Self::TooOften => f.write_str("the ORB was reconfigured too often"),
            Self::Ended => f.write_str("the ORB was shut down"),
            Self::File(error) => error.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ReconfigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ReconfigureError {}

impl From<OrbError> for ReconfigureError {
    fn from(error: OrbError) -> Self {
        Self::Refused(error)
    }
}

impl From<ConfigError> for ReconfigureError {
    fn from(error: ConfigError) -> Self {
        Self::File(error)
    }
}
