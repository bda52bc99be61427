// SPDX-License-Identifier: MIT OR Apache-2.0
//! The components of a value.

mod component_values;
pub(crate) mod elements;
mod members;
pub(crate) mod structure;
pub(crate) mod union;
use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter, TCKind, TypeRef};

use super::data::{Data, Numbered};
use super::error::DynAnyError;
use super::initial::write_initial;
use super::node::{Content, DynAny, Members, count, discriminator, selected};
use crate::labels::label_of;

impl DynAny {
    /// The current component; `None` if there is none.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if values of the type have no components, such as those of
    /// basic types and exceptions without members.
    pub fn current_component(&mut self) -> Result<Option<&mut Self>, DynAnyError> {
        if !self.may_have_components() {
            return Err(DynAnyError::TypeMismatch);
        }
        let position = self.position;
        let parts = self.parts()?;
        Ok(position.and_then(|position| parts.get_mut(position)))
    }

    /// The components, after pending effects of changes of the discriminator.
    pub(super) fn parts(&mut self) -> Result<&mut [Self], DynAnyError> {
        Ok(self.parts_as_list()?.map_or(&mut [], Vec::as_mut_slice))
    }

    /// The components as a list of variable length; `None` for a basic type.
    pub(super) fn parts_as_list(&mut self) -> Result<Option<&mut Vec<Self>>, DynAnyError> {
        if let Content::Whole(data) = &self.content
            && let Some(opened) = opened(self.plain_type(), data)?
        {
            self.content = opened;
        }
        self.settle()?;
        Ok(match &mut self.content {
            Content::Whole(_) => None,
            Content::Parts(parts) | Content::Union { parts, .. } => Some(parts),
            Content::Value(members) => Some(&mut members.parts),
        })
    }
}

/// The components of unexpanded data; `None` if the type has none, and for null.
pub(super) fn opened(code: TypeRef<'_>, data: &Data) -> Result<Option<Content>, DynAnyError> {
    let count = match code.kind() {
        TCKind::Struct | TCKind::Except | TCKind::Union | TCKind::Sequence | TCKind::Array => {
            count(code, data)?
        }
        TCKind::Value | TCKind::ValueBox | TCKind::Event => {
            let members = data.value().map(|value| Members::of(data, value));
            return Ok(members.transpose()?.map(Content::Value));
        }
        _ => return Ok(None),
    };
    if count > DynAny::MAX_COMPONENTS {
        return Err(DynAnyError::TooLarge);
    }
    let mut parts = Vec::new();
    if parts.try_reserve(count).is_err() {
        return Err(CdrError::new(CdrErrorKind::NoMemory, 0).into());
    }
    let mut active = None;
    data.read(|reader| match code.kind() {
        TCKind::Union => {
            let discriminator = discriminator(code, reader)?;
            let member = code.selected_member(label_of(&discriminator)?);
            parts.push(DynAny::of_part(Data::Plain(discriminator)));
            active = member.map(orbium_cdr::MemberRef::index);
            match member {
                Some(member) => part(data, member.type_code(), reader, &mut parts),
                None => Ok(()),
            }
        }
        TCKind::Sequence | TCKind::Array => {
            if code.kind() == TCKind::Sequence {
                reader.read_u32()?;
            }
            (0..count).try_for_each(|_| part(data, code.content_type(), reader, &mut parts))
        }
        kind => {
            if kind == TCKind::Except {
                reader.read_name()?;
            }
            code.members()
                .try_for_each(|member| part(data, member.type_code(), reader, &mut parts))
        }
    })?;
    Ok(Some(match code.kind() {
        TCKind::Union => Content::Union { parts, active },
        _ => Content::Parts(parts),
    }))
}

fn part(
    data: &Data,
    code: Option<TypeRef<'_>>,
    reader: &mut CdrReader<'_>,
    parts: &mut Vec<DynAny>,
) -> Result<(), CdrError> {
    let code = code.ok_or_else(|| reader.error(CdrErrorKind::BadTypeCode))?;
    parts.push(DynAny::of_part(data.part(code, reader)?));
    Ok(())
}

/// Writes a value in the form in which an any stores it, with numbers for values of valuetypes.
pub(super) fn write<'a>(
    dyn_any: &'a DynAny,
    writer: &mut CdrWriter<'a>,
    values: &mut Numbered,
) -> Result<(), DynAnyError> {
    let code = dyn_any.code.as_ref().unaliased();
    match &dyn_any.content {
        Content::Whole(data) => data.write(writer, values)?,
        Content::Value(members) => {
            let value = members.value()?;
            writer.write_count(values.len());
            values.push(Some(value));
        }
        Content::Parts(parts) => {
            match code.kind() {
                TCKind::Except => writer.write_name(code.id()),
                TCKind::Sequence => writer.write_count(parts.len()),
                _ => {}
            }
            for part in parts {
                write(part, writer, values)?;
            }
        }
        Content::Union { parts, active } => {
            let Some((discriminator, member)) = parts.split_first() else {
                return Err(DynAnyError::InvalidValue);
            };
            write(discriminator, writer, values)?;
            let selected = selected(code, discriminator)?;
            match (selected, member.first()) {
                (None, _) => {}
                (Some(_), Some(member)) if is_same_member(code, selected, *active) => {
                    write(member, writer, values)?;
                }
                // The discriminator was changed as a component.
                (Some(index), _) => {
                    let member = code
                        .member(index)
                        .and_then(orbium_cdr::MemberRef::type_code);
                    write_initial(member.ok_or(DynAnyError::InvalidValue)?, writer)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether two indices denote the same member, which has one for each of its labels.
pub(super) fn is_same_member(code: TypeRef<'_>, one: Option<usize>, other: Option<usize>) -> bool {
    if one == other {
        return true;
    }
    let member = |index: Option<usize>| code.member(index?);
    match (member(one), member(other)) {
        (Some(one), Some(other)) => !one.name().is_empty() && one.name() == other.name(),
        _ => false,
    }
}
