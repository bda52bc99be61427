// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of resources.

use std::error::Error;
use std::fmt;

use orbium::{Completion, ExceptionKind, SystemException};

use crate::error::SegmentError;

/// Error of creating, locking or unlocking a resource.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceError {
    /// The ceiling is of another discipline than the scheduler, or the calling thread was cancelled.
    Segment(SegmentError),
    /// A resource of that name exists: BAD_PARAM.
    NameTaken(String),
    /// The calling thread is not in a scheduling segment, so it has no scheduling parameter:
    /// BAD_INV_ORDER.
    NoSegment,
    /// The calling distributable thread has already locked the resource, here or in one of its
    /// upcalls: BAD_INV_ORDER.
    Held,
    /// The calling distributable thread has not locked the resource: BAD_INV_ORDER.
    NotHeld,
    /// The owner waits, directly or through others, for a resource of the calling thread:
    /// BAD_INV_ORDER.
    Deadlock,
    /// The calling distributable thread already waits for a resource of this process in another of
    /// its upcalls, which an asynchronous call has begun: BAD_INV_ORDER.
    Waits,
}

impl fmt::Display for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segment(error) => error.fmt(f),
            Self::NameTaken(name) => write!(f, "there is a resource named `{name}`"),
            Self::NoSegment => f.write_str("the calling thread is in no scheduling segment"),
            Self::Held => f.write_str("the distributable thread holds the resource already"),
            Self::NotHeld => f.write_str("the distributable thread does not hold the resource"),
            Self::Deadlock => f.write_str("the owner waits for a resource of the calling thread"),
            Self::Waits => f.write_str("the distributable thread waits for a resource already"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ResourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ResourceError {}

impl From<SegmentError> for ResourceError {
    fn from(error: SegmentError) -> Self {
        Self::Segment(error)
    }
}

impl From<ResourceError> for SystemException {
    fn from(error: ResourceError) -> Self {
        let kind = match error {
            ResourceError::Segment(error) => return error.into(),
            ResourceError::NameTaken(_) => ExceptionKind::BadParam,
            _ => ExceptionKind::BadInvOrder,
        };
        Self::new(kind, 0, Completion::No)
    }
}
