// SPDX-License-Identifier: MIT OR Apache-2.0
//! Members of structs and exceptions.

use std::borrow::Borrow;

use orbium_cdr::{Any, MemberRef, TCKind, TypeRef};

use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::DynAny;

/// A [`DynAny`] of a `struct` or `exception` (`DynamicAny::DynStruct`).
#[derive(Debug)]
pub struct DynStruct<'d>(&'d mut DynAny);

impl DynAny {
    /// The value as a struct or exception.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_struct(&mut self) -> Result<DynStruct<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Struct | TCKind::Except => Ok(DynStruct(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }
}

impl DynStruct<'_> {
    /// The name of the current member; may be empty.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the type has no members,
    /// [`DynAnyError::InvalidValue`] if none is current.
    pub fn current_member_name(&self) -> Result<&str, DynAnyError> {
        Ok(self.current()?.name())
    }

    /// The kind of the type of the current member, with aliases resolved.
    ///
    /// # Errors
    /// As from [`current_member_name`](Self::current_member_name).
    pub fn current_member_kind(&self) -> Result<TCKind, DynAnyError> {
        let code = self.current()?.type_code();
        Ok(code.ok_or(DynAnyError::InvalidValue)?.unaliased().kind())
    }

    fn current(&self) -> Result<MemberRef<'_>, DynAnyError> {
        current_member(self.0.plain_type(), self.0.position)
    }

    /// The names and values of all members in order (`get_members`).
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`] for a broken value.
    pub fn members(&mut self) -> Result<Vec<(String, Any)>, DynAnyError> {
        anys_of(self.members_as_dyn_any()?)
    }

    /// The names of all members in order, and the members themselves
    /// (`get_members_as_dyn_any`).
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`] for a broken value.
    pub fn members_as_dyn_any(&mut self) -> Result<Vec<(String, &mut DynAny)>, DynAnyError> {
        let names = self.0.plain_type().members();
        let names: Vec<String> = names.map(|it| it.name().to_owned()).collect();
        Ok(names.into_iter().zip(self.0.parts()?).collect())
    }

    /// Sets all members. An empty name matches any.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] for too few or too many,
    /// [`DynAnyError::TypeMismatch`] for a wrong name or type. Nothing is set then.
    pub fn set_members<'m>(
        &mut self,
        members: impl IntoIterator<Item = (&'m str, &'m Any)>,
    ) -> Result<(), DynAnyError> {
        let members: Vec<_> = members.into_iter().collect();
        let parts = parts_of_members(self.0.plain_type(), &members)?;
        self.0.set_parts(parts);
        Ok(())
    }

    /// As [`set_members`](Self::set_members).
    ///
    /// # Errors
    /// As from [`set_members`](Self::set_members).
    pub fn set_members_as_dyn_any<'m>(
        &mut self,
        members: impl IntoIterator<Item = (&'m str, &'m DynAny)>,
    ) -> Result<(), DynAnyError> {
        let members = anys_of(members)?;
        self.set_members(members.iter().map(|(name, value)| (*name, value)))
    }
}

/// The current member of a type with a cursor over its members.
///
/// # Errors
/// [`DynAnyError::TypeMismatch`] if there are no members, [`DynAnyError::InvalidValue`] if none is
/// current.
pub(crate) fn current_member(
    code: TypeRef<'_>,
    position: Option<usize>,
) -> Result<MemberRef<'_>, DynAnyError> {
    if code.member_count() == 0 {
        return Err(DynAnyError::TypeMismatch);
    }
    let current = position.and_then(|position| code.member(position));
    current.ok_or(DynAnyError::InvalidValue)
}

/// Members with their values as anys.
pub(crate) fn anys_of<N, D: Borrow<DynAny>>(
    members: impl IntoIterator<Item = (N, D)>,
) -> Result<Vec<(N, Any)>, DynAnyError> {
    let members = members.into_iter();
    members
        .map(|(name, value)| Ok((name, value.borrow().to_any()?)))
        .collect()
}

/// Components with the values of all members of a type; an empty name matches any.
pub(crate) fn parts_of_members(
    code: TypeRef<'_>,
    members: &[(&str, &Any)],
) -> Result<Vec<DynAny>, DynAnyError> {
    if members.len() != code.member_count() {
        return Err(DynAnyError::InvalidValue);
    }
    let mut parts = Vec::with_capacity(members.len());
    for (member, (name, value)) in code.members().zip(members) {
        let is_named = name.is_empty() || member.name().is_empty() || *name == member.name();
        if !is_named {
            return Err(DynAnyError::TypeMismatch);
        }
        let code = member.type_code().ok_or(DynAnyError::InvalidValue)?;
        parts.push(DynAny::part_from(code, value)?);
    }
    Ok(parts)
}
