// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants as callers of the same ORB see them, by the trait of an interface; and what a
//! message would have done to the values of a call.

use std::any::Any;
use std::fmt;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Format};
use orbium_giop::{Completion, SystemException};

use crate::Decoding;
use crate::raises::{Raised, Raises, server_fault};

/// How a servant of a certain type is seen as `T`, the trait object of an interface.
pub struct View<T: ?Sized>(for<'s> fn(&'s dyn Any) -> Option<&'s T>);

impl<T: ?Sized> View<T> {
    /// With the function that knows the servant's type.
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

/// A servant, and how it is seen as one of an interface.
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

    /// The servant as one of that interface; `None` if the view is one of another.
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

/// Whether a servant can be lent what `write` writes: nothing of it is out of bounds or
/// beyond the code sets, nor is any of it a value of a value type, or a reference with policies
/// or of another ORB. What cannot is sent in a message.
#[cold]
#[inline(never)]
#[must_use]
pub fn is_lendable<'a>(
    format: Format,
    decoding: &Decoding,
    write: &dyn Fn(&mut CdrWriter<'a>),
) -> bool {
    let mut writer = CdrWriter::lending(format, &decoding.owner);
    write(&mut writer);
    writer.error().is_none() && !writer.refers()
}

/// Reads what was written as the ORB reads results.
fn read_back<T>(
    writer: CdrWriter<'_>,
    decoding: &Decoding,
    read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, SystemException> {
    let format = writer.format();
    let copy = writer.finish().and_then(|mut octets| {
        let mut reader = CdrReader::new(&mut octets, format);
        decoding.apply(&mut reader);
        read(&mut reader)
    });
    copy.map_err(|error| SystemException::from_cdr(error, Completion::Yes))
}

/// What the caller gets for a result that its servant returned: the value itself, or a copy
/// if it refers to what the servant still has.
///
/// # Errors
/// The value cannot be written.
#[cold]
#[inline(never)]
pub fn copied_result<T>(
    format: Format,
    decoding: &Decoding,
    value: T,
    write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
    read: &dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
) -> Result<T, SystemException> {
    let mut writer = CdrWriter::lending(format, &decoding.owner);
    write(&value, &mut writer);
    if let Some(error) = writer.error() {
        return Err(server_fault(error, Completion::Yes));
    }
    if writer.refers() {
        let mut writer = CdrWriter::new(format);
        write(&value, &mut writer);
        return read_back(writer, decoding, read);
    }
    drop(writer);
    Ok(value)
}

/// What the caller gets for an exception that its servant raised.
///
/// # Errors
/// It is one of the system's, or cannot be written.
#[cold]
#[inline(never)]
pub fn copied_exception<E: Raises>(
    format: Format,
    decoding: &Decoding,
    error: E,
) -> Result<E, SystemException> {
    let (id, members) = match error.raised() {
        Raised::System(exception) => return Err(exception),
        Raised::User(id, members) => (id, members),
    };
    let mut writer = CdrWriter::lending(format, &decoding.owner);
    members.encode(&mut writer);
    if let Some(fault) = writer.error() {
        return Err(server_fault(fault, Completion::Yes));
    }
    if writer.refers() {
        let mut writer = CdrWriter::new(format);
        members.encode(&mut writer);
        let read = |reader: &mut CdrReader<'_>| E::decode_raised(id, reader).transpose();
        let copy = read_back(writer, decoding, read)?;
        return Ok(copy.unwrap_or(error));
    }
    drop(writer);
    Ok(error)
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
}

/// Copies the value of an `inout` parameter: the caller's changes when the call is over.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lent_copy {
    (@inout $arg:ident) => {
        let mut $arg = ::core::clone::Clone::clone(&*$arg);
    };
    ($(@$flag:ident)? $arg:ident) => {};
}

/// An argument as a servant gets it from a caller of its own ORB.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_lent {
    (@inout $arg:ident) => {
        &mut $arg
    };
    ($(@$flag:ident)? $arg:ident) => {
        $arg
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
