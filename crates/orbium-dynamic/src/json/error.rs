// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors in JSON values, with their paths.

use std::fmt;

/// Characters of a value that an error shows.
const MAX_SHOWN_CHARACTERS: usize = 40;

/// JSON that is not a value of the expected type.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonError {
    path: String,
    reason: String,
}

impl JsonError {
    pub(crate) fn new(path: String, reason: String) -> Self {
        Self { path, reason }
    }

    /// The path of the error: `$` is the whole value, `$.points[3].x` a member of an element.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The reason of the error.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The error of a part as that of the whole: `at` replaces the `$` of its path.
    #[must_use]
    pub fn within(self, at: &str) -> Self {
        Self {
            path: format!("{at}{}", self.path.strip_prefix('$').unwrap_or(&self.path)),
            ..self
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for JsonError {}

/// The beginning of JSON text, in one line, for errors.
pub(super) fn shown(text: &str) -> String {
    let mut line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = line.by_ref().take(MAX_SHOWN_CHARACTERS).collect();
    if line.next().is_some() {
        shown.push('…');
    }
    shown
}
