// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions on their way between a servant and a caller.

use std::error::Error;
use std::fmt;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Encode};
use orbium_giop::{Completion, ExceptionKind, SystemException};

/// A user exception declared in IDL. Its encoding is that of its members; the
/// repository id goes before it.
pub trait UserException: Error {
    /// What names it on the wire.
    const REPOSITORY_ID: &'static str;
}

/// An exception, ready to be written into a reply.
pub enum Raised<'e> {
    /// One that any operation may raise.
    System(SystemException),
    /// One that the operation declares: repository id and members.
    User(&'static str, &'e dyn Encode),
}

impl fmt::Debug for Raised<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(exception) => exception.fmt(f),
            Self::User(id, _) => f.debug_tuple("User").field(id).finish(),
        }
    }
}

/// What an operation can raise: the error type of its caller and its servant.
pub trait Raises: From<SystemException> {
    /// Reads the members of the user exception named `id`; `None` if the
    /// operation does not declare it.
    fn decode_raised(id: &str, reader: &mut CdrReader<'_>) -> Option<Result<Self, CdrError>>;

    /// What is to be written into the reply.
    fn raised(&self) -> Raised<'_>;
}

impl Raises for SystemException {
    fn decode_raised(_: &str, _: &mut CdrReader<'_>) -> Option<Result<Self, CdrError>> {
        None
    }

    fn raised(&self) -> Raised<'_> {
        Raised::System(*self)
    }
}

/// The exception for what a server cannot read or write. The standard has codes
/// of their own for wide characters seen from this side.
#[cold]
pub(crate) fn server_fault(error: CdrError, completed: Completion) -> SystemException {
    match error.kind {
        CdrErrorKind::WideInGiop10 if completed == Completion::Yes => {
            SystemException::omg(ExceptionKind::Marshal, 6, completed)
        }
        CdrErrorKind::WideNotNegotiated => {
            SystemException::omg(ExceptionKind::BadParam, 23, completed)
        }
        _ => SystemException::from_cdr(error, completed),
    }
}

/// Why a skeleton could not answer with a result. Generated code makes these
/// with `?`; the ORB turns them into replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchError {
    pub(crate) exception: SystemException,
}

impl From<SystemException> for DispatchError {
    fn from(exception: SystemException) -> Self {
        Self { exception }
    }
}

impl From<CdrError> for DispatchError {
    /// The arguments could not be read: nothing was done.
    fn from(error: CdrError) -> Self {
        server_fault(error, Completion::No).into()
    }
}

/// The exception of an operation that a servant does not have.
#[must_use]
#[cold]
pub fn not_implemented() -> SystemException {
    ExceptionKind::NoImplement.into()
}

/// The error for an operation that the interface does not have.
#[must_use]
#[cold]
pub fn unknown_operation() -> DispatchError {
    SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No).into()
}
