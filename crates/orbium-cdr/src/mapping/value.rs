// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two traits of all mapped IDL types, and their implementations for Rust's own types.

use std::borrow::Cow;

use crate::allocation;
use crate::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Char, LongDouble, WChar};

/// A value that can be written in CDR.
pub trait Encode {
    /// Writes the value. Errors are noted in the writer.
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>);

    /// Writes the elements of an array or sequence, without a count.
    fn encode_slice<'a>(items: &'a [Self], writer: &mut CdrWriter<'a>)
    where
        Self: Sized,
    {
        for item in items {
            item.encode(writer);
        }
    }

    /// Writes the elements of a sequence, without its count.
    #[doc(hidden)]
    #[inline]
    fn encode_sequence<'a>(items: &'a [Self], writer: &mut CdrWriter<'a>)
    where
        Self: Sized,
    {
        Self::encode_slice(items, writer);
    }
}

/// A value that can be read from CDR.
pub trait Decode: Sized {
    /// Minimum octets of a value, for the validation of counts.
    const MIN_SIZE: usize;

    /// Whether every value can be written with any code sets, and shares nothing with its copies,
    /// so that a call within an ORB need not check it.
    #[doc(hidden)]
    const IS_PLAIN: bool = false;

    /// Reads a value.
    ///
    /// # Errors
    /// A [`CdrError`] for invalid bytes.
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError>;

    /// Reads a value into an existing one, reusing its memory.
    ///
    /// # Errors
    /// As [`Decode::decode`]; the value is then unspecified but valid.
    #[inline]
    fn decode_into(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        *self = Self::decode(reader)?;
        Ok(())
    }

    /// Reads a sequence of such values, in place if its layout on the wire is that in memory.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    #[inline]
    fn decode_borrowed<'r>(reader: &mut CdrReader<'r>) -> Result<Cow<'r, [Self]>, CdrError>
    where
        Self: Clone,
    {
        Vec::decode(reader).map(Cow::Owned)
    }

    /// Appends `count` elements to `out`.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_vec(
        reader: &mut CdrReader<'_>,
        count: usize,
        out: &mut Vec<Self>,
    ) -> Result<(), CdrError> {
        if count == 0 {
            return Ok(());
        }
        // An element may be larger in memory than on the wire: reserve no more memory than the
        // remaining octets justify.
        let octets = reader.remaining();
        if !allocation::reserve(out, count.min(octets / size_of::<Self>().max(1) + 1)) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
        for _ in 0..count {
            let item = Self::decode(reader)?;
            if !allocation::push(out, item) {
                return Err(reader.error(CdrErrorKind::NoMemory));
            }
        }
        Ok(())
    }

    /// Appends the `count` elements of a sequence to `out`.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    #[doc(hidden)]
    #[inline]
    fn decode_sequence(
        reader: &mut CdrReader<'_>,
        count: usize,
        out: &mut Vec<Self>,
    ) -> Result<(), CdrError> {
        Self::decode_vec(reader, count, out)
    }
}

/// [`Encode`](crate::Encode) and [`Decode`](crate::Decode) for a
/// [`FixedSize`] type.
#[doc(hidden)]
#[macro_export]
macro_rules! encode_fixed {
    ($($type:ty),+ $(,)?) => { $(
        impl $crate::Encode for $type {
            #[inline]
            fn encode<'a>(&'a self, writer: &mut $crate::CdrWriter<'a>) {
                writer.write_fixed(self);
            }
            #[inline]
            fn encode_slice<'a>(items: &'a [Self], writer: &mut $crate::CdrWriter<'a>) {
                writer.write_fixed_slice(items);
            }
            #[inline]
            fn encode_sequence<'a>(items: &'a [Self], writer: &mut $crate::CdrWriter<'a>) {
                writer.write_fixed_sequence(items);
            }
        }
        impl $crate::Decode for $type {
            const MIN_SIZE: usize = <$type as $crate::FixedSize>::LAYOUT.min_size();
            const IS_PLAIN: bool = true;
            #[inline]
            fn decode(reader: &mut $crate::CdrReader<'_>) -> ::core::result::Result<Self, $crate::CdrError> {
                reader.read_fixed()
            }
            #[inline]
            fn decode_borrowed<'r>(
                reader: &mut $crate::CdrReader<'r>,
            ) -> ::core::result::Result<::std::borrow::Cow<'r, [Self]>, $crate::CdrError> {
                reader.read_fixed_slice()
            }
            #[inline]
            fn decode_vec(
                reader: &mut $crate::CdrReader<'_>,
                count: usize,
                out: &mut ::std::vec::Vec<Self>,
            ) -> ::core::result::Result<(), $crate::CdrError> {
                reader.read_fixed_vec(count, out)
            }
            #[inline]
            fn decode_sequence(
                reader: &mut $crate::CdrReader<'_>,
                count: usize,
                out: &mut ::std::vec::Vec<Self>,
            ) -> ::core::result::Result<(), $crate::CdrError> {
                reader.read_fixed_sequence(count, out)
            }
        }
        $crate::view_fixed!($type);
    )+ };
}

crate::encode_fixed!(
    u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, bool, Char, LongDouble
);

impl Encode for WChar {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_wchar(*self);
    }
}

impl Decode for WChar {
    const MIN_SIZE: usize = 2;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        reader.read_wchar()
    }
}

impl Encode for str {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_str(self);
    }
}

impl Encode for String {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_str(self);
    }
}

impl Decode for String {
    const MIN_SIZE: usize = 4;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        reader.read_string()
    }
    fn decode_into(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        let text = reader.read_str()?;
        self.clear();
        if !allocation::reserve_text(self, text.len()) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
        self.push_str(&text);
        Ok(())
    }
}

impl<T: Encode> Encode for [T] {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        writer.write_count(self.len());
        T::encode_sequence(self, writer);
    }
}

impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.as_slice().encode(writer);
    }
}

impl<T: Decode> Decode for Vec<T> {
    const MIN_SIZE: usize = 4;
    const IS_PLAIN: bool = T::IS_PLAIN;
    #[inline]
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let mut out = Self::new();
        out.decode_into(reader)?;
        Ok(out)
    }
    #[inline]
    fn decode_into(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        let count = reader.read_count(T::MIN_SIZE)?;
        self.clear();
        T::decode_sequence(reader, count, self)
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        T::encode_slice(self, writer);
    }
    #[inline]
    fn encode_slice<'a>(items: &'a [Self], writer: &mut CdrWriter<'a>) {
        T::encode_slice(items.as_flattened(), writer);
    }
}

impl<T: Decode, const N: usize> Decode for [T; N] {
    const MIN_SIZE: usize = T::MIN_SIZE * N;
    const IS_PLAIN: bool = T::IS_PLAIN;
    #[inline]
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let mut out = Vec::new();
        if Self::MIN_SIZE > reader.remaining() {
            return Err(reader.error(CdrErrorKind::Truncated));
        }
        T::decode_vec(reader, N, &mut out)?;
        Self::try_from(out).map_err(|_| reader.error(CdrErrorKind::Truncated))
    }
}

impl<T: Encode + ToOwned + ?Sized> Encode for Cow<'_, T> {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.as_ref().encode(writer);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        (**self).encode(writer);
    }
}

impl<T: Encode> Encode for Box<T> {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        (**self).encode(writer);
    }
}

impl<T: Decode> Decode for Box<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        T::decode(reader).map(Self::new)
    }
}

impl Encode for () {
    #[inline]
    fn encode<'a>(&'a self, _: &mut CdrWriter<'a>) {}
}

impl Decode for () {
    const MIN_SIZE: usize = 0;
    const IS_PLAIN: bool = true;
    #[inline]
    fn decode(_: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(())
    }
}
