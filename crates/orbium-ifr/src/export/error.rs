// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of an export.

use std::fmt;

use orbium::{ExceptionKind, SystemException};

/// Error of exporting a repository.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportError {
    /// A definition needs another one that the repository does not have.
    Missing(String),
    /// Two definitions have the same repository id, or one contains itself.
    Repeated(String),
    /// Definitions depend on each other in a way that IDL cannot express.
    Circular(String),
    /// The description of a definition is not valid IDL.
    Invalid(String),
    /// The repository exceeds a limit, or its definitions are nested too deeply.
    TooLarge,
    /// The repository could not be called.
    System(SystemException),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(id) => write!(f, "the repository has no definition of {id}"),
            Self::Repeated(id) => write!(f, "the repository defines {id} twice"),
            Self::Circular(id) => write!(f, "the definition of {id} needs itself"),
            Self::Invalid(id) => write!(f, "what the repository says of {id} is no IDL"),
            Self::TooLarge => f.write_str("the repository has too many definitions"),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ExportError {}

impl From<SystemException> for ExportError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

/// An invalid definition.
pub(super) struct Fault {
    pub(super) place: usize,
    pub(super) error: ExportError,
}

/// Whether the error concerns a definition: neither communication with the repository, nor a limit.
pub(super) fn is_of_definition(error: &ExportError) -> bool {
    match error {
        ExportError::TooLarge => false,
        ExportError::System(exception) => !matches!(
            exception.kind,
            ExceptionKind::CommFailure
                | ExceptionKind::Transient
                | ExceptionKind::Timeout
                | ExceptionKind::NoPermission
                | ExceptionKind::ObjectNotExist
        ),
        _ => true,
    }
}
