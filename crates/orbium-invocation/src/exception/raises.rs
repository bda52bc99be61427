// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions between a servant and a caller.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Encode};
use orbium_giop::{Completion, ExceptionKind, SystemException};

/// A user exception declared in IDL. Its encoding is that of its members, after the repository id.
pub trait UserException: Error {
    /// Its repository id on the wire.
    const REPOSITORY_ID: &'static str;
}

/// An exception, ready to be marshalled into a reply.
pub enum Raised<'e> {
    /// A system exception, which any operation may raise.
    System(SystemException),
    /// A user exception declared by the operation: repository id and members.
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

    /// The exception to be marshalled into the reply.
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

/// An exception without its members, for the code between a caller and a servant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionId {
    /// A system exception, which any operation may raise.
    System(SystemException),
    /// A user exception declared by the operation, by its repository id.
    User(&'static str),
}

impl ExceptionId {
    /// The end of a call after a servant or a reply has stored the outcome in the types of the
    /// operation.
    ///
    /// # Errors
    /// A system exception, which is not stored.
    pub fn kept(ended: Result<(), Self>) -> Result<(), SystemException> {
        match ended {
            Ok(()) | Err(Self::User(_)) => Ok(()),
            Err(Self::System(exception)) => Err(exception),
        }
    }

    /// The id of an exception of an operation.
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

/// The exception for data that a server cannot unmarshal or marshal. The standard has separate
/// codes for wide characters on this side.
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

/// Error of a skeleton without a result. Generated code makes these with `?`; the ORB converts them
/// into replies.
///
/// The exception in a word that is never 0: so the outcome of a skeleton is a word, too, in a
/// register, and 0 for success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DispatchError(NonZeroU64);

impl DispatchError {
    /// The exception that is raised.
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
    /// The arguments could not be unmarshalled: nothing was done.
    fn from(error: CdrError) -> Self {
        server_fault(error, Completion::No).into()
    }
}

/// The exception of an operation that a servant does not implement.
#[must_use]
#[cold]
pub fn not_implemented() -> SystemException {
    ExceptionKind::NoImplement.into()
}

/// The error for an operation that is not in the interface.
#[must_use]
#[cold]
pub fn unknown_operation() -> DispatchError {
    SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No).into()
}

/// Implements the traits of user exceptions other than the codec, for a struct of its members. An
/// exception without members is displayed by the last name.
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

/// Implements the traits of error enums: an enum with a variant for each exception of a `raises`
/// clause, and the variant `System`. `Debug` prints the sentence of `Display`, which `main` prints
/// when it returns the error.
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
        // For `?` if a servant, or a caller, reads an any.
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
