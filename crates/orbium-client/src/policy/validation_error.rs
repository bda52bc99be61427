// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of connection validation.

use std::fmt;

use orbium_giop::SystemException;
use orbium_interceptor::policy_type;

/// Error of validating a connection (CORBA 3.3 Part 1, 8.3.12).
#[derive(Clone, PartialEq, Eq)]
pub enum ValidationError {
    /// `validate_connection` is FALSE: policies of these types of the client conflict with those of
    /// the reference or the ORB.
    Inconsistent(Vec<u32>),
    /// The server could not be reached, or has refused.
    System(SystemException),
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inconsistent(types) => {
                f.write_str("inconsistent with the reference or the ORB:")?;
                types
                    .iter()
                    .try_for_each(|it| match policy_type::name(*it) {
                        Some(name) => write!(f, " {name}"),
                        None => write!(f, " policy {it}"),
                    })
            }
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ValidationError {}
