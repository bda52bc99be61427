// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of requests.

use std::fmt;

use orbium_cdr::Any;
use orbium_core::{Completion, ExceptionKind, SystemException};

/// Error of a [`Request`](super::Request) without results.
#[derive(Clone, PartialEq)]
pub enum RequestError {
    /// A user exception that the request lists (`CORBA::UnknownUserException`).
    User(Any),
    /// A user exception that the request does not list.
    Unlisted {
        /// Its repository id.
        id: String,
        /// Its members as they were received.
        members: Vec<u8>,
    },
    /// A system exception.
    System(SystemException),
}

impl RequestError {
    /// Repository id of the exception.
    #[must_use]
    pub fn repository_id(&self) -> &str {
        match self {
            Self::User(exception) => exception.type_code().id(),
            Self::Unlisted { id, .. } => id,
            Self::System(exception) => exception.repository_id(),
        }
    }
}

impl From<SystemException> for RequestError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<RequestError> for SystemException {
    /// A user exception is UNKNOWN 1, as to a caller that does not list it.
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::System(exception) => exception,
            RequestError::User(_) | RequestError::Unlisted { .. } => {
                Self::omg(ExceptionKind::Unknown, 1, Completion::Yes)
            }
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(exception) => fmt::Debug::fmt(exception, f),
            Self::Unlisted { id, .. } => {
                write!(f, "user exception {id}, which the request does not list")
            }
            Self::System(exception) => fmt::Display::fmt(exception, f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RequestError {}
