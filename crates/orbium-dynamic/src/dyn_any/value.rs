// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole values: assignment, anys, comparison, copies.

use std::fmt;

use orbium_cdr::{Any, CdrErrorKind, CdrReader, CdrWriter, Format, Owner, TCKind, skip_value};

use super::components::write;
use super::error::DynAnyError;
use super::node::{Content, DynAny};
use super::octets::{read, retyped};

/// Whole values.
impl DynAny {
    /// Takes the value of another. The type stays as it is.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the types are not equivalent.
    pub fn assign(&mut self, other: &Self) -> Result<(), DynAnyError> {
        if !self.code.equivalent(&other.code) {
            return Err(DynAnyError::TypeMismatch);
        }
        self.content = Content::Whole(retyped(&other.to_any()?, &self.code)?);
        self.rewind();
        Ok(())
    }

    /// Takes the value of an any. The type stays as it is.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the types are not equivalent,
    /// [`DynAnyError::InvalidValue`] if the any holds no value of its type.
    pub fn from_any(&mut self, any: &Any) -> Result<(), DynAnyError> {
        if !self.code.equivalent(any.type_code()) {
            return Err(DynAnyError::TypeMismatch);
        }
        self.content = checked(any)?;
        self.rewind();
        Ok(())
    }

    /// The value as an any of the type.
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`], as for a value that is nested too deep.
    pub fn to_any(&self) -> Result<Any, DynAnyError> {
        if let Content::Whole(any) = &self.content {
            return Ok(retyped(any, &self.code)?);
        }
        let mut writer = CdrWriter::new(Format::native());
        write(self, &mut writer)?;
        let mut octets = writer.finish()?;
        let owner = self.owner().cloned();
        let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(owner.as_ref());
        Ok(Any::read_value(self.code.clone(), &mut reader)?)
    }

    /// The owner of the references in it.
    fn owner(&self) -> Option<&Owner> {
        match &self.content {
            Content::Whole(any) => any.owner(),
            Content::Parts(parts) | Content::Union { parts, .. } => {
                parts.iter().find_map(Self::owner)
            }
        }
    }

    /// Whether the types are equivalent and the components equal, whatever the cursors.
    /// Numbers are equal bit for bit: NaN to itself, and 0.0 not to -0.0.
    ///
    /// # Errors
    /// [`DynAnyError::Marshal`], as for a value that is nested too deep.
    pub fn equal(&self, other: &Self) -> Result<bool, DynAnyError> {
        if !self.code.equivalent(&other.code) {
            return Ok(false);
        }
        let (one, other) = (self.to_any()?, other.to_any()?);
        if one.value_octets() == other.value_octets() {
            return Ok(true);
        }
        equal_parts(one, other)
    }

    /// A copy with components of its own, and the cursor at the first of them.
    #[must_use]
    pub fn copy(&self) -> Self {
        let mut copy = self.clone();
        copy.rewind();
        copy
    }

    /// The end of a DynAny and of its components; dropping it is the same.
    pub fn destroy(self) {}
}

/// The value of an any, checked.
pub(super) fn checked(any: &Any) -> Result<Content, DynAnyError> {
    let walked = read(any, |reader| {
        skip_value(any.type_code().as_ref(), reader)?;
        match reader.remaining() {
            0 => Ok(()),
            _ => Err(reader.error(CdrErrorKind::CountTooLarge)),
        }
    });
    walked.map_err(|_| DynAnyError::InvalidValue)?;
    Ok(Content::Whole(any.clone()))
}

/// Compares values of equivalent types that are other octets: TypeCodes in them may differ
/// in names.
fn equal_parts(one: Any, other: Any) -> Result<bool, DynAnyError> {
    let (mut one, mut other) = (DynAny::of_part(one), DynAny::of_part(other));
    match one.kind() {
        TCKind::Any => {
            let (one, other) = (one.get_any()?, other.get_any()?);
            DynAny::of_part(one).equal(&DynAny::of_part(other))
        }
        TCKind::TypeCode => Ok(one.get_typecode()?.equivalent(&other.get_typecode()?)),
        _ => {
            let (ones, others) = (one.parts()?, other.parts()?);
            let mut is_equal = !ones.is_empty() && ones.len() == others.len();
            for (one, other) in ones.iter().zip(others.iter()) {
                is_equal = is_equal && one.equal(other)?;
            }
            Ok(is_equal)
        }
    }
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
