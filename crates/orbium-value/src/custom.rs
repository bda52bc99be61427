// SPDX-License-Identifier: MIT OR Apache-2.0
//! Custom valuetypes: programs marshal their state (CORBA 3.3 Part 1, 9.3.5).

use orbium_cdr::{
    Any, CdrError, CdrErrorKind, CdrReader, CdrWriter, Char, Codec, Decode, Encode, LongDouble,
    TypeCode, WChar, WideString,
};

use crate::ValueType;
use crate::base::VALUE_BASE;
use crate::handle::Custom;

/// Marshalling of the state of a `custom valuetype`, for a program to implement.
///
/// The operations of a custom valuetype implement it in addition to the trait of the operations;
/// without operations, it is all that they implement.
pub trait CustomMarshal<V>: Send + Sync + 'static {
    /// Writes the state of a value, including that of its bases.
    ///
    /// # Errors
    /// The reason why it cannot be written, with which the call ends: MARSHAL in most cases.
    fn marshal(&self, this: &V, output: &mut DataOutput<'_, '_>) -> Result<(), CdrError>;

    /// Reads the state of a value, which initially has that of a new one. Unread data are skipped
    /// if the sender has written chunks, as it must.
    ///
    /// # Errors
    /// The error in the data, [`DataInput::error`] for errors that the program detects.
    fn unmarshal(&self, this: &V, input: &mut DataInput<'_, '_>) -> Result<(), CdrError>;
}

/// Output stream of a custom value's state: a `DataOutputStream` of the standard.
///
/// Values that are written are of the graph of the message.
#[derive(Debug)]
pub struct DataOutput<'w, 'm> {
    writer: &'w mut CdrWriter<'m>,
}

/// Input stream of a custom value's state: a `DataInputStream` of the standard.
#[derive(Debug)]
pub struct DataInput<'r, 'm> {
    reader: &'r mut CdrReader<'m>,
}

impl DataOutput<'_, '_> {
    /// Writes a value of any IDL type: a struct, an enum, a sequence with its count, a reference or
    /// a value as `Option`.
    pub fn write<T: Encode + ?Sized>(&mut self, value: &T) {
        self.writer.copying(|writer| value.encode(writer));
    }

    /// Writes the elements of an array, without a count.
    pub fn write_array<T: Encode>(&mut self, items: &[T]) {
        self.writer.copying(|writer| T::encode_slice(items, writer));
    }

    /// Writes a `string`.
    pub fn write_string(&mut self, text: &str) {
        self.write(text);
    }

    /// Writes a `wstring`.
    pub fn write_wstring(&mut self, text: &str) {
        self.writer.write_wstr(text);
    }

    /// Writes a value, or null.
    pub fn write_value<V: ValueType>(&mut self, value: Option<&V>) {
        let value = value.map(ValueType::as_value);
        crate::write_value(value, &VALUE_BASE, self.writer);
    }

    /// An error, for data that cannot be written.
    #[must_use]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        CdrError::new(kind, self.writer.position())
    }
}

impl DataInput<'_, '_> {
    /// Reads a value of any IDL type.
    ///
    /// # Errors
    /// The error in the data; [`CdrErrorKind::Truncated`] after the end of the state, which the
    /// reader of the value gets as [`CdrErrorKind::BeyondState`].
    pub fn read<T: Decode>(&mut self) -> Result<T, CdrError> {
        T::decode(self.reader)
    }

    /// Reads the elements of an array, without a count.
    ///
    /// # Errors
    /// As [`DataInput::read`].
    pub fn read_array<T: Decode>(&mut self, count: usize) -> Result<Vec<T>, CdrError> {
        if count.saturating_mul(T::MIN_SIZE.max(1)) > self.reader.remaining() {
            return Err(self.error(CdrErrorKind::CountTooLarge));
        }
        let mut items = Vec::new();
        T::decode_vec(self.reader, count, &mut items)?;
        Ok(items)
    }

    /// Reads a `string`.
    ///
    /// # Errors
    /// As [`DataInput::read`].
    pub fn read_string(&mut self) -> Result<String, CdrError> {
        self.read()
    }

    /// Reads a `wstring`.
    ///
    /// # Errors
    /// As [`DataInput::read`].
    pub fn read_wstring(&mut self) -> Result<String, CdrError> {
        <WideString as Codec>::decode(self.reader)
    }

    /// Reads a value of type `V` or derived from it, or null.
    ///
    /// # Errors
    /// As [`read_value`](crate::read_value).
    pub fn read_value<V: ValueType>(&mut self) -> Result<Option<V>, CdrError> {
        let value = crate::read_value(V::class(), self.reader)?;
        Ok(value.map(V::wrap))
    }

    /// An error, for invalid data.
    #[must_use]
    pub fn error(&self, kind: CdrErrorKind) -> CdrError {
        self.reader.error(kind)
    }
}

macro_rules! primitives {
    ($($type:ty: $write:ident $read:ident $idl:literal;)*) => {
        impl DataOutput<'_, '_> { $(
            #[doc = concat!("Writes ", $idl, ".")]
            pub fn $write(&mut self, value: $type) {
                self.write(&value);
            }
        )* }
        impl DataInput<'_, '_> { $(
            #[doc = concat!("Reads ", $idl, ".")]
            ///
            /// # Errors
            /// As [`DataInput::read`].
            pub fn $read(&mut self) -> Result<$type, CdrError> {
                self.read()
            }
        )* }
    };
}

primitives! {
    bool: write_boolean read_boolean "a `boolean`";
    Char: write_char read_char "a `char`";
    WChar: write_wchar read_wchar "a `wchar`";
    u8: write_octet read_octet "an `octet`";
    i16: write_short read_short "a `short`";
    u16: write_ushort read_ushort "an `unsigned short`";
    i32: write_long read_long "a `long`";
    u32: write_ulong read_ulong "an `unsigned long`";
    i64: write_longlong read_longlong "a `long long`";
    u64: write_ulonglong read_ulonglong "an `unsigned long long`";
    f32: write_float read_float "a `float`";
    f64: write_double read_double "a `double`";
    LongDouble: write_longdouble read_longdouble "a `long double`";
    Any: write_any read_any "an `any`";
    TypeCode: write_type_code read_type_code "a `TypeCode`";
}

impl Custom {
    /// By the [`CustomMarshal`] that values of type `V` have from their factory.
    #[must_use]
    pub const fn of<V: ValueType>() -> Self {
        Self {
            marshal: |value, writer| {
                let mut output = DataOutput { writer };
                match value.operations::<dyn CustomMarshal<V>>() {
                    Some(custom) => custom.marshal(&V::wrap(value.clone()), &mut output),
                    None => Err(output.error(CdrErrorKind::UnknownValue)),
                }
            },
            unmarshal: |value, reader| {
                let mut input = DataInput { reader };
                match value.operations::<dyn CustomMarshal<V>>() {
                    Some(custom) => {
                        let read = custom.unmarshal(&V::wrap(value.clone()), &mut input);
                        read.map_err(beyond_state)
                    }
                    None => Err(input.error(CdrErrorKind::UnknownValue)),
                }
            },
        }
    }
}

/// The error of a program that reads past the end of the state.
fn beyond_state(error: CdrError) -> CdrError {
    CdrError {
        kind: match error.kind {
            CdrErrorKind::Truncated => CdrErrorKind::BeyondState,
            other => other,
        },
        ..error
    }
}
