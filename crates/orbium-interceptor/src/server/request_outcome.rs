// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcomes of requests.

use std::sync::Arc;

use orbium_giop::{Ior, SystemException};

use crate::request::interrupt::Interrupt;
use crate::request::status::RequestStatus;

/// Outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestOutcome {
    /// Results.
    Results,
    /// A user exception with that id.
    UserException(String),
    /// A system exception.
    Raised(SystemException),
    /// The client is forwarded to another object.
    Forward(Arc<Ior>),
    /// Its servant has returned, with a deferred reply.
    Late,
    /// It was served, and its client expects no results.
    Unanswered,
}

impl RequestOutcome {
    pub(super) fn status(&self) -> RequestStatus {
        match self {
            Self::Results | Self::Unanswered => RequestStatus::Successful,
            Self::UserException(_) => RequestStatus::UserException,
            Self::Late => RequestStatus::Unknown,
            Self::Raised(_) => RequestStatus::SystemException,
            Self::Forward(_) => RequestStatus::LocationForward,
        }
    }
}

impl From<Interrupt> for RequestOutcome {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Raise(exception) => Self::Raised(exception),
            Interrupt::Forward(to) => Self::Forward(to),
        }
    }
}
