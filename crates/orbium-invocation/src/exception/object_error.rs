// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of object strings and of initial references.

use std::fmt;

use orbium_giop::{Completion, ExceptionKind, SystemException, UrlError};

use crate::names::NameError;

/// An initial reference that is unknown, nil, or has a name that is taken or empty.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidName {
    /// The name.
    pub name: String,
    /// The error of the configured URL of the name, such as an unreadable file.
    pub why: Option<Box<ObjectError>>,
}

impl InvalidName {
    /// A name that is unknown, taken or empty.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            why: None,
        }
    }

    /// A name with a URL that cannot be resolved, and the reason.
    #[must_use]
    pub fn because(name: &str, why: ObjectError) -> Self {
        Self {
            name: name.to_owned(),
            why: Some(Box::new(why)),
        }
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no initial reference `{}`", self.name)?;
        match &self.why {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidName {}

/// Error of an object string without a reference.
#[derive(Clone, PartialEq, Eq)]
pub enum ObjectError {
    /// The string is not an object string: the syntax error, with its position.
    Url(UrlError),
    /// It contains an unknown initial reference.
    Unknown(InvalidName),
    /// A cycle, or too long a chain, of initial references: their names.
    Circular(Vec<String>),
    /// A `corbaname:` with a name that was not resolved.
    Naming(NameError),
    /// A nil reference cannot be registered as an initial reference.
    Nil,
    /// A `file:` URL with a file that contains no reference.
    File {
        /// The path of the file.
        path: String,
        /// The reason.
        reason: String,
    },
}

impl ObjectError {
    /// The exception specified for `string_to_object`: BAD_PARAM 7 to 10, or the exception of the
    /// naming context; BAD_PARAM 27 for `register_initial_reference` with a nil reference.
    #[must_use]
    pub fn exception(&self) -> SystemException {
        match self {
            Self::Url(error) => error.exception(),
            Self::Naming(error) => error.exception(),
            Self::Unknown(InvalidName { why: Some(why), .. }) => why.exception(),
            Self::Nil => SystemException::omg(ExceptionKind::BadParam, 27, Completion::No),
            Self::Unknown(_) | Self::Circular(_) | Self::File { .. } => {
                SystemException::omg(ExceptionKind::BadParam, 10, Completion::No)
            }
        }
    }
}

impl From<InvalidName> for ObjectError {
    fn from(error: InvalidName) -> Self {
        Self::Unknown(error)
    }
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(error) => error.fmt(f),
            Self::Unknown(name) => name.fmt(f),
            Self::Circular(names) => {
                write!(
                    f,
                    "it leads back to initial references: {}",
                    names.join(", ")
                )
            }
            Self::Naming(error) => write!(f, "the name was not resolved: {error}"),
            Self::Nil => f.write_str("the reference is nil"),
            Self::File { path, reason } => write!(f, "the file {path}: {reason}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ObjectError {}

impl From<UrlError> for ObjectError {
    fn from(error: UrlError) -> Self {
        Self::Url(error)
    }
}
