// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ValueBase`, which all value types inherit.

use core::any::{Any, TypeId};

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Type, Typed};

use crate::described::description::VALUE_BASE_ID;
use crate::{Class, Kind, State, ValueBase, ValueType};

/// The state of no value.
#[derive(Debug)]
struct NoState;

impl State for NoState {
    fn part(&self, _: TypeId) -> Option<&dyn Any> {
        None
    }

    fn part_mut(&mut self, _: TypeId) -> Option<&mut dyn Any> {
        None
    }

    fn write(&self, _: &mut CdrWriter<'_>) {}

    fn reset(&mut self) {}
}

/// `ValueBase`, which all value types inherit.
pub(crate) static VALUE_BASE: Class = Class {
    id: VALUE_BASE_ID,
    kind: Kind::Abstract,
    bases: &[],
    derived: &[],
    custom: None,
    described: &Type::value(VALUE_BASE_ID, "ValueBase", 0, None, &[]),
    make: stateless,
    read: unreadable,
    read_new: never_new,
};

/// `make` of an abstract type: a value that fits no type.
#[doc(hidden)]
#[must_use]
pub fn stateless() -> ValueBase {
    ValueBase::with_state(&VALUE_BASE, NoState)
}

/// `read` of an abstract type: an error.
#[doc(hidden)]
#[allow(clippy::missing_errors_doc)]
pub fn unreadable(_: &ValueBase, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    Err(reader.error(CdrErrorKind::BadValue))
}

/// `read_new` of a type that the ORB cannot create with its state: an error.
#[doc(hidden)]
#[allow(clippy::missing_errors_doc)]
pub fn never_new(_: usize, reader: &mut CdrReader<'_>) -> Result<ValueBase, CdrError> {
    Err(reader.error(CdrErrorKind::BadValue))
}

impl ValueType for ValueBase {
    fn class() -> &'static Class {
        &VALUE_BASE
    }

    fn wrap(value: ValueBase) -> Self {
        value
    }

    fn as_value(&self) -> &ValueBase {
        self
    }
}

impl Typed for ValueBase {
    const TYPE: &'static Type = VALUE_BASE.described;
}
