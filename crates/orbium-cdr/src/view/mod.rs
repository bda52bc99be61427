// SPDX-License-Identifier: MIT OR Apache-2.0
//! Views: values that are read in place. Their strings and slices of numbers are borrowed from the
//! message; a view owns nothing.
//!
//! A view is read and validated as a whole, like an owned value: a servant that receives one
//! encounters no errors in it. The elements of a sequence of views are in an [`Arena`], so that it
//! is a slice.

mod arena;
mod argument;
mod codec;

use std::borrow::Cow;

pub use arena::Arena;
pub use argument::AsArgument;
pub use codec::ViewCodec;

use crate::{CdrError, CdrErrorKind, CdrReader, Decode, Encode, Fixed, FixedSize, WChar};

/// A value that borrows from the message it is read from, or from an [`Arena`] if that is not
/// possible: generated for structs (`EntryRef` for `Entry`), and implemented for text, slices, and
/// values that are always copied.
///
/// ```
/// use orbium_cdr::{Arena, CdrReader, CdrWriter, Encode, Format, View};
///
/// let words = ["read", "in", "place"];
/// let mut writer = CdrWriter::new(Format::native());
/// words.as_slice().encode(&mut writer);
/// let mut message = writer.finish().unwrap();
///
/// let mut reader = CdrReader::new(&mut message, Format::native());
/// let arena = Arena::new(&reader);
/// assert_eq!(<&[&str]>::view(&mut reader, &arena).unwrap(), words);
/// ```
pub trait View<'v>: Copy + Encode + 'v {
    /// The owned type of such a value.
    type Owned;

    /// Minimum octets of a value, for the validation of counts.
    const MIN_SIZE: usize;

    /// Reads a value.
    ///
    /// # Errors
    /// A [`CdrError`] for invalid bytes.
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<Self, CdrError>;

    /// Reads a sequence of such values.
    ///
    /// # Errors
    /// As [`View::view`].
    #[inline]
    fn view_slice<'r: 'v>(
        reader: &mut CdrReader<'r>,
        arena: &'v Arena,
    ) -> Result<&'v [Self], CdrError> {
        let count = reader.read_count(Self::MIN_SIZE)?;
        arena.read(reader, count, |reader| Self::view(reader, arena))
    }

    /// An owned copy.
    fn into_owned(self) -> Self::Owned;
}

/// [`View`] for types that are copied in any case.
macro_rules! copied {
    ([$($generics:tt)*] $type:ty, $read:expr) => {
        impl<'v, $($generics)*> View<'v> for $type {
            type Owned = Self;
            const MIN_SIZE: usize = <Self as Decode>::MIN_SIZE;
            #[inline]
            fn view<'r: 'v>(reader: &mut CdrReader<'r>, _: &'v Arena) -> Result<Self, CdrError> {
                $read(reader)
            }
            #[inline]
            fn into_owned(self) -> Self {
                self
            }
        }
    };
}

copied!([] WChar, CdrReader::read_wchar);
copied!([const D: u16, const S: u16] Fixed<D, S>, Decode::decode);

/// [`View`](crate::View) for a [`FixedSize`] type: sequences of it are read in place.
#[doc(hidden)]
#[macro_export]
macro_rules! view_fixed {
    ($type:ty) => {
        impl<'v> $crate::View<'v> for $type {
            type Owned = Self;
            const MIN_SIZE: usize = <$type as $crate::FixedSize>::LAYOUT.min_size();
            #[inline]
            fn view<'r: 'v>(
                reader: &mut $crate::CdrReader<'r>,
                _: &'v $crate::Arena,
            ) -> ::core::result::Result<Self, $crate::CdrError> {
                reader.read_fixed()
            }
            #[inline]
            fn view_slice<'r: 'v>(
                reader: &mut $crate::CdrReader<'r>,
                arena: &'v $crate::Arena,
            ) -> ::core::result::Result<&'v [Self], $crate::CdrError> {
                arena.read_fixed_slice(reader)
            }
            #[inline]
            fn into_owned(self) -> Self {
                self
            }
        }
        impl $crate::AsArgument<$type> for $type {
            #[inline]
            fn keep(&self) -> $type {
                *self
            }
        }
    };
}

impl Arena {
    /// Reads a sequence of fixed-size elements, in place if they have their layout in memory.
    ///
    /// # Errors
    /// As [`View::view`].
    #[doc(hidden)]
    #[inline]
    pub fn read_fixed_slice<'v, 'r: 'v, T: FixedSize>(
        &'v self,
        reader: &mut CdrReader<'r>,
    ) -> Result<&'v [T], CdrError> {
        let natural = const { T::LAYOUT.has_natural() } && reader.format().is_natural();
        if natural || const { T::LAYOUT.is_block() } {
            return match reader.read_fixed_slice()? {
                Cow::Borrowed(items) => Ok(items),
                Cow::Owned(items) => self.copy(&items, reader),
            };
        }
        let count = reader.read_count(const { T::LAYOUT.min_size() })?;
        self.read(reader, count, CdrReader::read_fixed)
    }
}

impl<'v, T: FixedSize + View<'v>, const N: usize> View<'v> for [T; N]
where
    [T; N]: Encode,
{
    type Owned = Self;
    const MIN_SIZE: usize = T::MIN_SIZE * N;

    #[inline]
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, _: &'v Arena) -> Result<Self, CdrError> {
        reader.read_fixed()
    }

    #[inline]
    fn view_slice<'r: 'v>(
        reader: &mut CdrReader<'r>,
        arena: &'v Arena,
    ) -> Result<&'v [Self], CdrError> {
        arena.read_fixed_slice(reader)
    }

    #[inline]
    fn into_owned(self) -> Self {
        self
    }
}

impl<'v> View<'v> for &'v str {
    type Owned = String;
    const MIN_SIZE: usize = String::MIN_SIZE;

    #[inline]
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<Self, CdrError> {
        match reader.read_str()? {
            Cow::Borrowed(text) => Ok(text),
            Cow::Owned(text) => arena.copy_text(&text, reader),
        }
    }

    #[inline]
    fn into_owned(self) -> String {
        self.to_owned()
    }
}

impl<'v, V: View<'v>> View<'v> for &'v [V] {
    type Owned = Vec<V::Owned>;
    const MIN_SIZE: usize = 4;

    #[inline]
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<Self, CdrError> {
        V::view_slice(reader, arena)
    }

    fn into_owned(self) -> Self::Owned {
        self.iter().map(|item| item.into_owned()).collect()
    }
}

impl<'v, V: View<'v>, const N: usize> View<'v> for &'v [V; N] {
    type Owned = [V::Owned; N];
    const MIN_SIZE: usize = V::MIN_SIZE * N;

    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<Self, CdrError> {
        if Self::MIN_SIZE > reader.remaining() {
            return Err(reader.error(CdrErrorKind::Truncated));
        }
        let items = arena.read(reader, N, |reader| V::view(reader, arena))?;
        let array = items.try_into();
        array.map_err(|_| reader.error(CdrErrorKind::Truncated))
    }

    fn into_owned(self) -> Self::Owned {
        (*self).map(View::into_owned)
    }
}
