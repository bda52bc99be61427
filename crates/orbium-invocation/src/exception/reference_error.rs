// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the typing of references.

use std::fmt;

use orbium_giop::SystemException;

use crate::ObjectError;

/// Error of narrowing a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NarrowError {
    /// The reference is nil.
    Nil,
    /// The object has another interface.
    WrongType,
    /// The object could not be queried.
    System(SystemException),
}

impl fmt::Display for NarrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("the reference is nil"),
            Self::WrongType => f.write_str("the object does not have that interface"),
            Self::System(exception) => write!(f, "the object could not be asked: {exception}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for NarrowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NarrowError {}

impl From<SystemException> for NarrowError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// Characters of a reference shown in an error; an `IOR:` has hundreds.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// Error of `Orb::resolve`: the text does not denote an object of the requested interface.
#[derive(Clone, PartialEq, Eq)]
pub enum ResolveError {
    /// The text does not denote an object.
    Reference {
        /// The text.
        text: String,
        /// The error in the text.
        error: ObjectError,
    },
    /// The object is not known to have the interface.
    Interface {
        /// The text.
        text: String,
        /// Repository id of the requested interface.
        interface: &'static str,
        /// Nil, another interface, or an object that could not be queried.
        error: NarrowError,
    },
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Reference { text, .. } | Self::Interface { text, .. } => text,
        };
        let shown = match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.clone(),
        };
        match self {
            Self::Reference { error, .. } => write!(f, "`{shown}`: {error}"),
            Self::Interface {
                interface, error, ..
            } => write!(f, "`{shown}` as `{interface}`: {error}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ResolveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Self::Reference { error, .. } => error,
            Self::Interface { error, .. } => error,
        })
    }
}
