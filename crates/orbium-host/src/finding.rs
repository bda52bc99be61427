// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finding of a check: severity, facts and advice.

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Suitable for real time.
    Ok,
    /// The host does not report it.
    Unknown,
    /// Worth knowing: a choice with a price, or a fact that no command changes.
    Note,
    /// It delays requests.
    Problem,
}

impl Severity {
    /// Its word in tables and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

/// Finding of one check, with its remedy.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The present state, in a few words.
    pub found: String,
    /// A command, or other advice if there is none; empty if no change is needed.
    pub remedy: String,
}

impl Finding {
    /// Suitable for real time.
    pub(crate) fn ok(found: impl Into<String>) -> Self {
        Self {
            severity: Severity::Ok,
            found: found.into(),
            remedy: String::new(),
        }
    }

    /// The host does not report it, for this reason.
    pub(crate) fn unknown(found: impl Into<String>) -> Self {
        Self {
            severity: Severity::Unknown,
            ..Self::ok(found)
        }
    }

    /// Worth knowing.
    pub(crate) fn note(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            found: found.into(),
            remedy: remedy.into(),
        }
    }

    /// A problem.
    pub(crate) fn problem(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            severity: Severity::Problem,
            ..Self::note(found, remedy)
        }
    }
}
