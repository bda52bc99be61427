// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verdict of a check, and the assertions that lead to it.

use std::fmt;

use orbium::{ExceptionKind, SystemException};

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked, such as `cubit.cube_long`.
    pub name: &'static str,
    /// Whether it was as it should be.
    pub outcome: Outcome,
}

/// Outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every answer was right.
    Passed,
    /// What was wrong.
    Failed(String),
    /// Why it could not be made with this peer.
    Skipped(String),
}

impl fmt::Display for Check {
    /// As the other clients print it: `ok NAME`, `FAIL NAME: why` or
    /// `skip NAME: why`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Passed => write!(f, "ok {}", self.name),
            Outcome::Failed(why) => write!(f, "FAIL {}: {why}", self.name),
            Outcome::Skipped(why) => write!(f, "skip {}: {why}", self.name),
        }
    }
}

/// Why a check did not pass.
pub(super) enum Failure {
    Failed(String),
    Skipped(String),
}

/// Whatever is raised where nothing should be.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

pub(super) type Verdict = Result<(), Failure>;

pub(super) fn outcome(verdict: Verdict) -> Outcome {
    match verdict {
        Ok(()) => Outcome::Passed,
        Err(Failure::Failed(why)) => Outcome::Failed(why),
        Err(Failure::Skipped(why)) => Outcome::Skipped(why),
    }
}

pub(super) fn failed(why: impl Into<String>) -> Failure {
    Failure::Failed(why.into())
}

pub(super) fn require(condition: bool, otherwise: &str) -> Verdict {
    if condition {
        Ok(())
    } else {
        Err(failed(otherwise))
    }
}

pub(super) fn expect<T: PartialEq + fmt::Debug>(what: &str, got: &T, want: &T) -> Verdict {
    if got == want {
        return Ok(());
    }
    Err(failed(format!(
        "{what} is {got:.200?} instead of {want:.200?}"
    )))
}

/// Requires a call to end in a system exception of that kind.
pub(super) fn expect_raised<T: fmt::Debug>(
    got: Result<T, SystemException>,
    kind: ExceptionKind,
) -> Result<SystemException, Failure> {
    match got {
        Err(exception) if exception.kind == kind => Ok(exception),
        Err(exception) => Err(failed(format!("{exception} was raised instead of {kind}"))),
        Ok(value) => Err(failed(format!("{value:?} was returned, {kind} not raised"))),
    }
}
