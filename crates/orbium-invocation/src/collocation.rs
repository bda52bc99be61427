// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants as seen by collocated callers, by the trait of an interface; and the conversions of a
//! call's values that replace marshalling.

pub(crate) mod call_queue;
pub(crate) mod late_answer;
use std::any::Any;
use std::fmt;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Format};
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};

use crate::Decoding;
use crate::exception::raises::server_fault;

/// View of a servant of a certain type as `T`, the trait object of an interface.
pub struct View<T: ?Sized>(for<'s> fn(&'s dyn Any) -> Option<&'s T>);

impl<T: ?Sized> View<T> {
    /// A view by a function that downcasts to the servant's type.
    #[must_use]
    pub const fn new(see: for<'s> fn(&'s dyn Any) -> Option<&'s T>) -> Self {
        Self(see)
    }
}

impl<T: ?Sized> fmt::Debug for View<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("View")
    }
}

/// A servant, and its view as an interface.
#[derive(Clone, Copy)]
pub struct TypedServant<'s> {
    servant: &'s dyn Any,
    view: &'static dyn Any,
}

impl<'s> TypedServant<'s> {
    /// `view` is a [`View`].
    #[must_use]
    #[inline]
    pub fn new(servant: &'s dyn Any, view: &'static dyn Any) -> Self {
        Self { servant, view }
    }

    /// The servant as an implementation of that interface; `None` if the view is for another one.
    #[must_use]
    #[inline]
    pub fn of<T: ?Sized + 'static>(self) -> Option<&'s T> {
        (self.view.downcast_ref::<View<T>>()?.0)(self.servant)
    }
}

impl fmt::Debug for TypedServant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedServant")
    }
}

/// Passing of the arguments of an operation to a collocated servant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// As passed by the caller, unchecked.
    Plain,
    /// As passed by the caller, unless they contain references or values that must be copied.
    Checked,
    /// Some as copies: views of them.
    Viewed,
}

impl Passing {
    /// The passing of an operation's arguments: whether all are plain, and whether some are views.
    #[must_use]
    #[inline(always)]
    pub const fn new(are_plain: bool, has_views: bool) -> Self {
        match (are_plain, has_views) {
            (_, true) => Self::Viewed,
            (true, false) => Self::Plain,
            (false, false) => Self::Checked,
        }
    }
}

/// Arguments that a servant gets as copies: values of value types, with their sharing, and
/// references without the caller's policies. Plain arguments are not among them.
#[derive(Debug)]
pub struct CopiedArguments {
    octets: Vec<u8>,
    format: Format,
}

impl CopiedArguments {
    /// The arguments marshalled by `write`, which are all that are not plain; the inner `None` if
    /// all can be borrowed instead, the outer `None` if they cannot be passed without a message: a
    /// value is out of bounds or beyond the code sets.
    #[cold]
    #[must_use]
    pub fn of<'a>(
        passing: Passing,
        format: Format,
        decoding: &Decoding,
        write: &dyn Fn(&mut CdrWriter<'a>),
    ) -> Option<Option<Box<Self>>> {
        if passing != Passing::Viewed {
            let mut writer = CdrWriter::lending(format, &decoding.owner);
            write(&mut writer);
            if writer.error().is_some() {
                return None;
            }
            if !writer.refers() {
                return Some(None);
            }
        }
        let mut writer = CdrWriter::new(format);
        write(&mut writer);
        let octets = writer.finish().ok()?;
        Some(Some(Box::new(Self { octets, format })))
    }

    /// The reader of the copies for a servant of the ORB.
    #[cold]
    #[must_use]
    pub fn reader<'r>(&'r mut self, decoding: &'r Decoding) -> CdrReader<'r> {
        let mut reader = CdrReader::new(&mut self.octets, self.format);
        decoding.apply(&mut reader);
        reader
    }
}

/// The exception for a servant with view parameters if there are no copies: a fault of the ORB.
#[cold]
#[must_use]
pub fn missing_copies() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Internal,
        minor::INVARIANT_BROKEN,
        Completion::No,
    )
}

/// The exception for an argument that cannot be copied: the servant was not called.
#[cold]
#[must_use]
pub fn unreadable_argument(error: CdrError) -> SystemException {
    server_fault(error, Completion::No)
}

/// The result of a servant for a collocated caller.
pub(crate) trait Returned {
    /// Marshals it as in a reply.
    fn write<'v>(&'v self, writer: &mut CdrWriter<'v>);

    /// Replaces it by a value from the reader.
    ///
    /// # Errors
    /// It cannot be read.
    fn read_again(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError>;
}

/// Replaces the result of a servant by a copy that is read as the ORB reads replies, if it contains
/// references that the servant still holds; else the caller may have the value itself.
///
/// # Errors
/// It cannot be marshalled or unmarshalled.
#[cold]
pub(crate) fn copy_returned(
    (format, decoding): (Format, &Decoding),
    returned: &mut dyn Returned,
) -> Result<(), SystemException> {
    let mut writer = CdrWriter::lending(format, &decoding.owner);
    returned.write(&mut writer);
    if let Some(error) = writer.error() {
        return Err(server_fault(error, Completion::Yes));
    }
    if !writer.refers() {
        return Ok(());
    }
    drop(writer);
    let mut writer = CdrWriter::new(format);
    returned.write(&mut writer);
    let copied = writer.finish().and_then(|mut octets| {
        let mut reader = CdrReader::new(&mut octets, format);
        decoding.apply(&mut reader);
        returned.read_again(&mut reader)
    });
    copied.map_err(|error| SystemException::from_cdr(error, Completion::Yes))
}

/// Whether a result is plain.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_is_plain {
    ($type:ty) => {
        <$type as $crate::cdr::Decode>::IS_PLAIN
    };
    ($type:ty as $codec:ty) => {
        false
    };
}

/// Whether an argument is plain.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_is_plain_argument {
    ($type:ty) => {
        <$type as $crate::cdr::Parameter<'_>>::IS_PLAIN
    };
    ($type:ty as $codec:ty) => {
        false
    };
    (@object $type:ty) => {
        false
    };
    (@inout $type:ty $(as $codec:ty)? | $lent:ty) => {
        $crate::idl_is_plain!($type $(as $codec)?)
    };
    (@view $type:ty $(as $codec:ty)? | $view:ty) => {
        false
    };
}

/// Whether a servant gets an argument as a view.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_is_view {
    (@view $type:ty $(as $codec:ty)? | $view:ty) => {
        true
    };
    ($($argument:tt)*) => {
        false
    };
}

/// An argument for a servant of a collocated caller: the caller's, or else the copy.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_pass {
    ($copies:ident, @view $arg:ident: $type:ty $(as $codec:ty)? | $view:ty) => {
        let ::core::option::Option::Some(arguments) = $copies.as_deref_mut() else {
            return ::core::result::Result::Err(::core::convert::From::from(
                $crate::collocation::missing_copies(),
            ));
        };
        let arena = $crate::cdr::Arena::new(arguments);
        let $arg = $crate::idl_passed!(
            $crate::cdr::idl_view_member!(arguments, &arena, $view $(as $codec)?)
        );
    };
    ($copies:ident, @inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        let mut $arg = match $copies.as_deref_mut() {
            ::core::option::Option::Some(arguments) if !$crate::idl_is_plain!($type $(as $codec)?) => {
                $crate::idl_passed!($crate::cdr::idl_decode!(arguments, $type $(as $codec)?))
            }
            _ => ::core::clone::Clone::clone(&*$arg),
        };
    };
    ($copies:ident, @object $arg:ident: $type:ty) => {
        let $arg = ($arg, match $copies.as_deref_mut() {
            ::core::option::Option::Some(arguments) => ::core::option::Option::Some($crate::idl_passed!(
                <$type as $crate::cdr::Parameter<'_>>::hold(arguments)
            )),
            ::core::option::Option::None => ::core::option::Option::None,
        });
    };
    ($copies:ident, $arg:ident: $type:ty) => {
        let $arg = ($arg, match $copies.as_deref_mut() {
            ::core::option::Option::Some(arguments) if !<$type as $crate::cdr::Parameter<'_>>::IS_PLAIN => {
                ::core::option::Option::Some($crate::idl_passed!(
                    <$type as $crate::cdr::Parameter<'_>>::hold(arguments)
                ))
            }
            _ => ::core::option::Option::None,
        });
    };
    ($copies:ident, $arg:ident: $type:ty as $codec:ty) => {
        let $arg = ($arg, match $copies.as_deref_mut() {
            ::core::option::Option::Some(arguments) => ::core::option::Option::Some($crate::idl_passed!(
                <$codec as $crate::cdr::Codec>::hold(arguments)
            )),
            ::core::option::Option::None => ::core::option::Option::None,
        });
    };
}

/// The copied argument, or else the caller's exception.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_passed {
    ($held:expr) => {
        match $held {
            ::core::result::Result::Ok(held) => held,
            ::core::result::Result::Err(error) => {
                return ::core::result::Result::Err(::core::convert::From::from(
                    $crate::collocation::unreadable_argument(error),
                ));
            }
        }
    };
}

/// An argument as passed to a servant by a collocated caller.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lent {
    (@inout $arg:ident: $type:ty $(as $codec:ty)? | $lent:ty) => {
        &mut $arg
    };
    (@view $arg:ident: $type:ty $(as $codec:ty)? | $view:ty) => {
        $arg
    };
    ($(@object)? $arg:ident: $type:ty) => {
        match &$arg.1 {
            ::core::option::Option::Some(held) => <$type as $crate::cdr::Parameter<'_>>::lend(held),
            ::core::option::Option::None => $arg.0,
        }
    };
    ($arg:ident: $type:ty as $codec:ty) => {
        match &$arg.1 {
            ::core::option::Option::Some(held) => {
                ::core::borrow::Borrow::<<$codec as $crate::cdr::Codec>::Borrowed>::borrow(held)
            }
            ::core::option::Option::None => $arg.0,
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Number {
        fn number(&self) -> u32;
    }

    trait Name {}

    struct Seven;

    impl Number for Seven {
        fn number(&self) -> u32 {
            7
        }
    }

    static AS_NUMBER: View<dyn Number> =
        View::new(|servant| Some(servant.downcast_ref::<Seven>()? as &dyn Number));

    #[test]
    fn a_servant_is_seen_as_its_own_interface_alone() {
        let typed = TypedServant::new(&Seven, &AS_NUMBER);
        assert_eq!(typed.of::<dyn Number>().map(Number::number), Some(7));
        assert!(typed.of::<dyn Name>().is_none());
        let other = TypedServant::new(&8u32, &AS_NUMBER);
        assert!(other.of::<dyn Number>().is_none());
    }
}
