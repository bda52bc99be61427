// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finding of a check: severity, facts and advice.

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// As real time wants it.
    Ok,
    /// The host does not tell.
    Unknown,
    /// Worth knowing: a choice with a price, or nothing that a command mends.
    Note,
    /// It makes requests late.
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
    /// How bad it is.
    pub severity: Severity,
    /// The state of affairs, in a few words.
    pub found: String,
    /// A command, or what to do where no command does it; empty if there is
    /// nothing to mend.
    pub mend: String,
}

impl Finding {
    /// All is well.
    pub(crate) fn ok(found: impl Into<String>) -> Self {
        Self {
            severity: Severity::Ok,
            found: found.into(),
            mend: String::new(),
        }
    }

    /// The host does not tell, for this reason.
    pub(crate) fn unknown(found: impl Into<String>) -> Self {
        Self {
            severity: Severity::Unknown,
            ..Self::ok(found)
        }
    }

    /// Worth knowing.
    pub(crate) fn note(found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            severity: Severity::Note,
            found: found.into(),
            mend: mend.into(),
        }
    }

    /// Wrong.
    pub(crate) fn problem(found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            severity: Severity::Problem,
            ..Self::note(found, mend)
        }
    }
}
