// SPDX-License-Identifier: MIT OR Apache-2.0
//! Codecs for IDL types that share a Rust type with others: bounds, and wide text.
//!
//! Generated code names these after `as`: a member of the IDL type `string<8>` is a `String as
//! orb::BoundedString<8>`.

use std::borrow::{Borrow, Cow};

use crate::allocation;
use crate::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, FixedSize, Type, Typed};

/// The marshalling of an IDL type that shares its Rust type with another one.
pub trait Codec {
    /// The Rust type that owns a value.
    type Value: Borrow<Self::Borrowed>;
    /// The type that is written.
    type Borrowed: ?Sized;
    /// An argument in a skeleton: borrowed from the request if possible.
    type Held<'r>: Borrow<Self::Borrowed>;
    /// Minimum octets of a value.
    const MIN_SIZE: usize;
    /// The IDL type.
    const TYPE: &'static Type;

    /// Writes a value. Errors are noted in the writer.
    fn encode<'a>(value: &'a Self::Borrowed, writer: &mut CdrWriter<'a>);

    /// Reads a value.
    ///
    /// # Errors
    /// A [`CdrError`] for invalid bytes, including an exceeded bound.
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self::Value, CdrError>;

    /// Reads an argument.
    ///
    /// # Errors
    /// As [`Codec::decode`].
    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Self::Held<'r>, CdrError>;
}

/// `string<N>`.
#[derive(Debug)]
pub struct BoundedString<const N: usize>;

impl<const N: usize> BoundedString<N> {
    fn check(text: &str, reader: &CdrReader<'_>) -> Result<(), CdrError> {
        if text.chars().count() > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(())
    }
}

impl<const N: usize> Codec for BoundedString<N> {
    type Value = String;
    type Borrowed = str;
    type Held<'r> = Cow<'r, str>;
    const MIN_SIZE: usize = String::MIN_SIZE;
    const TYPE: &'static Type = &Type::string(N as u32);

    fn encode<'a>(value: &'a str, writer: &mut CdrWriter<'a>) {
        if value.chars().count() > N {
            writer.fail(CdrErrorKind::BoundExceeded);
        }
        writer.write_str(value);
    }

    fn decode(reader: &mut CdrReader<'_>) -> Result<String, CdrError> {
        let value = String::decode(reader)?;
        Self::check(&value, reader)?;
        Ok(value)
    }

    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Cow<'r, str>, CdrError> {
        let value = reader.read_str()?;
        Self::check(&value, reader)?;
        Ok(value)
    }
}

/// `wstring<N>`; unbounded if `N` is 0.
#[derive(Debug)]
pub struct WideString<const N: usize = 0>;

impl<const N: usize> WideString<N> {
    fn exceeds(text: &str) -> bool {
        N > 0 && text.encode_utf16().count() > N
    }
}

impl<const N: usize> Codec for WideString<N> {
    type Value = String;
    type Borrowed = str;
    type Held<'r> = String;
    const MIN_SIZE: usize = 4;
    const TYPE: &'static Type = match N {
        0 => Type::WSTRING,
        _ => &Type::wstring(N as u32),
    };

    fn encode<'a>(value: &'a str, writer: &mut CdrWriter<'a>) {
        if Self::exceeds(value) {
            writer.fail(CdrErrorKind::BoundExceeded);
        }
        writer.write_wstr(value);
    }

    fn decode(reader: &mut CdrReader<'_>) -> Result<String, CdrError> {
        let value = reader.read_wstring()?;
        if Self::exceeds(&value) {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(value)
    }

    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<String, CdrError> {
        Self::decode(reader)
    }
}

/// `sequence<T, N>` of elements without their own codec.
#[derive(Debug)]
pub struct BoundedSequence<T, const N: usize>([T; 0]);

impl<T, const N: usize> Codec for BoundedSequence<T, N>
where
    T: Encode + Decode + Typed + Clone + 'static,
{
    type Value = Vec<T>;
    type Borrowed = [T];
    type Held<'r> = Cow<'r, [T]>;
    const MIN_SIZE: usize = 4;
    const TYPE: &'static Type = &Type::sequence(T::TYPE, N as u32);

    fn encode<'a>(value: &'a [T], writer: &mut CdrWriter<'a>) {
        if value.len() > N {
            writer.fail(CdrErrorKind::BoundExceeded);
        }
        value.encode(writer);
    }

    fn decode(reader: &mut CdrReader<'_>) -> Result<Vec<T>, CdrError> {
        let value = Vec::decode(reader)?;
        if value.len() > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(value)
    }

    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Cow<'r, [T]>, CdrError> {
        let value = T::decode_borrowed(reader)?;
        if value.len() > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(value)
    }
}

/// `sequence<T>` of arrays of fixed size, which are read in place.
#[derive(Debug)]
pub struct SequenceOfArrays<T>([T; 0]);

impl<T> Codec for SequenceOfArrays<T>
where
    T: FixedSize + Encode + Decode + Typed + Clone + 'static,
{
    type Value = Vec<T>;
    type Borrowed = [T];
    type Held<'r> = Cow<'r, [T]>;
    const MIN_SIZE: usize = 4;
    const TYPE: &'static Type = <[T]>::TYPE;

    fn encode<'a>(value: &'a [T], writer: &mut CdrWriter<'a>) {
        value.encode(writer);
    }

    fn decode(reader: &mut CdrReader<'_>) -> Result<Vec<T>, CdrError> {
        Vec::decode(reader)
    }

    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Cow<'r, [T]>, CdrError> {
        reader.read_fixed_slice()
    }
}

/// `sequence<C, N>` of elements with their own codec; unbounded if `N` is 0.
#[derive(Debug)]
pub struct SequenceOf<C, const N: usize = 0>([C; 0]);

/// Reads `count` elements one by one.
fn decode_items<C: Codec>(
    reader: &mut CdrReader<'_>,
    count: usize,
) -> Result<Vec<C::Value>, CdrError> {
    let mut value = Vec::new();
    for _ in 0..count {
        if !allocation::push(&mut value, C::decode(reader)?) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
    }
    Ok(value)
}

impl<C: Codec + 'static, const N: usize> Codec for SequenceOf<C, N> {
    type Value = Vec<C::Value>;
    type Borrowed = [C::Value];
    type Held<'r> = Vec<C::Value>;
    const MIN_SIZE: usize = 4;
    const TYPE: &'static Type = &Type::sequence(C::TYPE, N as u32);

    fn encode<'a>(value: &'a [C::Value], writer: &mut CdrWriter<'a>) {
        if N > 0 && value.len() > N {
            writer.fail(CdrErrorKind::BoundExceeded);
        }
        writer.write_count(value.len());
        for item in value {
            C::encode(item.borrow(), writer);
        }
    }

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self::Value, CdrError> {
        let count = reader.read_count(C::MIN_SIZE)?;
        let value = decode_items::<C>(reader, count)?;
        if N > 0 && value.len() > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(value)
    }

    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Self::Value, CdrError> {
        Self::decode(reader)
    }
}

/// One dimension of an array of elements with their own codec.
#[derive(Debug)]
pub struct ArrayOf<C, const N: usize>([C; 0]);

impl<C: Codec + 'static, const N: usize> Codec for ArrayOf<C, N> {
    type Value = [C::Value; N];
    type Borrowed = [C::Value; N];
    type Held<'r> = [C::Value; N];
    const MIN_SIZE: usize = C::MIN_SIZE * N;
    const TYPE: &'static Type = &Type::array(C::TYPE, N as u32);

    fn encode<'a>(value: &'a [C::Value; N], writer: &mut CdrWriter<'a>) {
        for item in value {
            C::encode(item.borrow(), writer);
        }
    }

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self::Value, CdrError> {
        let value = decode_items::<C>(reader, N)?;
        value
            .try_into()
            .map_err(|_| reader.error(CdrErrorKind::Truncated))
    }

    fn hold<'r>(reader: &mut CdrReader<'r>) -> Result<Self::Value, CdrError> {
        Self::decode(reader)
    }
}
