// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of valuetypes and boxed values.

use orbium_cdr::{Any, MemberRef, TCKind, TypeCode};

use super::components::structure::{anys_of, current_member, parts_of_members};
use super::error::DynAnyError;
use super::initial::initial_value;
use super::node::{Content, DynAny, Members};

/// A [`DynAny`] of a `valuetype` or `eventtype` (`DynamicAny::DynValue`): its components are the
/// members of all concrete bases, the outermost first, and its own, including private ones. They
/// are those of the value itself, which may be of a type that inherits that of the DynAny. Null has
/// none.
///
/// A value that occurs in several places of a graph, or within itself, is expanded in each of them:
/// a change of a member creates a new value in its place, and the others are unchanged. Unchanged
/// values remain shared, and cycles remain cycles.
#[derive(Debug)]
pub struct DynValue<'d>(&'d mut DynAny);

/// A [`DynAny`] of a boxed value (`DynamicAny::DynValueBox`), which is its only component; null has
/// none.
#[derive(Debug)]
pub struct DynValueBox<'d>(&'d mut DynAny);

impl DynAny {
    /// The value as that of a valuetype.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_value(&mut self) -> Result<DynValue<'_>, DynAnyError> {
        match self.kind() {
            TCKind::Value | TCKind::Event => Ok(DynValue(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }

    /// The value as a boxed value.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if it is of another type.
    pub fn as_value_box(&mut self) -> Result<DynValueBox<'_>, DynAnyError> {
        match self.kind() {
            TCKind::ValueBox => Ok(DynValueBox(self)),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }

    /// The type of the state of a value of a valuetype, a struct; `None` for null.
    pub(super) fn state_type(&self) -> Option<TypeCode> {
        match &self.content {
            Content::Value(members) => Some(members.state.clone()),
            Content::Whole(data) => data.value()?.state_type(),
            _ => None,
        }
    }

    fn is_null_value(&self) -> bool {
        self.state_type().is_none()
    }

    fn set_to_null_value(&mut self) -> Result<(), DynAnyError> {
        self.content = Content::Whole(initial_value(&self.code)?);
        self.rewind();
        Ok(())
    }

    fn set_to_new_value(&mut self) -> Result<(), DynAnyError> {
        if self.is_null_value() {
            self.content = Content::Value(Members::initial(&self.code)?);
            self.rewind();
        }
        Ok(())
    }

    /// The members of a non-null value.
    fn value_members(&mut self) -> Result<&mut Members, DynAnyError> {
        self.parts()?;
        match &mut self.content {
            Content::Value(members) => Ok(members),
            _ => Err(DynAnyError::InvalidValue),
        }
    }

    /// Sets all members; null becomes a value.
    fn set_value_members(&mut self, values: &[(&str, &Any)]) -> Result<(), DynAnyError> {
        let mut members = if self.is_null_value() {
            Members::initial(&self.code)?
        } else {
            self.value_members()?.clone()
        };
        members.parts = parts_of_members(members.state.as_ref(), values)?;
        self.content = Content::Value(members);
        self.rewind();
        Ok(())
    }
}

/// The operations common to both (`DynamicAny::DynValueCommon`).
macro_rules! common {
    ($name:ident) => {
        impl $name<'_> {
            /// Whether the value is null.
            #[must_use]
            pub fn is_null(&self) -> bool {
                self.0.is_null_value()
            }

            /// Sets the value to null.
            ///
            /// # Errors
            /// [`DynAnyError::Marshal`] if the type is malformed.
            pub fn set_to_null(&mut self) -> Result<(), DynAnyError> {
                self.0.set_to_null_value()
            }

            /// Replaces null by a value of the type of the DynAny with initial members; another
            /// value is unchanged.
            ///
            /// # Errors
            /// [`DynAnyError::InconsistentTypeCode`] for an abstract or custom type, and for
            /// members that have no DynAny. The value then remains null.
            pub fn set_to_value(&mut self) -> Result<(), DynAnyError> {
                self.0.set_to_new_value()
            }
        }
    };
}

common!(DynValue);
common!(DynValueBox);

impl DynValue<'_> {
    /// The name of the current member.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the value is null or has no members,
    /// [`DynAnyError::InvalidValue`] if none is current.
    pub fn current_member_name(&self) -> Result<String, DynAnyError> {
        self.current(|member| Some(member.name().to_owned()))
    }

    /// The kind of the type of the current member, with aliases resolved.
    ///
    /// # Errors
    /// As from [`current_member_name`](Self::current_member_name).
    pub fn current_member_kind(&self) -> Result<TCKind, DynAnyError> {
        self.current(|member| Some(member.type_code()?.unaliased().kind()))
    }

    fn current<T>(&self, of: impl FnOnce(MemberRef<'_>) -> Option<T>) -> Result<T, DynAnyError> {
        let state = self.0.state_type().ok_or(DynAnyError::TypeMismatch)?;
        let current = current_member(state.as_ref(), self.0.position)?;
        of(current).ok_or(DynAnyError::InvalidValue)
    }

    /// The names and values of all members in order (`get_members`).
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if the value is null; [`DynAnyError::Marshal`] for values
    /// nested in more than [`MAX_DEPTH`](orbium_value::MAX_DEPTH) expanded ones.
    pub fn members(&mut self) -> Result<Vec<(String, Any)>, DynAnyError> {
        anys_of(self.members_as_dyn_any()?)
    }

    /// The names of all members in order, and the members themselves
    /// (`get_members_as_dyn_any`).
    ///
    /// # Errors
    /// As from [`members`](Self::members).
    pub fn members_as_dyn_any(&mut self) -> Result<Vec<(String, &mut DynAny)>, DynAnyError> {
        let Members { state, parts, .. } = self.0.value_members()?;
        let names = state.as_ref().members().map(|it| it.name().to_owned());
        Ok(names.zip(parts).collect())
    }

    /// Sets all members; an empty name matches any. Null becomes a value of the type of the DynAny.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] for too few or too many,
    /// [`DynAnyError::TypeMismatch`] for a wrong name or type, both without a change; as from
    /// [`set_to_value`](Self::set_to_value).
    pub fn set_members<'m>(
        &mut self,
        members: impl IntoIterator<Item = (&'m str, &'m Any)>,
    ) -> Result<(), DynAnyError> {
        let members: Vec<_> = members.into_iter().collect();
        self.0.set_value_members(&members)
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

impl DynValueBox<'_> {
    /// The value in the box (`get_boxed_value`).
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if the value is null; [`DynAnyError::Marshal`] as from
    /// [`DynValue::members`].
    pub fn boxed_value(&mut self) -> Result<Any, DynAnyError> {
        self.boxed_value_as_dyn_any()?.to_any()
    }

    /// The value in the box (`get_boxed_value_as_dyn_any`).
    ///
    /// # Errors
    /// As from [`boxed_value`](Self::boxed_value).
    pub fn boxed_value_as_dyn_any(&mut self) -> Result<&mut DynAny, DynAnyError> {
        let boxed = self.0.value_members()?.parts.first_mut();
        boxed.ok_or(DynAnyError::InvalidValue)
    }

    /// Sets the content of the box; null becomes a box.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a content of another type. Nothing is set then.
    pub fn set_boxed_value(&mut self, boxed: &Any) -> Result<(), DynAnyError> {
        self.0.set_value_members(&[("", boxed)])
    }

    /// As [`set_boxed_value`](Self::set_boxed_value).
    ///
    /// # Errors
    /// As from [`set_boxed_value`](Self::set_boxed_value).
    pub fn set_boxed_value_as_dyn_any(&mut self, boxed: &DynAny) -> Result<(), DynAnyError> {
        self.set_boxed_value(&boxed.to_any()?)
    }
}
