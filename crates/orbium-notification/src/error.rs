// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of starting a service.

use std::fmt;
use std::path::PathBuf;

use orbium::{SystemException, poa::PoaError};

/// Error of serving notification channels.
#[derive(PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceError {
    /// The ORB cannot serve it.
    Poa(PoaError),
    /// The [file of connections](crate::NotificationConfig::connections) could not be read or
    /// written, or another service has opened it.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        why: String,
    },
    /// The file is not a complete file of connections. It is left unchanged.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poa(error) => error.fmt(f),
            Self::File { path, why } => write!(f, "`{}`: {why}", path.display()),
            Self::Damaged { path, why } => {
                write!(f, "`{}` is no file of connections: {why}", path.display())
            }
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

impl From<PoaError> for ServiceError {
    fn from(error: PoaError) -> Self {
        Self::Poa(error)
    }
}

impl From<SystemException> for ServiceError {
    fn from(exception: SystemException) -> Self {
        Self::Poa(exception.into())
    }
}
