// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of types for which only the TypeCode is available.

pub(crate) mod described_types;
pub(crate) mod description;
use core::any::{Any, TypeId};
use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, CdrWriter, TypeCode, TypeRef, Typed};

use crate::described::description::{Description, fits, is_abstract};
use crate::factories::{Factories, Found, ValueOwner};
use crate::wire::header::{Header, Ids, Lead, first_known, lead};
use crate::wire::linked::{Linked, read_number};
use crate::wire::met::met;
use crate::wire::read::{begin, read_state};
use crate::{Class, Facet, Kind, State, ValueBase, never_new};

/// The class of all values of described types. It has no id: each value has its own.
static DESCRIBED: Class = Class {
    id: "",
    kind: Kind::Plain,
    bases: &[],
    derived: &[],
    custom: None,
    described: ValueBase::TYPE,
    make: || ValueBase::with_state(&DESCRIBED, Described { state: None }),
    read: |value, reader| {
        let Some(description) = value.description() else {
            return Err(reader.error(CdrErrorKind::BadValue));
        };
        let code = description.state().clone();
        let state = reader.with_free_steps(FREE_STEPS, |reader| Linked::read(code, reader))?;
        value.write_state::<Described>().state = Some(state);
        Ok(())
    },
    read_new: never_new,
};

/// Steps that reading a state by its TypeCode may take in addition to those for its octets.
///
/// A message may have a value for every few octets, and anys repeat values for fewer, so the free
/// steps of each are multiplied. Steps without octets are taken by empty structs, which IDL does
/// not permit, and arrays of them.
const FREE_STEPS: u32 = 128;

/// The state of such a value; `None` before it is set, and after a reset.
#[derive(Debug)]
struct Described {
    state: Option<Linked>,
}

impl State for Described {
    fn part(&self, of: TypeId) -> Option<&dyn Any> {
        (of == TypeId::of::<Self>()).then_some(self as &dyn Any)
    }

    fn part_mut(&mut self, of: TypeId) -> Option<&mut dyn Any> {
        (of == TypeId::of::<Self>()).then_some(self as &mut dyn Any)
    }

    fn write(&self, writer: &mut CdrWriter<'_>) {
        match &self.state {
            Some(state) => state.write(writer),
            None => writer.fail(CdrErrorKind::BadValue),
        }
    }

    fn reset(&mut self) {
        self.state = None;
    }
}

/// Values of types for which only the TypeCode is available.
impl ValueBase {
    /// A value of the type that a TypeCode describes. It has no state yet and cannot be
    /// written before [`set_state`](Self::set_state).
    ///
    /// # Errors
    /// [`CdrErrorKind::UnknownValue`] for a custom type, as a program interprets the state;
    /// [`CdrErrorKind::BadValue`] for an abstract one; [`CdrErrorKind::BadTypeCode`].
    pub fn described(code: TypeRef<'_>) -> Result<Self, CdrError> {
        let found = describe(code).map_err(|kind| CdrError::new(kind, 0))?;
        let made = found.1.make();
        made.ok_or(CdrError::new(CdrErrorKind::BadTypeCode, 0))
    }

    /// The type of the value itself.
    #[must_use]
    pub fn type_code(&self) -> TypeCode {
        match self.description() {
            Some(description) => description.code().to_type_code(),
            None => self.class().described.into(),
        }
    }

    /// The type of the state of a value that a TypeCode describes: a struct of the members of all
    /// concrete bases, the outermost first, and of its own; for a boxed value, of the single member
    /// `value`. `None` for a value of a compiled type.
    #[must_use]
    pub fn state_type(&self) -> Option<TypeCode> {
        Some(self.description()?.state().clone())
    }

    /// The state of a value that a TypeCode describes, of [that type](Self::state_type). `None`
    /// before it is set, and for a value of a compiled type.
    #[must_use]
    pub fn state(&self) -> Option<Linked> {
        self.description()?;
        self.read_state::<Described>().state.clone()
    }

    /// Sets the state of a value that a TypeCode describes.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadValue`] if the state is of another type than
    /// [`state_type`](Self::state_type).
    pub fn set_state(&self, state: Linked) -> Result<(), CdrError> {
        let wanted = self.state_type();
        if !wanted.is_some_and(|wanted| wanted.equivalent(state.type_code())) {
            return Err(CdrError::new(CdrErrorKind::BadValue, 0));
        }
        self.write_state::<Described>().state = Some(state);
        Ok(())
    }

    /// Drops the state of a value that a TypeCode describes, with the handles in it.
    pub fn clear_state(&self) {
        if self.description().is_some() {
            self.reset();
        }
    }

    /// Whether the value is assignable to type `formal`. A TypeCode does not name abstract bases:
    /// every value is assignable to them.
    #[must_use]
    pub fn fits(&self, formal: TypeRef<'_>) -> bool {
        is_abstract(formal)
            || match self.description() {
                Some(description) => fits(description.code(), formal),
                None => self.class().inherits(formal.id()),
            }
    }
}

impl Factories {
    /// Registers a type by its TypeCode: values of it are then read where a base of it is expected,
    /// for example within anys, though the program has no code for them. A type that is registered
    /// otherwise is not changed; returns whether it was.
    ///
    /// # Errors
    /// As [`ValueBase::described`].
    pub fn register_described(&self, code: TypeRef<'_>) -> Result<bool, CdrError> {
        let value = ValueBase::described(code)?;
        let is_registered = self.code_of(value.repository_id()).is_some();
        if !is_registered {
            self.register_like(&value);
        }
        Ok(is_registered)
    }
}

/// Reads a value, or null, where a type that a TypeCode describes is expected.
///
/// Its type is one registered with the owner of the reader, or `code` itself.
///
/// # Errors
/// As [`read_value`](crate::read_value); [`CdrErrorKind::UnknownValue`] also for a custom type that
/// is not registered, as its state cannot be interpreted. [`CdrErrorKind::CountTooLarge`] also for
/// a state with many parts without octets.
pub fn read_described(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    if let Some(values) = met(reader).numbered.clone() {
        let value = read_number(&values, reader)?;
        return fitting(value, code, reader);
    }
    let header = match lead(reader)? {
        Lead::Null => return Ok(None),
        Lead::Known(value) => return fitting(Some(value), code, reader),
        Lead::New(header) => header,
    };
    let found = choose(&header, code, reader).map_err(|kind| reader.error(kind))?;
    let value = begin(&header, &found, reader)?;
    // Values within this value, or truncated from it, are not part of the data around it.
    let outer = met(reader).collected.take();
    let read = read_state(&value, &header, reader);
    met(reader).collected = outer;
    read.map(|()| Some(value))
}

fn fitting(
    value: Option<ValueBase>,
    code: TypeRef<'_>,
    reader: &CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    if value.as_ref().is_none_or(|value| value.fits(code)) {
        Ok(value)
    } else {
        Err(reader.error(CdrErrorKind::BadValue))
    }
}

/// The type as which to read a value: the first of its ids with a known type, or the expected type.
fn choose(
    header: &Header,
    formal: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
) -> Result<Found, CdrErrorKind> {
    match header.ids {
        Ids::None if is_abstract(formal) => Err(CdrErrorKind::BadValue),
        Ids::None => known(formal.id(), formal, reader)?.ok_or(CdrErrorKind::UnknownValue),
        _ => first_known(header, reader, |id, reader| known(id, formal, reader)),
    }
}

/// The type of an id: the registered or the expected one.
fn known(
    id: &str,
    formal: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
) -> Result<Option<Found>, CdrErrorKind> {
    let describes = met(reader).describes;
    let factories = reader
        .owner()
        .and_then(|owner| ValueOwner::factories(owner));
    if let Some(factories) = factories {
        match factories.compiled(id).filter(|_| !describes) {
            Some(found) if is_abstract(formal) || found.class.inherits(formal.id()) => {
                return Ok(Some(found));
            }
            _ => {}
        }
        if let Some(code) = factories.code_of(id)
            && fits(code.as_ref(), formal)
        {
            return described(code.as_ref(), reader).map(Some);
        }
    }
    if id == formal.id() && !is_abstract(formal) {
        described(formal, reader).map(Some)
    } else {
        Ok(None)
    }
}

/// The type that a TypeCode describes, cached in the state of the message.
fn described(code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<Found, CdrErrorKind> {
    let code = code.unaliased();
    if let Some(found) = met(reader).described.of_code(code) {
        return Ok(found);
    }
    let (description, found) = describe(code)?;
    let octets = reader.position();
    let types = &mut met(reader).described;
    types.add(description, found.clone(), octets)?;
    Ok(found)
}

fn describe(code: TypeRef<'_>) -> Result<(Arc<Description>, Found), CdrErrorKind> {
    let description = Arc::new(Description::new(code)?);
    let facets = Arc::new(vec![Facet::of(Arc::clone(&description))]);
    Ok((description, Found::like(&DESCRIBED, Some(facets))))
}
