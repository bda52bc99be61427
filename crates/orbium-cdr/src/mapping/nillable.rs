// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values that can be nil: object references.

use crate::{CdrError, CdrReader, CdrWriter, Decode, Encode};

/// A value that can be written as nil. Implementing it implements [`Encode`] for `Option<Self>` and
/// `Option<&Self>`.
pub trait EncodeNillable {
    /// Writes the value, or nil.
    fn encode_nillable<'a>(value: Option<&'a Self>, writer: &mut CdrWriter<'a>);
}

/// A value that can be read as nil. Implementing it implements [`Decode`] for `Option<Self>`.
pub trait DecodeNillable: Sized {
    /// Minimum octets of a value.
    const MIN_SIZE: usize;

    /// Reads a value or nil.
    ///
    /// # Errors
    /// A [`CdrError`] for invalid bytes.
    fn decode_nillable(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError>;
}

impl<T: EncodeNillable> EncodeNillable for &T {
    fn encode_nillable<'a>(value: Option<&'a Self>, writer: &mut CdrWriter<'a>) {
        T::encode_nillable(value.map(|value| &**value), writer);
    }
}

impl<T: EncodeNillable> Encode for Option<T> {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        T::encode_nillable(self.as_ref(), writer);
    }
}

impl<T: DecodeNillable> Decode for Option<T> {
    const MIN_SIZE: usize = T::MIN_SIZE;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        T::decode_nillable(reader)
    }
}
