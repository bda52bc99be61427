// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a name or an object string gives no reference.

use std::fmt;

use orbium_giop::{SystemException, UrlError};

/// An initial reference that is not known, or a name that is taken or empty.
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

    pub(super) fn because(name: &str, why: ObjectError) -> Self {
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

/// The same words as `Display`: it is what a `main` shows that ends with an error.
impl fmt::Debug for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for InvalidName {}

/// Why an object string gives no reference.
#[derive(Clone, PartialEq, Eq)]
pub enum ObjectError {
    /// The string is not an object string: what is wrong, and where.
    Url(UrlError),
    /// It names an initial reference that is not known.
    Unknown(InvalidName),
    /// A `corbaname:` has to be looked up, which did not succeed.
    Naming(SystemException),
    /// A `file:` URL with a file that holds no reference.
    File {
        /// Of the file.
        path: String,
        /// Why it could not be read.
        reason: String,
    },
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(error) => error.fmt(f),
            Self::Unknown(name) => name.fmt(f),
            Self::Naming(exception) => write!(f, "the name was not resolved: {exception}"),
            Self::File { path, reason } => write!(f, "the file {path}: {reason}"),
        }
    }
}

/// The same words as `Display`: it is what a `main` shows that ends with an error.
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
