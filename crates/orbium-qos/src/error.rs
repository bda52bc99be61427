// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors in a `Qos`.

use std::fmt;

/// Inconsistent fields of a [`Qos`](crate::Qos).
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QosError {
    /// A field that must be positive.
    Zero(&'static str),
    /// The execution time exceeds the period.
    ExecutionBeyondPeriod,
    /// The execution time exceeds the deadline.
    ExecutionBeyondDeadline,
    /// A loss of more than all messages, which is a thousand in a thousand.
    LossBeyondAll,
    /// A loss is permitted only for ISOCHRONOUS traffic.
    LossWithoutDatagrams,
    /// Only ISOCHRONOUS traffic is sent in copies.
    CopiesWithoutDatagrams,
    /// A MESSAGE_STREAM requires a rate, given as a period.
    StreamWithoutPeriod,
    /// ISOCHRONOUS traffic is paced: a bandwidth.
    MediaWithoutBandwidth,
    /// A time does not fit the wire: 58,000 years.
    TooLong(&'static str),
}

impl QosError {
    /// The text, without the name of the field.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Zero(_) => "a field of a Qos must be above zero",
            Self::TooLong(_) => "a time of a Qos is too long",
            Self::ExecutionBeyondPeriod => "wcet is longer than period",
            Self::ExecutionBeyondDeadline => "wcet is longer than deadline",
            Self::LossBeyondAll => "loss is in a thousand: at most 1000",
            Self::LossWithoutDatagrams => "only ISOCHRONOUS traffic may lose messages",
            Self::CopiesWithoutDatagrams => "only ISOCHRONOUS traffic is sent in copies",
            Self::StreamWithoutPeriod => "a MESSAGE_STREAM needs a period",
            Self::MediaWithoutBandwidth => "ISOCHRONOUS traffic needs a bandwidth",
        }
    }
}

impl fmt::Display for QosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(field) => write!(f, "{field} must be above zero"),
            Self::TooLong(field) => write!(f, "{field} is too long"),
            other => f.write_str(other.sentence()),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for QosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for QosError {}
