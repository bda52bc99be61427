// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of pulling events.

use std::fmt;

/// Error of a pull.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PullError {
    /// The connection has ended.
    Disconnected,
    /// No event has arrived in time.
    TimedOut,
    /// Events are pushed to the consumer.
    Pushed,
}

/// The sentence, as `main` prints it.
impl fmt::Debug for PullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PullError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disconnected => "the connection has ended",
            Self::TimedOut => "no event has arrived in time",
            Self::Pushed => "events are pushed to the consumer",
        })
    }
}

impl std::error::Error for PullError {}
