// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of established bindings by their servers.

use std::fmt;

use super::{Reason, Terms};

/// Outcome of a server's change of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They are within the offer of the client, and apply from the next request on.
    Made,
    /// The client must agree: [`Bound::proposal`](super::Bound::proposal) returns them until it
    /// has, or others replace them.
    Proposed,
}

/// Error of changing a binding from the server.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The binding does not exist, or has ended.
    NotBound,
    /// The terms are invalid, or for another protocol than that of the connection.
    Malformed,
    /// The admission refuses them, for that reason.
    Refused(Reason),
    /// The admission would accept these terms.
    Countered(Box<Terms>, Reason),
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBound => f.write_str("there is no such binding"),
            Self::Malformed => f.write_str("the terms make no sense for the binding"),
            Self::Refused(reason) => write!(f, "the admission refuses: {reason}"),
            Self::Countered(_, reason) => write!(f, "the admission makes another offer: {reason}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ChangeError {}
