// SPDX-License-Identifier: MIT OR Apache-2.0
//! Enumerators.

use orbium_cdr::{Any, MemberRef, TCKind};

use crate::dyn_any::data::Data;
use crate::dyn_any::error::DynAnyError;
use crate::dyn_any::node::Content;
use crate::dyn_any::node::DynAny;
use crate::labels::label_of;

/// A [`DynAny`] of an `enum` (`DynamicAny::DynEnum`).
#[derive(Debug)]
pub struct DynEnum<'d>(&'d mut DynAny);

impl DynAny {
    /// The value as an enumerator.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_enum(&mut self) -> Result<DynEnum<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Enum => Ok(DynEnum(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }
}

impl DynEnum<'_> {
    /// The name of the enumerator, without its scope (`get_as_string`).
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`] for a malformed value.
    pub fn as_string(&self) -> Result<&str, DynAnyError> {
        let ordinal = self.as_ulong()?;
        let enumerator = self.0.plain_type().member(ordinal as usize);
        Ok(enumerator.ok_or(DynAnyError::InvalidValue)?.name())
    }

    /// Sets the enumerator by its name.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is no enumerator of that name.
    pub fn set_as_string(&mut self, name: &str) -> Result<(), DynAnyError> {
        let found = self.0.plain_type().members().find(|it| it.name() == name);
        let ordinal = found
            .map(MemberRef::index)
            .ok_or(DynAnyError::InvalidValue)?;
        self.set(ordinal as u32)
    }

    /// The number of the enumerator, from 0 on (`get_as_ulong`).
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`] for a broken value.
    pub fn as_ulong(&self) -> Result<u32, DynAnyError> {
        Ok(label_of(&self.0.to_any()?)? as u32)
    }

    /// Sets the enumerator by its number.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if the number is out of range.
    pub fn set_as_ulong(&mut self, ordinal: u32) -> Result<(), DynAnyError> {
        self.set(ordinal)
    }

    fn set(&mut self, ordinal: u32) -> Result<(), DynAnyError> {
        if ordinal as usize >= self.0.plain_type().member_count() {
            return Err(DynAnyError::InvalidValue);
        }
        let any = Any::with_type(self.0.code.clone(), &ordinal)?;
        self.0.content = Content::Whole(Data::Plain(any));
        Ok(())
    }
}
