// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of object strings and of initial references.

use std::fmt;

use orbium_giop::{Completion, ExceptionKind, SystemException, UrlError};

use crate::names::NameError;

/// An initial reference that is not known, is nil or has a name that is taken or empty.
#[derive(Clone, PartialEq, Eq)]
pub struct InvalidName {
    /// The name.
    pub name: String,
    /// What is wrong with the URL that the configuration has for the name, such as a
    /// file that cannot be read.
    pub why: Option<Box<ObjectError>>,
}

impl InvalidName {
    /// A name that is not known, is taken or is empty.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            why: None,
        }
    }

    /// A name with a URL that leads to no reference, and why.
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

/// Error of an object string that gives no reference.
#[derive(Clone, PartialEq, Eq)]
pub enum ObjectError {
    /// The string is not an object string: what is wrong, and where.
    Url(UrlError),
    /// It names an initial reference that is not known.
    Unknown(InvalidName),
    /// Initial references that lead back to one of themselves, or through too many:
    /// their names.
    Circular(Vec<String>),
    /// A `corbaname:` with a name that was not resolved.
    Naming(NameError),
    /// A nil reference was to be registered as an initial reference.
    Nil,
    /// A `file:` URL with a file that holds no reference.
    File {
        /// Of the file.
        path: String,
        /// Why it could not be read.
        reason: String,
    },
}

impl ObjectError {
    /// The exception that the specification has `string_to_object` raise: BAD_PARAM 7 to
    /// 10, or what the call of a naming context raised; BAD_PARAM 27 for
    /// `register_initial_reference` with a nil reference.
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
