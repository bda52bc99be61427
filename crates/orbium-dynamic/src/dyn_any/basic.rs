// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of basic types, in and out.

mod basic_sequences;
pub(crate) mod enumeration;
pub(crate) mod fixed;
pub(crate) mod octets;
use std::borrow::Cow;

use orbium_cdr::{Any, CdrWriter, Char, Encode, Format, LongDouble, TCKind, Type, TypeCode, WChar};
use orbium_core::ObjectRef;

use super::data::Data;
use super::error::DynAnyError;
use super::node::Content;
use super::node::DynAny;

macro_rules! basic {
    ($($kind:ident $type:ty, $insert:ident, $get:ident, $idl:literal;)*) => { $(
        #[doc = concat!("Inserts a `", $idl, "`.")]
        ///
        /// # Errors
        /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
        pub fn $insert(&mut self, value: $type) -> Result<(), DynAnyError> {
            self.put(TCKind::$kind, || Ok(Any::from(value)))
        }

        #[doc = concat!("The value as a `", $idl, "`.")]
        ///
        /// # Errors
        /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
        pub fn $get(&mut self) -> Result<$type, DynAnyError> {
            Ok(self.take(TCKind::$kind)?.decode_as()?)
        }
    )* };
}

/// Values of basic types.
impl DynAny {
    basic! {
        Boolean bool, insert_boolean, get_boolean, "boolean";
        Octet u8, insert_octet, get_octet, "octet";
        Char Char, insert_char, get_char, "char";
        WChar WChar, insert_wchar, get_wchar, "wchar";
        Short i16, insert_short, get_short, "short";
        UShort u16, insert_ushort, get_ushort, "unsigned short";
        Long i32, insert_long, get_long, "long";
        ULong u32, insert_ulong, get_ulong, "unsigned long";
        LongLong i64, insert_longlong, get_longlong, "long long";
        ULongLong u64, insert_ulonglong, get_ulonglong, "unsigned long long";
        Float f32, insert_float, get_float, "float";
        Double f64, insert_double, get_double, "double";
        LongDouble LongDouble, insert_longdouble, get_longdouble, "long double";
    }

    /// Inserts a `string`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`]; [`DynAnyError::InvalidValue`], also for text that exceeds the
    /// bound or contains a NUL.
    pub fn insert_string(&mut self, value: &str) -> Result<(), DynAnyError> {
        let target = self.of_kind(TCKind::String)?;
        let bound = target.plain_type().length() as usize;
        let is_long = bound > 0 && value.len() > bound && value.chars().count() > bound;
        if is_long || value.contains('\0') {
            return Err(DynAnyError::InvalidValue);
        }
        target.content = Content::Whole(Data::Plain(Any::from(value)));
        Ok(())
    }

    /// The value as a `string`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn get_string(&mut self) -> Result<String, DynAnyError> {
        Ok(self.take(TCKind::String)?.decode_as()?)
    }

    /// Inserts a `wstring`.
    ///
    /// # Errors
    /// As from [`insert_string`](Self::insert_string).
    pub fn insert_wstring(&mut self, value: &str) -> Result<(), DynAnyError> {
        let target = self.of_kind(TCKind::WString)?;
        let bound = target.plain_type().length() as usize;
        let is_long = bound > 0 && value.len() > bound && value.encode_utf16().count() > bound;
        if is_long {
            return Err(DynAnyError::InvalidValue);
        }
        let any = Any::from_wstring(value).map_err(|_| DynAnyError::InvalidValue)?;
        target.content = Content::Whole(Data::Plain(any));
        Ok(())
    }

    /// The value as a `wstring`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn get_wstring(&mut self) -> Result<String, DynAnyError> {
        let any = self.take(TCKind::WString)?;
        // The method by its name would have one lifetime only.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let text = any.read_with(|reader| reader.read_wstring())?;
        Ok(text)
    }

    /// Inserts an object reference or nil.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn insert_reference(&mut self, value: Option<&ObjectRef>) -> Result<(), DynAnyError> {
        self.put(TCKind::ObjRef, || Ok(Any::with_type(Type::OBJECT, &value)?))
    }

    /// The value as an object reference; nil is `None`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn get_reference(&mut self) -> Result<Option<ObjectRef>, DynAnyError> {
        Ok(self.take(TCKind::ObjRef)?.decode_as()?)
    }

    /// Inserts a `TypeCode`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn insert_typecode(&mut self, value: &TypeCode) -> Result<(), DynAnyError> {
        self.put(TCKind::TypeCode, || {
            Ok(Any::with_type(Type::TYPE_CODE, value)?)
        })
    }

    /// The value as a `TypeCode`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn get_typecode(&mut self) -> Result<TypeCode, DynAnyError> {
        Ok(self.take(TCKind::TypeCode)?.decode_as()?)
    }

    /// Inserts an `any` where one is expected.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn insert_any(&mut self, value: &Any) -> Result<(), DynAnyError> {
        self.put(TCKind::Any, || {
            let inner = Data::of(value)?;
            let mut values = vec![None];
            let mut writer = CdrWriter::new(Format::native());
            value.type_code().encode(&mut writer);
            inner.write(&mut writer, &mut values)?;
            let mut octets = writer.finish()?;
            let any = Data::any_of_parts(&Type::ANY.into(), &mut octets, values, value.owner());
            Ok(any?)
        })
    }

    /// The value as an `any`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn get_any(&mut self) -> Result<Any, DynAnyError> {
        Ok(self.take(TCKind::Any)?.decode_as()?)
    }

    /// Inserts a value where an `any` is expected.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`].
    pub fn insert_dyn_any(&mut self, value: &Self) -> Result<(), DynAnyError> {
        self.insert_any(&value.to_any()?)
    }

    /// The value of an `any`.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`], [`DynAnyError::InvalidValue`]; as from
    /// [`new`](Self::new).
    pub fn get_dyn_any(&mut self) -> Result<Self, DynAnyError> {
        Self::new(&self.get_any()?)
    }

    /// The value itself, or the current component.
    fn target(&mut self) -> Result<&mut Self, DynAnyError> {
        if !self.is_constructed() {
            return Ok(self);
        }
        let current = self.current_component()?;
        let current = current.ok_or(DynAnyError::InvalidValue)?;
        if current.is_constructed() {
            Err(DynAnyError::TypeMismatch)
        } else {
            Ok(current)
        }
    }

    fn is_constructed(&self) -> bool {
        matches!(
            self.kind(),
            TCKind::Struct
                | TCKind::Except
                | TCKind::Union
                | TCKind::Sequence
                | TCKind::Array
                | TCKind::Value
                | TCKind::ValueBox
                | TCKind::Event
        )
    }

    fn of_kind(&mut self, kind: TCKind) -> Result<&mut Self, DynAnyError> {
        let target = self.target()?;
        let found = match target.kind() {
            TCKind::Component | TCKind::Home => TCKind::ObjRef,
            found => found,
        };
        if found == kind {
            Ok(target)
        } else {
            Err(DynAnyError::TypeMismatch)
        }
    }

    fn put(
        &mut self,
        kind: TCKind,
        value: impl FnOnce() -> Result<Any, DynAnyError>,
    ) -> Result<(), DynAnyError> {
        let target = self.of_kind(kind)?;
        let any = octets::retyped(&value()?, &target.code)?;
        target.content = Content::Whole(Data::of(&any)?);
        Ok(())
    }

    fn take(&mut self, kind: TCKind) -> Result<Cow<'_, Any>, DynAnyError> {
        match &self.of_kind(kind)?.content {
            Content::Whole(data) => Ok(data.any()?),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }
}
