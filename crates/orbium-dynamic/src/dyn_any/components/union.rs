// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unions: the discriminator and the active member.

use orbium_cdr::{Any, CdrReader, CdrWriter, Format, MemberRef, TCKind};

use super::is_same_member;
use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::selected;
use crate::dyn_any::node::{Content, DynAny};
use crate::labels::{unused_label, write_label};

/// A [`DynAny`] of a `union` (`DynamicAny::DynUnion`): its components are the discriminator
/// and, if it selects one, the member.
#[derive(Debug)]
pub struct DynUnion<'d>(&'d mut DynAny);

impl DynAny {
    /// The value as a union.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_union(&mut self) -> Result<DynUnion<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Union => Ok(DynUnion(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }

    /// Activates the member that the discriminator selects, if another one is active: the
    /// discriminator may have been changed as a component.
    pub(crate) fn settle(&mut self) -> Result<(), DynAnyError> {
        let code = self.code.as_ref().unaliased();
        let Content::Union { parts, active } = &mut self.content else {
            return Ok(());
        };
        let discriminator = parts.first().ok_or(DynAnyError::InvalidValue)?;
        let selected = selected(code, discriminator)?;
        if is_same_member(code, selected, *active) {
            *active = selected;
            return Ok(());
        }
        let member = selected.and_then(|index| code.member(index)?.type_code());
        let member = member.map(|code| Self::of_type(&code.to_type_code()));
        let member = member.transpose()?;
        parts.truncate(1);
        parts.extend(member);
        *active = selected;
        let count = parts.len();
        self.position = self.position.map(|position| position.min(count - 1));
        Ok(())
    }
}

impl DynUnion<'_> {
    /// The value of the discriminator (`get_discriminator`).
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`] for a broken value.
    pub fn discriminator(&mut self) -> Result<DynAny, DynAnyError> {
        let parts = self.0.parts()?;
        Ok(parts.first().ok_or(DynAnyError::InvalidValue)?.copy())
    }

    /// Sets the discriminator. The active member is kept if it is still selected; otherwise the
    /// selected one becomes active and has its initial value. The member becomes the current
    /// component, or the discriminator if none is selected.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the value is of another type than the discriminator.
    pub fn set_discriminator(&mut self, value: &DynAny) -> Result<(), DynAnyError> {
        let parts = self.0.parts()?;
        let discriminator = parts.first_mut().ok_or(DynAnyError::InvalidValue)?;
        let before = discriminator.clone();
        discriminator.assign(value)?;
        if let Err(error) = self.0.settle() {
            // The member that is selected has no DynAny.
            if let Some(discriminator) = self.0.discriminator_part() {
                *discriminator = before;
            }
            return Err(error);
        }
        self.0.position = Some(self.0.component_count() - 1);
        Ok(())
    }

    /// Sets the discriminator to a value that selects the default member; it becomes the
    /// current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the type has no explicit default member.
    pub fn set_to_default_member(&mut self) -> Result<(), DynAnyError> {
        let has_default = self.0.plain_type().default_index().is_some();
        self.set_to_unused(has_default)?;
        self.0.position = Some(0);
        Ok(())
    }

    /// Sets the discriminator to a value that selects no member; it becomes the current
    /// component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the type has a default member, or labels for all
    /// values.
    pub fn set_to_no_active_member(&mut self) -> Result<(), DynAnyError> {
        let has_default = self.0.plain_type().default_index().is_some();
        self.set_to_unused(!has_default)?;
        self.0.position = Some(0);
        Ok(())
    }

    fn set_to_unused(&mut self, possible: bool) -> Result<(), DynAnyError> {
        let unused = self.unused_discriminator().filter(|_| possible);
        self.set_discriminator(&unused.ok_or(DynAnyError::TypeMismatch)?)
    }

    /// A value of the discriminator that is not a label.
    fn unused_discriminator(&self) -> Option<DynAny> {
        let code = self.0.plain_type();
        let discriminator = code.discriminator_type()?;
        let label = unused_label(code, discriminator.unaliased())?;
        let mut writer = CdrWriter::new(Format::native());
        write_label(discriminator.unaliased(), label, &mut writer);
        let mut octets = writer.finish().ok()?;
        let mut reader = CdrReader::new(&mut octets, Format::native());
        let any = Any::read_value(discriminator.to_type_code(), &mut reader).ok()?;
        Some(DynAny::of_part(Data::Plain(any)))
    }

    /// Whether the discriminator selects no member.
    #[must_use]
    pub fn has_no_active_member(&self) -> bool {
        self.0.component_count() < 2
    }

    /// The kind of the type of the discriminator, with aliases resolved.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if the type has none.
    pub fn discriminator_kind(&self) -> Result<TCKind, DynAnyError> {
        let code = self.0.plain_type().discriminator_type();
        Ok(code.ok_or(DynAnyError::InvalidValue)?.unaliased().kind())
    }

    /// The active member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if none is active.
    pub fn member(&mut self) -> Result<&mut DynAny, DynAnyError> {
        self.0.parts()?.get_mut(1).ok_or(DynAnyError::InvalidValue)
    }

    /// The name of the active member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if none is active.
    pub fn member_name(&mut self) -> Result<&str, DynAnyError> {
        let index = self.active()?;
        let member = self.0.plain_type().member(index);
        Ok(member.ok_or(DynAnyError::InvalidValue)?.name())
    }

    /// The kind of the type of the active member, with aliases resolved.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if none is active.
    pub fn member_kind(&mut self) -> Result<TCKind, DynAnyError> {
        let index = self.active()?;
        let member = self.0.plain_type().member(index);
        let code = member.and_then(MemberRef::type_code);
        Ok(code.ok_or(DynAnyError::InvalidValue)?.unaliased().kind())
    }

    fn active(&mut self) -> Result<usize, DynAnyError> {
        self.0.parts()?;
        match self.0.content {
            Content::Union {
                active: Some(index),
                ..
            } => Ok(index),
            _ => Err(DynAnyError::InvalidValue),
        }
    }
}

impl DynAny {
    /// The discriminator of a union with expanded components.
    fn discriminator_part(&mut self) -> Option<&mut Self> {
        match &mut self.content {
            Content::Union { parts, .. } => parts.first_mut(),
            _ => None,
        }
    }
}
