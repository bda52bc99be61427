// SPDX-License-Identifier: MIT OR Apache-2.0
//! The value that a DynAny has before anything is inserted.

use std::collections::HashMap;

use orbium_cdr::{CdrWriter, Format, TCKind, TypeCode, TypeRef, WChar, write_packed_decimal};

use super::data::Data;
use super::error::DynAnyError;
use super::node::{DynAny, has_dyn_any};
use crate::labels::{unused_label, write_label};

/// Maximum nesting of types.
const MAX_DEPTH: usize = 128;

/// Maximum octets of an initial value: that of an exception has its repository id, which a peer
/// chooses. Those of legal types with [`DynAny::MAX_COMPONENTS`] values have no more.
const MAX_OCTETS: usize = 1 << 28;

/// Maximum padding by which one element of an array is longer than another.
const MAX_PADDING: usize = 8;

/// The initial value of a type: zero, empty, nil, the first of the enumerators.
pub(super) fn initial_value(code: &TypeCode) -> Result<Data, DynAnyError> {
    let mut writer = CdrWriter::new(Format::native());
    write_initial(code.as_ref(), &mut writer)?;
    let mut octets = writer.finish()?;
    Ok(Data::initial(code, &mut octets)?)
}

/// Writes the initial value of a type; null is number 0 among values.
pub(super) fn write_initial(
    code: TypeRef<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), DynAnyError> {
    let mut initial = Initial {
        limit: writer.len().saturating_add(MAX_OCTETS),
        writer,
        values: DynAny::MAX_COMPONENTS,
        default_labels: HashMap::new(),
        depth: 0,
    };
    initial.value(code)
}

struct Initial<'w, 'a> {
    writer: &'w mut CdrWriter<'a>,
    /// Number of values that may still be written: the length of an array comes from a TypeCode,
    /// which may be that of a peer.
    values: usize,
    /// Length of the writer that may not be exceeded.
    limit: usize,
    /// The label of the default member of each union type, by its identity.
    default_labels: HashMap<(usize, u32), Option<i64>>,
    depth: usize,
}

impl Initial<'_, '_> {
    fn value(&mut self, code: TypeRef<'_>) -> Result<(), DynAnyError> {
        self.values = self.values.checked_sub(1).ok_or(DynAnyError::TooLarge)?;
        if self.writer.len() > self.limit {
            return Err(DynAnyError::TooLarge);
        }
        if self.depth > MAX_DEPTH {
            return Err(DynAnyError::InconsistentTypeCode);
        }
        self.depth += 1;
        let written = self.unaliased(code.unaliased());
        self.depth -= 1;
        written
    }

    fn unaliased(&mut self, code: TypeRef<'_>) -> Result<(), DynAnyError> {
        match code.kind() {
            TCKind::Struct => self.members(code)?,
            TCKind::Except => {
                self.writer.write_name(code.id());
                self.members(code)?;
            }
            TCKind::Union => self.union(code)?,
            TCKind::Array => self.array(code)?,
            TCKind::Enum if code.member_count() == 0 => {
                return Err(DynAnyError::InconsistentTypeCode);
            }
            kind if !has_dyn_any(kind) => return Err(DynAnyError::InconsistentTypeCode),
            _ => self.leaf(code),
        }
        Ok(())
    }

    fn members(&mut self, code: TypeRef<'_>) -> Result<(), DynAnyError> {
        for member in code.members() {
            self.value(
                member
                    .type_code()
                    .ok_or(DynAnyError::InconsistentTypeCode)?,
            )?;
        }
        Ok(())
    }

    /// With the first member.
    fn union(&mut self, code: TypeRef<'_>) -> Result<(), DynAnyError> {
        let discriminator = code.discriminator_type();
        let discriminator = discriminator.ok_or(DynAnyError::InconsistentTypeCode)?;
        let discriminator = discriminator.unaliased();
        let first = code.member(0).ok_or(DynAnyError::InconsistentTypeCode)?;
        let label = match first.label() {
            Some(label) => Some(label),
            None => self.default_label(code, discriminator),
        };
        let label = label.ok_or(DynAnyError::InconsistentTypeCode)?;
        write_label(discriminator, label, self.writer);
        let member = code.selected_member(label).unwrap_or(first);
        self.value(
            member
                .type_code()
                .ok_or(DynAnyError::InconsistentTypeCode)?,
        )
    }

    /// A label of the default member. The labels of a type are searched once, not for each element
    /// of an array.
    fn default_label(&mut self, code: TypeRef<'_>, discriminator: TypeRef<'_>) -> Option<i64> {
        let label = self.default_labels.entry(code.identity());
        *label.or_insert_with(|| unused_label(code, discriminator))
    }

    fn array(&mut self, code: TypeRef<'_>) -> Result<(), DynAnyError> {
        let element = code
            .content_type()
            .ok_or(DynAnyError::InconsistentTypeCode)?
            .unaliased();
        let Some(others) = code.length().checked_sub(1) else {
            return Ok(());
        };
        let start = self.writer.len();
        self.value(element)?;
        // The others have as many octets as the first one, except for padding.
        let end = self.writer.len();
        let least = (end - start).saturating_sub(MAX_PADDING);
        if least.saturating_mul(others as usize) > self.limit.saturating_sub(end) {
            return Err(DynAnyError::TooLarge);
        }
        for _ in 0..others {
            self.value(element)?;
        }
        Ok(())
    }

    fn leaf(&mut self, code: TypeRef<'_>) {
        let writer = &mut *self.writer;
        match code.kind() {
            TCKind::Boolean | TCKind::Char | TCKind::Octet => writer.write_u8(0),
            TCKind::WChar => writer.write_wchar(WChar(0)),
            TCKind::Short | TCKind::UShort => writer.write_u16(0),
            TCKind::LongLong | TCKind::ULongLong | TCKind::Double => writer.write_u64(0),
            TCKind::LongDouble => writer.write_fixed(&orbium_cdr::LongDouble([0; 16])),
            TCKind::Fixed => write_packed_decimal(writer, 0, code.digits()),
            TCKind::String => writer.write_name(""),
            TCKind::WString => writer.write_wstr(""),
            TCKind::ObjRef | TCKind::Component | TCKind::Home => {
                writer.write_name("");
                writer.write_u32(0);
            }
            TCKind::Null | TCKind::Void => {}
            // An enumerator, null, a length, the TypeCode of no type, an any of that type.
            _ => writer.write_u32(0),
        }
    }
}
