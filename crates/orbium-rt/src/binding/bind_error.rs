// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error of a client that binds.

use std::fmt;

use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_giop::minor;

use super::{Reason, Terms};

/// Error of a binding that was not made.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// The offer makes no sense.
    Malformed,
    /// The peer does not negotiate bindings.
    NotSpoken,
    /// The object is within this very process: there is no connection.
    Collocated,
    /// The reference offers none of the protocols.
    NoProtocol,
    /// The server refuses, for that reason.
    Refused(Reason),
    /// The server would take these terms, which were not wanted.
    Countered(Box<Terms>, Reason),
    /// There was no agreement within the rounds there were; what the server
    /// proposed last.
    NoAgreement(Box<Terms>, Reason),
    /// The server has not kept to the rules: it has accepted what was not offered.
    Broken,
    /// Something else went wrong; TIMEOUT when time is over.
    System(SystemException),
}

impl BindError {
    /// Time is over.
    pub(super) fn late() -> Self {
        Self::System(SystemException::orbium(
            ExceptionKind::Timeout,
            minor::DEADLINE_PASSED,
            Completion::No,
        ))
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the offer is malformed"),
            Self::NotSpoken => f.write_str("the peer does not negotiate bindings"),
            Self::Collocated => {
                f.write_str("the object is in this process: there is nothing to bind")
            }
            Self::NoProtocol => f.write_str("the reference offers none of the protocols"),
            Self::Refused(reason) => write!(f, "the server refuses: {reason}"),
            Self::Countered(_, reason) => write!(f, "the server makes another offer: {reason}"),
            Self::NoAgreement(_, reason) => write!(f, "there was no agreement: {reason}"),
            Self::Broken => f.write_str("the server has accepted what was not offered"),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BindError {}
