// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values within anys: an any keeps octets, so that its values are read and written again.

use std::sync::Arc;

use orbium_cdr::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, Owner, OwnerWithValues, TCKind, Type, TypeCode,
    TypeRef, ValueCopier, WrittenState, copy_value as copy_by_type,
};

use crate::base::VALUE_BASE;
use crate::factories::Factories;
use crate::read::{enter_any, leave_any};
use crate::write::Written;
use crate::{Class, read_value, write_value};

/// Reads a value and writes it: from a message into an any, or the other way.
///
/// # Errors
/// As [`read_value`]; [`CdrErrorKind::TooDeep`] for anys of values within values within more
/// than [`MAX_ANY_DEPTH`](crate::MAX_ANY_DEPTH) such anys, [`CdrErrorKind::CountTooLarge`] if
/// a message that refers to the same value again and again would become too large.
#[doc(hidden)]
pub fn copy_value(
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    enter_any(reader)?;
    let before = writer.position();
    let value = read_value(formal, reader)?;
    write_value(value.as_ref(), formal, writer);
    leave_any(writer.position() - before, reader)?;
    match writer.error() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Copies what stands where an abstract interface is expected: an object or a value.
#[doc(hidden)]
pub fn copy_abstract(
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    let is_object = reader.read_bool()?;
    writer.write_bool(is_object);
    match is_object {
        true => copy_by_type(TypeCode::from(Type::OBJECT).as_ref(), reader, writer),
        false => copy_value(&VALUE_BASE, reader, writer),
    }
}

impl ValueCopier for Factories {
    fn copy(
        &self,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
        writer: &mut CdrWriter<'_>,
    ) -> Result<(), CdrError> {
        if code.kind() == TCKind::AbstractInterface {
            return copy_abstract(reader, writer);
        }
        let formal = self.class_of(code.id()).unwrap_or(&VALUE_BASE);
        copy_value(formal, reader, writer).map_err(|error| match error.kind {
            // Without an id it is of the type of the any, which is not known here.
            CdrErrorKind::BadValue if formal.id != code.id() => CdrError {
                kind: CdrErrorKind::UnknownValue,
                ..error
            },
            _ => error,
        })
    }
}

impl WrittenState for Written {
    /// The types of the values, with their operations: an any of values that were made here
    /// needs no factories to be read.
    fn owner(&self, noted: Option<Owner>) -> Option<Owner> {
        let mut values = self.values().peekable();
        if values.peek().is_none() {
            return noted;
        }
        let factories = Factories::default();
        values.for_each(|value| factories.register_like(value));
        Some(Arc::new(OwnerWithValues {
            owner: Box::new(noted),
            values: Box::new(factories),
        }))
    }
}
