// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verdict of a check, and its assertions.

use std::fmt;

use orbium::{ExceptionKind, SystemException};

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The name of the check, such as `cubit.cube_long`.
    pub name: &'static str,
    /// The outcome.
    pub outcome: Outcome,
}

/// Outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every reply was correct.
    Passed,
    /// The check failed, for this reason.
    Failed(String),
    /// The check is not possible with this peer, for this reason.
    Skipped(String),
}

impl fmt::Display for Check {
    /// In the format of the other clients: `ok NAME`, `FAIL NAME: why` or `skip NAME: why`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Passed => write!(f, "ok {}", self.name),
            Outcome::Failed(why) => write!(f, "FAIL {}: {why}", self.name),
            Outcome::Skipped(why) => write!(f, "skip {}: {why}", self.name),
        }
    }
}

/// Reason why a check did not pass.
pub(super) enum Failure {
    Failed(String),
    Skipped(String),
}

/// Any unexpected exception.
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

/// Requires that a call ends in a system exception of that kind.
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
