// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions of the types of values.

use orbium::value::ValueBase;
use orbium::{ExceptionKind, Interface, Orb, SystemException, reference::NarrowError};

use crate::INTERFACE_REPOSITORY;
use crate::corba::{Repository, ValueDef};

/// The definition of a value's type in the Interface Repository that the ORB has configured
/// (CORBA's `ValueBase::get_value_def`). `None` without a repository, if it lacks the type, and for
/// a boxed value: its type is not a ValueDef.
///
/// # Errors
/// The repository cannot be called.
pub fn value_def(orb: &Orb, value: &ValueBase) -> Result<Option<ValueDef>, SystemException> {
    let Ok(repository) = orb.resolve_initial_references(INTERFACE_REPOSITORY) else {
        return Ok(None);
    };
    let found = Repository::from_object(repository).lookup_id(value.repository_id())?;
    let Some(found) = found else {
        return Ok(None);
    };
    match found.as_object().narrow() {
        Ok(definition) => Ok(Some(definition)),
        Err(NarrowError::WrongType) => Ok(None),
        Err(NarrowError::Nil) => Err(ExceptionKind::InvObjref.into()),
        Err(NarrowError::System(exception)) => Err(exception),
    }
}
