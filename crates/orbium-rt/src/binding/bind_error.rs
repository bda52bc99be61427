// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error of a client that binds.

use std::fmt;

use orbium_core::{Completion, ExceptionKind, SystemException};
use orbium_giop::minor;

use super::{Reason, Terms};

/// Error of establishing or changing a binding.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// The offer is invalid.
    Malformed,
    /// The peer does not negotiate bindings.
    NotSpoken,
    /// The object is collocated: there is no connection.
    Collocated,
    /// The reference offers none of the protocols.
    NoProtocol,
    /// The server refuses, for that reason.
    Refused(Reason),
    /// The server would accept these terms, which are outside the offer.
    Countered(Box<Terms>, Reason),
    /// No agreement was reached within the maximum number of rounds; the server's last proposal.
    NoAgreement(Box<Terms>, Reason),
    /// The server violated the protocol: it has accepted terms outside the offer.
    Broken,
    /// Any other error; TIMEOUT after the time limit.
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
