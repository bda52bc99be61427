// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcomes of attempts at calls.

use std::borrow::Cow;
use std::sync::Arc;

use orbium_giop::{Ior, SystemException};

use crate::request::interrupt::Interrupt;
use crate::request::status::RequestStatus;

/// Outcome of an attempt at a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// Results.
    Results,
    /// A user exception with that id.
    UserException(Cow<'static, str>),
    /// A system exception.
    Raised(SystemException),
    /// A forward to another reference.
    Forward(Arc<Ior>),
    /// A retry of the request.
    Retry,
    /// A oneway was sent.
    Sent,
    /// An asynchronous request was sent.
    Pending,
}

impl CallOutcome {
    pub(super) fn status(&self) -> RequestStatus {
        match self {
            Self::Results | Self::Sent => RequestStatus::Successful,
            Self::UserException(_) => RequestStatus::UserException,
            Self::Raised(_) => RequestStatus::SystemException,
            Self::Forward(_) => RequestStatus::LocationForward,
            Self::Retry => RequestStatus::TransportRetry,
            Self::Pending => RequestStatus::Unknown,
        }
    }
}

impl From<Interrupt> for CallOutcome {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Raise(exception) => Self::Raised(exception),
            Interrupt::Forward(to) => Self::Forward(to),
        }
    }
}
