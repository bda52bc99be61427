// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of the service, and the system exceptions that it raises.

use std::fmt;
use std::path::PathBuf;

use orbium::{Completion, ExceptionKind, SystemException, poa::PoaError};

/// An invalid argument without a declared exception: a negative number, an unknown name.
pub(crate) const BAD_ARGUMENT: SystemException =
    SystemException::new(ExceptionKind::BadParam, 0, Completion::No);
/// The operation is for the privileged reference.
pub(crate) const NOT_PRIVILEGED: SystemException =
    SystemException::new(ExceptionKind::NoPermission, 0, Completion::No);
/// The maximum number of operations or dependencies, or the maximum length of a name, is exceeded.
pub(crate) const TOO_MUCH: SystemException =
    SystemException::new(ExceptionKind::ImpLimit, 0, Completion::No);
/// The file could not be written, and the change was not applied. The next change rewrites the
/// file.
pub(crate) const NOT_STORED: SystemException =
    SystemException::new(ExceptionKind::PersistStore, 0, Completion::No);

/// Error of starting the service.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceError {
    /// The file of the state could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// The file is not a valid state of a service.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error, with its line.
        why: String,
    },
    /// No random bytes are available for the key of the privileged reference.
    Random(String),
    /// The ORB cannot create its adapter.
    Poa(String),
    /// The ORB cannot serve it.
    System(SystemException),
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, why } => write!(f, "`{}`: {why}", path.display()),
            Self::Damaged { path, why } => {
                write!(f, "`{}` is no state of a service: {why}", path.display())
            }
            Self::Random(why) => write!(f, "no random bytes: {why}"),
            Self::Poa(why) => f.write_str(why),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServiceError {}

impl From<SystemException> for ServiceError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<PoaError> for ServiceError {
    fn from(error: PoaError) -> Self {
        Self::Poa(error.to_string())
    }
}
