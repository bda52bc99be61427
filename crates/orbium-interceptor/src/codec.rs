// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as octets, for components and service contexts (CORBA 3.3 Part 2, 9.7.2 and 9.8;
//! `IOP::Codec`).

use std::fmt;

use orbium_cdr::{
    Any, ByteOrder, CdrError, CdrReader, CdrWriter, CharSet, Decode, Encode, Format, TypeCode,
    WideSet,
};

/// Converts between values and encapsulations (`IOP::Codec`).
///
/// ```
/// use orbium_cdr::{Any, Type};
/// use orbium_interceptor::Codec;
///
/// let codec = Codec::cdr(2)?;
/// let octets = codec.encode_value(&Any::from(7))?;
/// let value = codec.decode_value(&octets, &Type::LONG.into())?;
/// assert_eq!(value.extract::<i32>()?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    format: Format,
}

/// The encoding is not supported (`IOP::CodecFactory::UnknownEncoding`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnknownEncoding {
    /// The requested version of GIOP, as 1.`minor`.
    pub minor: u8,
}

/// Error of a codec.
#[derive(Clone, PartialEq, Eq)]
pub enum CodecError {
    /// The encoding cannot represent the value, such as wide characters in that of GIOP 1.0
    /// (`IOP::Codec::InvalidTypeForEncoding`).
    InvalidTypeForEncoding(CdrError),
    /// The octets are not an encapsulation of an any (`IOP::Codec::FormatMismatch`).
    FormatMismatch(Option<CdrError>),
    /// The octets are not an encapsulation of a value of that type (`IOP::Codec::TypeMismatch`);
    /// `None` if octets remain after the value.
    TypeMismatch(Option<CdrError>),
}

impl Codec {
    /// The codec for encapsulations of GIOP 1.`minor`: characters in ISO 8859-1, wide ones in
    /// UTF-16 (`ENCODING_CDR_ENCAPS`).
    ///
    /// # Errors
    /// [`UnknownEncoding`] for versions other than 1.0, 1.1 and 1.2.
    pub fn cdr(minor: u8) -> Result<Self, UnknownEncoding> {
        Self::with_code_set(minor, CharSet::Latin1)
    }

    /// As [`cdr`](Self::cdr), with characters in that code set
    /// (`create_codec_with_codesets`).
    ///
    /// # Errors
    /// [`UnknownEncoding`] for versions other than 1.0, 1.1 and 1.2.
    pub fn with_code_set(minor: u8, char_set: CharSet) -> Result<Self, UnknownEncoding> {
        if minor > 2 {
            return Err(UnknownEncoding { minor });
        }
        let format = Format {
            char_set,
            wide_set: Some(WideSet::Utf16),
            ..Format::plain(ByteOrder::NATIVE, minor)
        };
        Ok(Self { format })
    }

    /// An encapsulation of a value with its type.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`].
    pub fn encode(&self, value: &Any) -> Result<Vec<u8>, CodecError> {
        self.write(|writer| value.encode(writer))
    }

    /// An encapsulation of a value without its type.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`].
    pub fn encode_value(&self, value: &Any) -> Result<Vec<u8>, CodecError> {
        self.write(|writer| value.write_value(writer))
    }

    fn write<'a>(&self, body: impl FnOnce(&mut CdrWriter<'a>)) -> Result<Vec<u8>, CodecError> {
        let mut writer = CdrWriter::new(self.format);
        writer.write_bool(self.format.order == ByteOrder::Little);
        body(&mut writer);
        writer.finish().map_err(CodecError::InvalidTypeForEncoding)
    }

    /// The value of an encapsulation of [`encode`](Self::encode), in either byte order.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`].
    pub fn decode(&self, octets: &[u8]) -> Result<Any, CodecError> {
        let mismatch = CodecError::FormatMismatch;
        self.read(octets, mismatch, Any::decode)
    }

    /// The value of an encapsulation of [`encode_value`](Self::encode_value), in either byte
    /// order.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`] if it does not begin with a byte order;
    /// [`CodecError::TypeMismatch`] if no value of that type follows, or more octets than that.
    pub fn decode_value(&self, octets: &[u8], type_code: &TypeCode) -> Result<Any, CodecError> {
        self.read(octets, CodecError::TypeMismatch, |reader| {
            Any::read_value(type_code.clone(), reader)
        })
    }

    fn read(
        &self,
        octets: &[u8],
        mismatch: fn(Option<CdrError>) -> CodecError,
        body: impl FnOnce(&mut CdrReader<'_>) -> Result<Any, CdrError>,
    ) -> Result<Any, CodecError> {
        let order = match octets.first() {
            Some(0) => ByteOrder::Big,
            Some(1) => ByteOrder::Little,
            _ => return Err(CodecError::FormatMismatch(None)),
        };
        // Reading may convert in place.
        let mut octets = octets.to_vec();
        let mut reader = CdrReader::new(&mut octets, self.format.with_order(order));
        let begun = reader.read_u8();
        let value = begun.and_then(|_| body(&mut reader));
        let value = value.map_err(|error| mismatch(Some(error)))?;
        match reader.remaining() {
            0 => Ok(value),
            _ => Err(mismatch(None)),
        }
    }
}

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no encoding for encapsulations of GIOP 1.{}", self.minor)
    }
}

impl fmt::Debug for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownEncoding {}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, error) = match self {
            Self::InvalidTypeForEncoding(error) => ("the value cannot be encoded", Some(error)),
            Self::FormatMismatch(error) => ("not an encapsulation", error.as_ref()),
            Self::TypeMismatch(error) => ("not a value of that type", error.as_ref()),
        };
        match error {
            Some(error) => write!(f, "{what}: {error}"),
            None => f.write_str(what),
        }
    }
}

impl fmt::Debug for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CodecError {}
