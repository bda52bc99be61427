// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a repository and of loading definitions.

use std::fmt;

use orbium::{SystemException, poa::PoaError};

/// Error of loading definitions. None of them was loaded.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The repository has another definition with that repository id.
    Different(String),
    /// The repository has another definition with that scoped name.
    NameInUse(String),
    /// The repository does not support such definitions: components, homes, events.
    Unsupported {
        /// The scoped name.
        name: String,
        /// Its kind in IDL.
        construct: &'static str,
    },
    /// The text is not IDL, or a constant has no value of its type.
    Invalid(String),
    /// The repository could not be changed.
    System(SystemException),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Different(id) => write!(f, "the repository has another definition of {id}"),
            Self::NameInUse(name) => {
                write!(f, "the repository has another definition named `{name}`")
            }
            Self::Unsupported { name, construct } => {
                write!(f, "the repository cannot have the {construct} `{name}`")
            }
            Self::Invalid(why) => f.write_str(why),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}

impl From<SystemException> for LoadError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// Error of opening a repository.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepositoryError {
    /// The database could not be opened or read.
    Database(String),
    /// The content of the database is not a valid repository.
    Damaged(String),
    /// The ORB cannot create its adapter.
    Poa(String),
    /// The ORB cannot serve it.
    System(SystemException),
}

impl fmt::Display for RepositoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(why) => write!(f, "the database: {why}"),
            Self::Damaged(why) => write!(f, "the database is damaged: {why}"),
            Self::Poa(why) => f.write_str(why),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for RepositoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for RepositoryError {}

impl From<SystemException> for RepositoryError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<PoaError> for RepositoryError {
    fn from(error: PoaError) -> Self {
        Self::Poa(error.to_string())
    }
}
