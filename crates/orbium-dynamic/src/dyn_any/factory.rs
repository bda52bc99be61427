// SPDX-License-Identifier: MIT OR Apache-2.0
//! Construction of DynAnys (`DynamicAny::DynAnyFactory`).

use orbium_cdr::{Any, TypeCode};

use super::data::Data;
use super::error::DynAnyError;
use super::initial::initial_value;
use super::node::Content;
use super::node::{DynAny, has_dyn_any};

/// The factory.
impl DynAny {
    /// A DynAny with the type and a copy of the value of an any (`create_dyn_any`).
    ///
    /// # Errors
    /// [`DynAnyError::InconsistentTypeCode`] for a type without DynAnys: `native`, `Principal`, and
    /// local or abstract interfaces, and for values of custom types anywhere in the any, as only a
    /// program interprets their state; [`DynAnyError::InvalidValue`] if the any does not contain a
    /// value of its type.
    pub fn new(any: &Any) -> Result<Self, DynAnyError> {
        check(any.type_code())?;
        let content = Content::Whole(Data::checked(any)?);
        Ok(Self::with_content(any.type_code().clone(), content))
    }

    /// A DynAny with the initial value of a type (`create_dyn_any_from_type_code`): `FALSE`, zero,
    /// empty, nil, null, no type, the first enumerator; in a union the first member.
    ///
    /// # Errors
    /// [`DynAnyError::InconsistentTypeCode`] as from [`new`](Self::new), also for a type with such
    /// a part; [`DynAnyError::TooLarge`] if its arrays have too many elements,
    /// or it has more than 256 MiB.
    pub fn of_type(code: &TypeCode) -> Result<Self, DynAnyError> {
        check(code)?;
        let content = Content::Whole(initial_value(code)?);
        Ok(Self::with_content(code.clone(), content))
    }

    /// A DynAny of each any (`create_multiple_dyn_anys`).
    ///
    /// # Errors
    /// As from [`new`](Self::new), for the first any that has no DynAny.
    pub fn new_all<'a>(anys: impl IntoIterator<Item = &'a Any>) -> Result<Vec<Self>, DynAnyError> {
        anys.into_iter().map(Self::new).collect()
    }

    /// An any of each DynAny (`create_multiple_anys`).
    ///
    /// # Errors
    /// As from [`to_any`](Self::to_any), for the first that has no any.
    pub fn to_anys<'d>(
        dyn_anys: impl IntoIterator<Item = &'d Self>,
    ) -> Result<Vec<Any>, DynAnyError> {
        dyn_anys.into_iter().map(Self::to_any).collect()
    }
}

fn check(code: &TypeCode) -> Result<(), DynAnyError> {
    if has_dyn_any(code.as_ref().unaliased().kind()) {
        Ok(())
    } else {
        Err(DynAnyError::InconsistentTypeCode)
    }
}
