// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of scheduling segments.

use std::error::Error;
use std::fmt;

use orbium::{Completion, ExceptionKind, SystemException};

/// Error of beginning, changing or ending a scheduling segment.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentError {
    /// The scheduler has another discipline than the parameter
    /// (`UNSUPPORTED_SCHEDULING_DISCIPLINE`).
    UnsupportedDiscipline {
        /// The discipline of the scheduler.
        scheduler: &'static str,
        /// The discipline of the parameter.
        parameter: &'static str,
    },
    /// The name is not that of the innermost segment, or this upcall has no open segment:
    /// BAD_INV_ORDER.
    NotInnermost,
    /// The thread was cancelled: THREAD_CANCELLED. The caller has to return this exception.
    Cancelled,
}

/// THREAD_CANCELLED.
pub(crate) fn thread_cancelled(completed: Completion) -> SystemException {
    SystemException::new(ExceptionKind::ThreadCancelled, 0, completed)
}

/// The client's scheduler has another discipline.
pub(crate) fn incompatible_disciplines() -> SystemException {
    SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No)
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnsupportedDiscipline {
                scheduler,
                parameter,
            } => write!(f, "the scheduler is {scheduler}, the parameter {parameter}"),
            Self::NotInnermost => f.write_str("no such segment is the innermost one"),
            Self::Cancelled => f.write_str("the distributable thread was cancelled"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for SegmentError {}

impl From<SegmentError> for SystemException {
    fn from(error: SegmentError) -> Self {
        match error {
            SegmentError::UnsupportedDiscipline { .. } => incompatible_disciplines(),
            SegmentError::NotInnermost => Self::new(ExceptionKind::BadInvOrder, 0, Completion::No),
            SegmentError::Cancelled => thread_cancelled(Completion::No),
        }
    }
}
