// SPDX-License-Identifier: MIT OR Apache-2.0
//! Views of values of which the Rust type lacks marshalling information: bounds, and wide text.

use super::{Arena, View};
use crate::{
    ArrayOf, BoundedSequence, BoundedString, CdrError, CdrErrorKind, CdrReader, CdrWriter, Codec,
    SequenceOf, WideString,
};

/// A codec of which values can be views of type `V`.
pub trait ViewCodec<'v, V>: Codec {
    /// Reads a value.
    ///
    /// # Errors
    /// As [`Codec::decode`].
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<V, CdrError>;

    /// Writes a value. Errors are noted in the writer.
    fn encode_view<'a>(value: &'a V, writer: &mut CdrWriter<'a>);
}

impl<'v, const N: usize> ViewCodec<'v, &'v str> for BoundedString<N> {
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<&'v str, CdrError> {
        let text = <&str>::view(reader, arena)?;
        if text.chars().count() > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(text)
    }

    fn encode_view<'a>(value: &'a &'v str, writer: &mut CdrWriter<'a>) {
        Self::encode(value, writer);
    }
}

impl<'v, const N: usize> ViewCodec<'v, &'v str> for WideString<N> {
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<&'v str, CdrError> {
        let text = Self::decode(reader)?;
        arena.copy_text(&text, reader)
    }

    fn encode_view<'a>(value: &'a &'v str, writer: &mut CdrWriter<'a>) {
        Self::encode(value, writer);
    }
}

impl<'v, T, V, const N: usize> ViewCodec<'v, &'v [V]> for BoundedSequence<T, N>
where
    Self: Codec,
    V: View<'v, Owned = T>,
{
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<&'v [V], CdrError> {
        let items = V::view_slice(reader, arena)?;
        if items.len() > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        Ok(items)
    }

    fn encode_view<'a>(value: &'a &'v [V], writer: &mut CdrWriter<'a>) {
        if value.len() > N {
            writer.fail(CdrErrorKind::BoundExceeded);
        }
        crate::Encode::encode(*value, writer);
    }
}

impl<'v, C, V, const N: usize> ViewCodec<'v, &'v [V]> for SequenceOf<C, N>
where
    C: ViewCodec<'v, V> + 'static,
    V: Copy + 'v,
{
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<&'v [V], CdrError> {
        let count = reader.read_count(C::MIN_SIZE)?;
        if N > 0 && count > N {
            return Err(reader.error(CdrErrorKind::BoundExceeded));
        }
        arena.read(reader, count, |reader| C::view(reader, arena))
    }

    fn encode_view<'a>(value: &'a &'v [V], writer: &mut CdrWriter<'a>) {
        if N > 0 && value.len() > N {
            writer.fail(CdrErrorKind::BoundExceeded);
        }
        writer.write_count(value.len());
        for item in *value {
            C::encode_view(item, writer);
        }
    }
}

impl<'v, C, V, const N: usize> ViewCodec<'v, &'v [V; N]> for ArrayOf<C, N>
where
    C: ViewCodec<'v, V> + 'static,
    V: Copy + 'v,
{
    fn view<'r: 'v>(reader: &mut CdrReader<'r>, arena: &'v Arena) -> Result<&'v [V; N], CdrError> {
        if C::MIN_SIZE * N > reader.remaining() {
            return Err(reader.error(CdrErrorKind::Truncated));
        }
        let items = arena.read(reader, N, |reader| C::view(reader, arena))?;
        let array = items.try_into();
        array.map_err(|_| reader.error(CdrErrorKind::Truncated))
    }

    fn encode_view<'a>(value: &'a &'v [V; N], writer: &mut CdrWriter<'a>) {
        for item in *value {
            C::encode_view(item, writer);
        }
    }
}
