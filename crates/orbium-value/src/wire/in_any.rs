// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values within anys: an any keeps octets, so that its values are read and written again.

use std::sync::Arc;

use orbium_cdr::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, Owner, OwnerWithValues, TCKind, Type, TypeCode,
    TypeRef, ValueCopier, WrittenState, copy_value as copy_by_type,
};

use crate::base::VALUE_BASE;
use crate::factories::Factories;
use crate::wire::met::{enter_any, leave_any, met};
use crate::wire::write::{Written, write_as};
use crate::{Class, MAX_VALUES, ValueBase, read_described, read_value};

/// Reads a value and writes it: from a message into an any, or in the opposite direction.
///
/// # Errors
/// As [`read_value`]; [`CdrErrorKind::TooDeep`] for anys of values nested in more than
/// [`MAX_ANY_DEPTH`](crate::MAX_ANY_DEPTH) such anys, [`CdrErrorKind::CountTooLarge`] if a message
/// that refers to the same values repeatedly would become too large.
#[doc(hidden)]
pub fn copy_value(
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    let met = met(reader);
    if met.collected.is_some() || met.numbered.is_some() || met.describes {
        return copy_described(TypeCode::from(formal.described).as_ref(), reader, writer);
    }
    copy_read(formal.id, reader, writer, |reader| {
        read_value(formal, reader)
    })
}

/// As [`copy_value`], where a TypeCode gives the expected type.
fn copy_described(
    formal: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    if met(reader).collected.is_some() {
        let value = read_described(formal, reader)?;
        return collect(value, reader, writer);
    }
    if met(reader).numbered.is_some() {
        let value = read_described(formal, reader)?;
        write_as(value.as_ref(), formal.id(), writer);
        return writer.error().map_or(Ok(()), Err);
    }
    copy_read(formal.id(), reader, writer, |reader| {
        read_described(formal, reader)
    })
}

/// Writes the number of a value instead of the value.
fn collect(
    value: Option<ValueBase>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    let values = met(reader).collected.get_or_insert_default();
    let number = values.len();
    if number == MAX_VALUES {
        return Err(reader.error(CdrErrorKind::CountTooLarge));
    }
    values.push(value);
    writer.write_u32(number as u32);
    Ok(())
}

/// Copies a value that `read` reads.
fn copy_read(
    formal_id: &str,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
    read: impl FnOnce(&mut CdrReader<'_>) -> Result<Option<ValueBase>, CdrError>,
) -> Result<(), CdrError> {
    enter_any(reader)?;
    let before = writer.position();
    let formats = (reader.format(), writer.format());
    // The contents of an any are in CDR format, so that its TypeCode suffices to read them.
    reader.set_format(formats.0.with_natural_elements(false));
    writer.set_minor(formats.1.with_natural_elements(false).minor);
    let read = read(reader);
    if let Ok(value) = &read {
        write_as(value.as_ref(), formal_id, writer);
    }
    reader.set_format(formats.0);
    writer.set_minor(formats.1.minor);
    read?;
    leave_any(writer.position() - before, reader)?;
    writer.error().map_or(Ok(()), Err)
}

/// Copies an object or a value of an abstract interface.
#[doc(hidden)]
pub fn copy_abstract(
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    let is_object = reader.read_bool()?;
    writer.write_bool(is_object);
    if is_object {
        copy_by_type(TypeCode::from(Type::OBJECT).as_ref(), reader, writer)
    } else {
        copy_value(&VALUE_BASE, reader, writer)
    }
}

impl ValueCopier for Factories {
    fn copy(
        &self,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
        writer: &mut CdrWriter<'_>,
    ) -> Result<(), CdrError> {
        match code.kind() {
            TCKind::AbstractInterface => copy_abstract(reader, writer),
            _ => match self.class_of(code.id()) {
                Some(class) => copy_value(class, reader, writer),
                None => copy_described(code, reader, writer),
            },
        }
    }
}

impl WrittenState for Written {
    /// The types of the values, with their operations: an any of values that were created here can
    /// be read without factories.
    fn owner(&self, noted: Option<Owner>) -> Option<Owner> {
        let mut values = self.values().peekable();
        if values.peek().is_none() {
            return noted;
        }
        let factories = Factories::default();
        values.for_each(|value| factories.register_like(value));
        Some(Arc::new(OwnerWithValues {
            owner: Box::new(noted),
            values: Some(Box::new(factories)),
        }))
    }
}
