// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole values: assignment, anys, comparison, copies.

use std::fmt;

use orbium_cdr::{Any, CdrWriter, Format, Owner};

use super::basic::octets::retyped;
use super::comparison;
use super::components::write;
use super::data::Data;
use super::error::DynAnyError;
use super::node::{Content, DynAny};

/// Whole values.
impl DynAny {
    /// Copies the value of another DynAny. The type is unchanged.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the types are not equivalent.
    pub fn assign(&mut self, other: &Self) -> Result<(), DynAnyError> {
        if !self.code.equivalent(&other.code) {
            return Err(DynAnyError::TypeMismatch);
        }
        self.content = Content::Whole(Data::of(&retyped(&other.to_any()?, &self.code)?)?);
        self.rewind();
        Ok(())
    }

    /// Copies the value of an any. The type is unchanged.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the types are not equivalent,
    /// [`DynAnyError::InvalidValue`] if the any does not contain a value of its type.
    pub fn from_any(&mut self, any: &Any) -> Result<(), DynAnyError> {
        if !self.code.equivalent(any.type_code()) {
            return Err(DynAnyError::TypeMismatch);
        }
        self.content = Content::Whole(Data::checked(any)?);
        self.rewind();
        Ok(())
    }

    /// The value as an any of the type.
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`], for example for a value that is nested too deep.
    pub fn to_any(&self) -> Result<Any, DynAnyError> {
        if let Content::Whole(data) = &self.content {
            return Ok(retyped(&*data.any()?, &self.code)?);
        }
        let mut writer = CdrWriter::new(Format::native());
        let mut values = vec![None];
        write(self, &mut writer, &mut values)?;
        let mut octets = writer.finish()?;
        let any = Data::any_of_parts(&self.code, &mut octets, values, self.owner());
        Ok(any?)
    }

    /// The owner of the references in it.
    pub(super) fn owner(&self) -> Option<&Owner> {
        match &self.content {
            Content::Whole(data) => data.owner(),
            Content::Parts(parts) | Content::Union { parts, .. } => {
                parts.iter().find_map(Self::owner)
            }
            Content::Value(members) => members.parts.iter().find_map(Self::owner),
        }
    }

    /// Whether the types are equivalent and the components equal, regardless of the cursors.
    /// Numbers are equal bit for bit: NaN to itself, and 0.0 not to -0.0. Values of valuetypes are
    /// equal if their types are equivalent, their members equal, and the same ones shared.
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`], for example for a value that is nested too deep.
    pub fn equal(&self, other: &Self) -> Result<bool, DynAnyError> {
        if !self.code.equivalent(&other.code) {
            return Ok(false);
        }
        comparison::equal(&Data::of(&self.to_any()?)?, &Data::of(&other.to_any()?)?)
    }

    /// A copy with separate components, and the cursor at the first of them.
    #[must_use]
    pub fn copy(&self) -> Self {
        let mut copy = self.clone();
        copy.rewind();
        copy
    }

    /// Ends a DynAny and its components, like dropping it.
    pub fn destroy(self) {}
}

impl fmt::Debug for DynAny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("DynAny");
        match self.to_any() {
            Ok(any) => shown.field("value", &any),
            Err(error) => shown.field("value", &error),
        };
        shown.field("position", &self.position).finish()
    }
}
