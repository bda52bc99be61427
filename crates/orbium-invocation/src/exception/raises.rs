// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions on their way between a servant and a caller.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;

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

/// Exceptions of an operation: the error type of its caller and its servant.
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

/// An exception without its members: what is between a caller and a servant need not know more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionId {
    /// One that any operation may raise.
    System(SystemException),
    /// One that the operation declares, by its repository id.
    User(&'static str),
}

impl ExceptionId {
    /// The end of a call where a servant, or a reply, has left the outcome in the types of the operation.
    ///
    /// # Errors
    /// A system exception, which is nowhere else.
    pub fn kept(ended: Result<(), Self>) -> Result<(), SystemException> {
        match ended {
            Ok(()) | Err(Self::User(_)) => Ok(()),
            Err(Self::System(exception)) => Err(exception),
        }
    }

    /// Of an exception that an operation has raised.
    pub fn of(exception: &impl Raises) -> Self {
        match exception.raised() {
            Raised::System(exception) => Self::System(exception),
            Raised::User(id, _) => Self::User(id),
        }
    }
}

impl From<SystemException> for ExceptionId {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl Raises for ExceptionId {
    fn decode_raised(_: &str, _: &mut CdrReader<'_>) -> Option<Result<Self, CdrError>> {
        None
    }

    fn raised(&self) -> Raised<'_> {
        match self {
            Self::System(exception) => Raised::System(*exception),
            Self::User(id) => Raised::User(id, &()),
        }
    }
}

/// The exception for what a server cannot read or write. The standard has codes
/// of their own for wide characters seen from this side.
#[cold]
#[must_use]
pub fn server_fault(error: CdrError, completed: Completion) -> SystemException {
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

/// Error of a skeleton that could not answer with a result. Generated code makes these
/// with `?`; the ORB turns them into replies.
///
/// The exception in one word that is never 0: so the outcome of a skeleton is a word too,
/// in a register, and 0 if all is well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DispatchError(NonZeroU64);

impl DispatchError {
    /// The exception that is raised instead of a result.
    #[must_use]
    #[cold]
    pub const fn exception(self) -> SystemException {
        let [m0, m1, m2, m3, kind, completed, ..] = self.0.get().to_be_bytes();
        SystemException {
            kind: ExceptionKind::ALL[kind as usize],
            completed: match Completion::from_number(completed as u32) {
                Some(completed) => completed,
                None => Completion::Maybe,
            },
            minor: u32::from_be_bytes([m0, m1, m2, m3]),
        }
    }
}

impl From<SystemException> for DispatchError {
    #[cold]
    fn from(exception: SystemException) -> Self {
        let SystemException {
            kind,
            completed,
            minor,
        } = exception;
        let [m0, m1, m2, m3] = minor.to_be_bytes();
        let octets = [m0, m1, m2, m3, kind as u8, completed as u8, 0, 0];
        Self(NonZeroU64::MIN | u64::from_be_bytes(octets))
    }
}

impl fmt::Debug for DispatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("DispatchError");
        shown.field("exception", &self.exception()).finish()
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

/// Implements what every user exception has in addition to its codec, for a struct of its
/// members. An exception without members is shown by the name given last.
#[macro_export]
macro_rules! exception {
    ($name:ident, $id:literal $(,)?) => {
        $crate::exception!(@ $name, $id, |exception, f| ::core::fmt::Debug::fmt(exception, f));
    };
    ($name:ident, $id:literal, $shown:literal $(,)?) => {
        $crate::exception!(@ $name, $id, |_, f| f.write_str($shown));
    };
    (@ $name:ident, $id:literal, |$exception:pat_param, $f:ident| $shown:expr) => {
        impl ::core::fmt::Display for $name {
            fn fmt(&self, $f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let $exception = self;
                $shown
            }
        }
        impl ::core::error::Error for $name {}
        impl $crate::UserException for $name {
            const REPOSITORY_ID: &'static str = $id;
        }
    };
}

/// Implements what every error enum has: an enum with a variant for each exception of a
/// `raises` clause, and the variant `System`. `Debug` shows the sentence of `Display`,
/// which `main` prints when it returns the error.
#[macro_export]
macro_rules! error_enum {
    ($name:ident { $($variant:ident : $exception:ty),* $(,)? }) => {
        $(
            impl ::core::convert::From<$exception> for $name {
                fn from(exception: $exception) -> Self {
                    Self::$variant(exception)
                }
            }
        )*
        impl ::core::convert::From<$crate::SystemException> for $name {
            fn from(exception: $crate::SystemException) -> Self {
                Self::System(exception)
            }
        }
        // For `?` where a servant, or a caller, reads an any.
        impl ::core::convert::From<$crate::cdr::AnyError> for $name {
            fn from(error: $crate::cdr::AnyError) -> Self {
                Self::System(::core::convert::From::from(error))
            }
        }
        impl ::core::convert::From<$crate::cdr::CdrError> for $name {
            fn from(error: $crate::cdr::CdrError) -> Self {
                Self::System(::core::convert::From::from(error))
            }
        }
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant(exception) => ::core::fmt::Display::fmt(exception, f),)*
                    Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
                }
            }
        }
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }
        impl ::core::error::Error for $name {}
        impl $crate::Raises for $name {
            fn decode_raised(
                id: &str,
                reader: &mut $crate::cdr::CdrReader<'_>,
            ) -> ::core::option::Option<::core::result::Result<Self, $crate::cdr::CdrError>> {
                $(
                    if id == <$exception as $crate::UserException>::REPOSITORY_ID {
                        let members = $crate::cdr::Decode::decode(reader);
                        return ::core::option::Option::Some(members.map(Self::$variant));
                    }
                )*
                ::core::option::Option::None
            }
            fn raised(&self) -> $crate::Raised<'_> {
                match self {
                    $(
                        Self::$variant(exception) => {
                            let id = <$exception as $crate::UserException>::REPOSITORY_ID;
                            $crate::Raised::User(id, exception)
                        }
                    )*
                    Self::System(exception) => $crate::Raised::System(*exception),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exception_survives_as_the_error_of_a_skeleton() {
        for kind in ExceptionKind::ALL {
            for completed in [Completion::Yes, Completion::No, Completion::Maybe] {
                for minor in [0, 1, 0x4f4d_0fff, u32::MAX] {
                    let exception = SystemException::new(*kind, minor, completed);
                    assert_eq!(DispatchError::from(exception).exception(), exception);
                }
            }
        }
    }

    #[test]
    fn a_server_has_codes_of_its_own_for_wide_characters() {
        let raised = |kind, completed| server_fault(CdrError::new(kind, 0), completed);
        let marshal =
            |minor, completed| SystemException::omg(ExceptionKind::Marshal, minor, completed);
        let in_1_0 = CdrErrorKind::WideInGiop10;
        assert_eq!(raised(in_1_0, Completion::No), marshal(5, Completion::No));
        assert_eq!(raised(in_1_0, Completion::Yes), marshal(6, Completion::Yes));
        let no_context = SystemException::omg(ExceptionKind::BadParam, 23, Completion::No);
        let refused = raised(CdrErrorKind::WideNotNegotiated, Completion::No);
        assert_eq!(refused, no_context);
    }

    #[test]
    fn the_outcome_of_a_skeleton_is_one_word() {
        assert_eq!(size_of::<Result<(), DispatchError>>(), size_of::<u64>());
    }
}
