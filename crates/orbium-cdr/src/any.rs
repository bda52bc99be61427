// SPDX-License-Identifier: MIT OR Apache-2.0
//! The IDL type `any`: a value with its TypeCode.

use core::fmt;
use std::sync::Arc;

use crate::allocation;
use crate::interpret::{CANONICAL, Extent, Printed, canonical_copy, keep, restore};
use crate::typecode::write_type_name;
use crate::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, Char, Decode, DecodeNillable, Encode, Format,
    LongDouble, Owner, TCKind, Type, TypeCode, TypeRef, Typed, WChar,
};

/// Maximum octets of a value that is extracted without allocation.
const SMALL: usize = 128;

/// An IDL `any`: a type, and a value of it.
///
/// The value is stored as CDR in native byte order, GIOP 1.2, UTF-8 and UTF-16, aligned from 0.
/// Thus a value of a type that is unknown to this program is preserved and passed on to any peer in
/// the format of that peer.
///
/// ```
/// use orbium_cdr::{Any, AnyError};
///
/// let any = Any::new(&vec![1i32, 2, 3]).unwrap();
/// assert_eq!(any.extract::<Vec<i32>>().unwrap(), [1, 2, 3]);
/// assert_eq!(any.extract::<String>(), Err(AnyError::TypeMismatch));
/// assert_eq!(format!("{any:?}"), "Any(sequence<long>: [1, 2, 3])");
/// ```
#[derive(Clone, Default)]
pub struct Any {
    type_code: TypeCode,
    value: Arc<[u8]>,
    /// The owner of the references in it, which binds them to an ORB.
    owner: Option<Owner>,
}

/// Error of extracting a value from an [`Any`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnyError {
    /// The any holds a value of another type.
    TypeMismatch,
    /// The any holds a value of that type, but it could not be read.
    Marshal(CdrError),
}

impl fmt::Display for AnyError {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TypeMismatch => f.write_str("the any holds a value of another type"),
            Self::Marshal(error) => write!(f, "the value of the any cannot be read: {error}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for AnyError {}

impl From<CdrError> for AnyError {
    #[inline]
    fn from(error: CdrError) -> Self {
        Self::Marshal(error)
    }
}

impl Any {
    /// An any with a copy of `value`. References that are extracted from it are bound to the ORB of
    /// its first reference.
    ///
    /// # Errors
    /// The error in the value, for example an exceeded bound.
    pub fn new<T: Typed + Encode + ?Sized>(value: &T) -> Result<Self, CdrError> {
        encoded(TypeCode::from(T::TYPE), |writer| value.encode(writer))
    }

    /// An any with a copy of `value`, which is of type `type_code`: for Rust types that map several
    /// IDL types, such as `String`. The type is not checked until the value is read.
    ///
    /// # Errors
    /// The error in the value.
    pub fn with_type<T: Encode + ?Sized>(
        type_code: impl Into<TypeCode>,
        value: &T,
    ) -> Result<Self, CdrError> {
        encoded(type_code.into(), |writer| value.encode(writer))
    }

    /// An any that holds a `wstring`.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadString`] for a NUL in the text.
    #[inline]
    pub fn from_wstring(value: &str) -> Result<Self, CdrError> {
        encoded(Type::WSTRING.into(), |writer| writer.write_wstr(value))
    }

    /// Reads a value of type `type_code` that is encoded without its type.
    ///
    /// # Errors
    /// As [`walk_value`](crate::walk_value).
    pub fn read_value(type_code: TypeCode, reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let value = canonical_copy(type_code.as_ref(), reader)?;
        if !allocation::is_there(value.len()) {
            return Err(reader.error(CdrErrorKind::NoMemory));
        }
        Ok(Self {
            type_code,
            value: value.into(),
            owner: reader.owner().cloned(),
        })
    }

    /// The same value with an owner for the references in it.
    #[must_use]
    #[inline]
    pub fn with_owner(self, owner: Option<Owner>) -> Self {
        Self { owner, ..self }
    }

    /// The type of the value.
    #[must_use]
    #[inline]
    pub fn type_code(&self) -> &TypeCode {
        &self.type_code
    }

    /// The owner of the references in the value.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// The octets of the value, in the form described [above](Any).
    #[must_use]
    pub fn value_octets(&self) -> &[u8] {
        &self.value
    }

    /// Whether the value is a `T`, as [`Any::extract`] requires: its type is equivalent.
    #[must_use]
    pub fn is<T: Typed + ?Sized>(&self) -> bool {
        self.is_of(TypeRef::of_static(T::TYPE))
    }

    #[inline]
    fn is_of(&self, wanted: TypeRef<'_>) -> bool {
        self.type_code.as_ref().equivalent(wanted)
    }

    /// Takes a copy of the value out.
    ///
    /// # Errors
    /// [`AnyError::TypeMismatch`] if the types are not equivalent,
    /// [`AnyError::Marshal`] if they are and the value is broken nevertheless.
    pub fn extract<T: Typed + Decode>(&self) -> Result<T, AnyError> {
        if !self.is::<T>() {
            return Err(AnyError::TypeMismatch);
        }
        Ok(self.decode_as()?)
    }

    /// Extracts a reference of any interface; nil is `None`. As for [`Any::decode_as`], it belongs
    /// to the ORB that received or created it.
    ///
    /// # Errors
    /// As [`Any::extract`].
    pub fn extract_object<T: DecodeNillable>(&self) -> Result<Option<T>, AnyError> {
        if self.type_code.as_ref().unaliased().kind() != TCKind::ObjRef {
            return Err(AnyError::TypeMismatch);
        }
        Ok(self.read_with(T::decode_nillable)?)
    }

    /// Extracts the text of a `wstring`, bounded or not.
    ///
    /// # Errors
    /// As [`Any::extract`].
    pub fn extract_wstring(&self) -> Result<String, AnyError> {
        if self.type_code.as_ref().unaliased().kind() != TCKind::WString {
            return Err(AnyError::TypeMismatch);
        }
        // The method by its name would have one lifetime only.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let text = self.read_with(|reader| reader.read_wstring())?;
        Ok(text)
    }

    /// Reads the value as a `T` without checking its type: if it was checked before, or may be less
    /// exact, as that of a reference to a derived interface.
    ///
    /// # Errors
    /// The error in the value.
    pub fn decode_as<T: Decode>(&self) -> Result<T, CdrError> {
        self.read_with(T::decode)
    }

    /// Reads the value with `read`, for an exception the members.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn read_with<T>(
        &self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        let read = self.with_octets(|octets| {
            let mut reader =
                CdrReader::new(octets, Format::native()).with_owner(self.owner.as_ref());
            if self.type_code.as_ref().unaliased().kind() == TCKind::Except {
                reader.read_name()?;
            }
            read(&mut reader)
        });
        read.unwrap_or_else(|| Err(CdrError::new(CdrErrorKind::NoMemory, 0)))
    }

    /// Calls `work` with a copy of the octets, as a reader changes the byte order in place; `None`
    /// if there is no memory for the copy.
    fn with_octets<R>(&self, work: impl FnOnce(&mut [u8]) -> R) -> Option<R> {
        if self.value.len() <= SMALL {
            let mut copy = [0; SMALL];
            let copy = &mut copy[..self.value.len()];
            copy.copy_from_slice(&self.value);
            Some(work(copy))
        } else {
            Some(work(&mut allocation::copied_octets(&self.value)?))
        }
    }

    /// Writes the value without its type.
    pub fn write_value<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        if let Some(owner) = &self.owner {
            writer.note_owner(owner);
        }
        let code = self.type_code.as_ref();
        if code.kind() == TCKind::String && !is_text(&self.value) {
            return writer.fail(CdrErrorKind::BadString);
        }
        if Extent::of(code).is_verbatim(writer.format(), writer.position()) {
            writer.write_raw_gathered(&self.value);
        } else {
            let restored = self.with_octets(|octets| {
                restore(code, octets, self.owner.as_ref(), writer);
            });
            if restored.is_none() {
                writer.fail(CdrErrorKind::NoMemory);
            }
        }
    }
}

/// Values as parts of others.
impl Any {
    /// Appends the value to one that is assembled in the form described [above](Any), in a writer
    /// of [`Format::native`]; [`Any::read_value`] creates an any of the whole.
    pub fn write_part<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        if let Some(owner) = &self.owner {
            writer.note_owner(owner);
        }
        let code = self.type_code.as_ref();
        if self
            .with_octets(|octets| keep(code, octets, writer))
            .is_none()
        {
            writer.fail(CdrErrorKind::NoMemory);
        }
    }
}

/// An any with the value that `encode` writes, for an exception its members.
fn encoded<'v>(
    type_code: TypeCode,
    encode: impl FnOnce(&mut CdrWriter<'v>),
) -> Result<Any, CdrError> {
    let code = type_code.as_ref().unaliased();
    let mut writer = CdrWriter::new(CANONICAL);
    if code.kind() == TCKind::Except {
        writer.write_name(code.id());
    }
    encode(&mut writer);
    let owner = writer.owner();
    let value = writer.finish()?;
    Ok(Any {
        type_code,
        value: value.into(),
        owner,
    })
}

impl Encode for Any {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.type_code.encode(writer);
        self.write_value(writer);
    }
}

impl Decode for Any {
    const MIN_SIZE: usize = 4;
    #[inline]
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let type_code = TypeCode::decode(reader)?;
        reader.nested(|reader| Self::read_value(type_code, reader))
    }
}

impl Typed for Any {
    const TYPE: &'static Type = Type::ANY;
}

impl PartialEq for Any {
    /// Whether the types are equivalent and the values equal, bit for bit.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.type_code.equivalent(&other.type_code)
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Any(")?;
        let code = self.type_code.as_ref();
        write_type_name(code, f)?;
        if code.kind() != TCKind::Null {
            f.write_str(": ")?;
            self.with_octets(|octets| {
                let mut reader =
                    CdrReader::new(octets, Format::native()).with_owner(self.owner.as_ref());
                Printed::show(code, &mut reader, f)
            })
            .unwrap_or_else(|| f.write_str("…"))?;
        }
        f.write_str(")")
    }
}

/// Whether octets in the form of an any are a string that can be sent, which `Any::from` does not
/// check.
fn is_text(octets: &[u8]) -> bool {
    match octets.split_first_chunk() {
        Some((count, [text @ .., 0])) => {
            u32::from_ne_bytes(*count) as usize == text.len() + 1 && !text.contains(&0)
        }
        _ => false,
    }
}

/// An any of a value that cannot fail to be written.
fn primitive(type_code: TypeCode, value: &dyn Encode) -> Any {
    let mut writer = CdrWriter::new(CANONICAL);
    value.encode(&mut writer);
    Any {
        type_code,
        value: writer.written().into(),
        owner: None,
    }
}

/// An any of a `string`. Invalid text, with a NUL inside, is reported when the any is written, like
/// that of a `string` parameter: [`CdrErrorKind::BadString`].
impl From<&str> for Any {
    fn from(value: &str) -> Self {
        let mut writer = CdrWriter::new(Format::native());
        writer.write_name(value);
        Self {
            type_code: Type::STRING.into(),
            value: writer.written().into(),
            owner: None,
        }
    }
}

/// As from `&str`.
impl From<String> for Any {
    fn from(value: String) -> Self {
        value.as_str().into()
    }
}

macro_rules! from_primitives {
    ($($type:ty)*) => { $(
        impl From<$type> for Any {
            #[inline]
            fn from(value: $type) -> Self {
                primitive(<$type>::type_code(), &value)
            }
        }
    )* };
}

// No value of these types can fail to be written, including a `char` in ISO 8859-1.
from_primitives! {
    bool u8 i16 u16 i32 u32 i64 u64 f32 f64 LongDouble Char WChar
}
