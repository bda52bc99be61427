// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequences and arrays of basic types, in and out as a whole.

use orbium_cdr::{Any, Char, Decode, Encode, LongDouble, TCKind, TypeRef, WChar};

use super::octets;
use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::Content;
use crate::dyn_any::node::DynAny;

macro_rules! sequences {
    ($($kind:ident $type:ty, $insert:ident, $get:ident, $idl:literal;)*) => { $(
        #[doc = concat!("Inserts the elements of a sequence or array of `", $idl, "`.")]
        ///
        /// # Errors
        /// [`DynAnyError::TypeMismatch`] if neither the value nor its current component is one;
        /// [`DynAnyError::InvalidValue`] if there are too many elements, or their number differs
        /// from that of the array.
        pub fn $insert(&mut self, elements: &[$type]) -> Result<(), DynAnyError> {
            self.put_all(TCKind::$kind, elements)
        }

        #[doc = concat!("The elements of a sequence or array of `", $idl, "`.")]
        ///
        /// # Errors
        /// [`DynAnyError::TypeMismatch`] if neither the value nor its current component is
        /// one.
        pub fn $get(&mut self) -> Result<Vec<$type>, DynAnyError> {
            self.take_all(TCKind::$kind)
        }
    )* };
}

/// Sequences and arrays of basic types. The methods apply to the value itself if it is of that
/// type, otherwise to its current component.
impl DynAny {
    sequences! {
        Boolean bool, insert_boolean_seq, get_boolean_seq, "boolean";
        Octet u8, insert_octet_seq, get_octet_seq, "octet";
        Char Char, insert_char_seq, get_char_seq, "char";
        WChar WChar, insert_wchar_seq, get_wchar_seq, "wchar";
        Short i16, insert_short_seq, get_short_seq, "short";
        UShort u16, insert_ushort_seq, get_ushort_seq, "unsigned short";
        Long i32, insert_long_seq, get_long_seq, "long";
        ULong u32, insert_ulong_seq, get_ulong_seq, "unsigned long";
        LongLong i64, insert_longlong_seq, get_longlong_seq, "long long";
        ULongLong u64, insert_ulonglong_seq, get_ulonglong_seq, "unsigned long long";
        Float f32, insert_float_seq, get_float_seq, "float";
        Double f64, insert_double_seq, get_double_seq, "double";
        LongDouble LongDouble, insert_longdouble_seq, get_longdouble_seq, "long double";
    }

    fn put_all<T: Encode>(&mut self, element: TCKind, all: &[T]) -> Result<(), DynAnyError> {
        let target = self.list_of(element)?;
        let length = target.plain_type().length() as usize;
        let fits = match target.kind() {
            TCKind::Array => all.len() == length,
            _ => length == 0 || all.len() <= length,
        };
        if !fits {
            return Err(DynAnyError::InvalidValue);
        }
        let any = match target.kind() {
            TCKind::Array => Any::with_type(target.code.clone(), &Elements(all)),
            _ => Any::with_type(target.code.clone(), &Counted(all)),
        };
        target.content = Content::Whole(Data::Plain(any?));
        target.rewind();
        Ok(())
    }

    fn take_all<T: Decode>(&mut self, element: TCKind) -> Result<Vec<T>, DynAnyError> {
        let target = self.list_of(element)?;
        let any = target.to_any()?;
        let elements = match target.kind() {
            TCKind::Array => octets::read(&any, |reader| {
                let length = target.plain_type().length();
                (0..length).map(|_| T::decode(reader)).collect()
            }),
            _ => octets::read(&any, Vec::decode),
        };
        Ok(elements?)
    }

    /// The value itself or its current component: a sequence or array of such elements.
    fn list_of(&mut self, element: TCKind) -> Result<&mut Self, DynAnyError> {
        if is_list_of(self.plain_type(), element) {
            return Ok(self);
        }
        if !self.may_have_components() {
            return Err(DynAnyError::TypeMismatch);
        }
        let current = self.current_component()?;
        let current = current.ok_or(DynAnyError::InvalidValue)?;
        if is_list_of(current.plain_type(), element) {
            Ok(current)
        } else {
            Err(DynAnyError::TypeMismatch)
        }
    }
}

fn is_list_of(code: TypeRef<'_>, element: TCKind) -> bool {
    let content = code.content_type().map(|it| it.unaliased().kind());
    matches!(code.kind(), TCKind::Sequence | TCKind::Array) && content == Some(element)
}

/// Elements without a count.
struct Elements<'e, T>(&'e [T]);

impl<T: Encode> Encode for Elements<'_, T> {
    fn encode<'a>(&'a self, writer: &mut orbium_cdr::CdrWriter<'a>) {
        T::encode_slice(self.0, writer);
    }
}

/// Elements preceded by their count.
struct Counted<'e, T>(&'e [T]);

impl<T: Encode> Encode for Counted<'_, T> {
    fn encode<'a>(&'a self, writer: &mut orbium_cdr::CdrWriter<'a>) {
        writer.write_count(self.0.len());
        T::encode_slice(self.0, writer);
    }
}
