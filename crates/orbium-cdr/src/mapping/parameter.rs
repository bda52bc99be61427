// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of `in` parameters: how a skeleton reads one, and how a request keeps one
//! that outlives the call of its stub.

use std::borrow::Cow;

use crate::{CdrError, CdrReader, Char, Decode, DecodeNillable, Fixed, LongDouble, WChar};

/// The type of an `in` parameter: a primitive or an enum by value, everything else by
/// reference.
pub trait Parameter<'h>: Sized {
    /// The value in a skeleton during the upcall: borrowed from the request if possible.
    type Held<'r>;
    /// An owned copy.
    type Owned;

    /// As [`Decode::IS_PLAIN`].
    #[doc(hidden)]
    const IS_PLAIN: bool = false;

    /// Reads an argument.
    ///
    /// # Errors
    /// A [`CdrError`] for invalid bytes.
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Self::Held<'r>, CdrError>;

    /// The parameter for the servant.
    fn lend<'r>(held: &'h Self::Held<'r>) -> Self;

    /// Copies the argument.
    fn keep(self) -> Self::Owned;

    /// The parameter for a servant, from an owned copy.
    fn lend_owned(kept: &'h Self::Owned) -> Self;
}

/// [`Parameter`] for types passed by value.
#[doc(hidden)]
#[macro_export]
macro_rules! by_value {
    ($($type:ty),+ $(,)?) => { $(
        impl<'h> $crate::Parameter<'h> for $type {
            type Held<'r> = Self;
            type Owned = Self;
            const IS_PLAIN: bool = <$type as $crate::Decode>::IS_PLAIN;
            #[inline]
            fn hold<'r>(
                reader: &mut $crate::CdrReader<'r>,
            ) -> ::core::result::Result<Self, $crate::CdrError> {
                $crate::Decode::decode(reader)
            }
            #[inline]
            fn lend<'r>(held: &'h Self) -> Self {
                *held
            }
            #[inline]
            fn keep(self) -> Self {
                self
            }
            #[inline]
            fn lend_owned(kept: &'h Self) -> Self {
                *kept
            }
        }
    )+ };
}

crate::by_value!(
    u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, bool, Char, WChar, LongDouble
);

impl<'h, const D: u16, const S: u16> Parameter<'h> for Fixed<D, S> {
    type Held<'r> = Self;
    type Owned = Self;

    #[inline]
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Self, CdrError> {
        Self::decode(reader)
    }

    #[inline]
    fn lend<'r>(held: &'h Self) -> Self {
        *held
    }

    #[inline]
    fn keep(self) -> Self {
        self
    }

    #[inline]
    fn lend_owned(kept: &'h Self) -> Self {
        *kept
    }
}

impl<'h> Parameter<'h> for &'h str {
    type Held<'r> = Cow<'r, str>;
    type Owned = String;

    #[inline]
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Cow<'r, str>, CdrError> {
        reader.read_str()
    }

    #[inline]
    fn lend<'r>(held: &'h Cow<'r, str>) -> Self {
        held
    }

    #[inline]
    fn keep(self) -> String {
        self.to_owned()
    }

    #[inline]
    fn lend_owned(kept: &'h String) -> Self {
        kept
    }
}

impl<'h, T: Decode + Clone + 'static> Parameter<'h> for &'h [T] {
    type Held<'r> = Cow<'r, [T]>;
    type Owned = Vec<T>;
    const IS_PLAIN: bool = T::IS_PLAIN;

    #[inline]
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Cow<'r, [T]>, CdrError> {
        T::decode_borrowed(reader)
    }

    #[inline]
    fn lend<'r>(held: &'h Cow<'r, [T]>) -> Self {
        held
    }

    #[inline]
    fn keep(self) -> Vec<T> {
        self.to_vec()
    }

    #[inline]
    fn lend_owned(kept: &'h Vec<T>) -> Self {
        kept
    }
}

impl<'h, T: Decode + Clone> Parameter<'h> for &'h T {
    type Held<'r> = T;
    type Owned = T;
    const IS_PLAIN: bool = T::IS_PLAIN;

    #[inline]
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<T, CdrError> {
        T::decode(reader)
    }

    #[inline]
    fn lend<'r>(held: &'h T) -> Self {
        held
    }

    #[inline]
    fn keep(self) -> T {
        self.clone()
    }

    #[inline]
    fn lend_owned(kept: &'h T) -> Self {
        kept
    }
}

impl<'h, T: DecodeNillable + Clone> Parameter<'h> for Option<&'h T> {
    type Held<'r> = Option<T>;
    type Owned = Option<T>;

    #[inline]
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Option<T>, CdrError> {
        T::decode_nillable(reader)
    }

    #[inline]
    fn lend<'r>(held: &'h Option<T>) -> Self {
        held.as_ref()
    }

    #[inline]
    fn keep(self) -> Option<T> {
        self.cloned()
    }

    #[inline]
    fn lend_owned(kept: &'h Option<T>) -> Self {
        kept.as_ref()
    }
}
