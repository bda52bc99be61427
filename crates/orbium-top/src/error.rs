// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error of the crate.

use std::fmt;

/// Reason why an ORB cannot be shown: one sentence for the user.
pub struct TopError(String);

impl TopError {
    pub(crate) fn because(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for TopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for TopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TopError {}
