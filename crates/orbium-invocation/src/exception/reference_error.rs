// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of references that are to be of an interface.

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
    /// The object could not be asked.
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

/// Characters of a reference that an error shows; an `IOR:` has hundreds.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// Error of `Orb::resolve`: a text that leads to no object of the interface asked for.
#[derive(Clone, PartialEq, Eq)]
pub enum ResolveError {
    /// The text names no object.
    Reference {
        /// As it was given.
        text: String,
        /// What is wrong with it.
        error: ObjectError,
    },
    /// It names an object that is not known to have the interface.
    Interface {
        /// As it was given.
        text: String,
        /// Repository id of the interface that was asked for.
        interface: &'static str,
        /// Nil, another interface, or an object that could not be asked.
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

/// The sentence, which is what `main` prints.
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
