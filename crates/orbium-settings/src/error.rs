// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors in a configuration, with their positions and corrections.

use std::fmt;

/// Position of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file: its path, the number of the line from 1, and its text.
    Line(String, usize, String),
    /// In a file as a whole: its path.
    File(String),
    /// On the command line.
    Argument(String),
    /// In a program that sets it by name.
    Program,
}

/// An invalid setting, with its correction.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The position of the setting.
    pub place: Place,
    /// The error and its correction, in a sentence.
    pub reason: String,
}

impl ConfigError {
    /// The error of a setting at a position.
    #[must_use]
    pub fn new(place: Place, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { place, reason }
    }
}

impl fmt::Display for ConfigError {
    /// `server.conf:3: …`, followed by the line itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Line(path, number, text) => {
                write!(f, "{path}:{number}: {}\n  {number} | {text}", self.reason)
            }
            Place::File(path) => write!(f, "{path}: {}", self.reason),
            Place::Argument(argument) => write!(f, "{argument}: {}", self.reason),
            Place::Program => f.write_str(&self.reason),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConfigError {}
