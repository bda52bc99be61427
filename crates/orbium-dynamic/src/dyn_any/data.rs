// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data that is not expanded into components.

use std::borrow::Cow;
use std::sync::Arc;

use orbium_cdr::{
    Any, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Format, Owner, TCKind, TypeCode,
    TypeRef, skip_value,
};
use orbium_value::{Linked, MAX_DEPTH, ValueBase};

use super::basic::octets;
use super::error::DynAnyError;
use crate::owned_values::OwnedValues;
use crate::value_content::may_hold_values;

/// Values by number, for data assembled from several parts. The first is null, so that the tag of
/// null is also a number.
pub(super) type Numbered = Vec<Option<ValueBase>>;

/// Data that is not expanded into components.
#[derive(Clone)]
pub(super) enum Data {
    /// Of a type without valuetypes.
    Plain(Any),
    /// Of a type in which values of valuetypes may occur.
    Linked(Held),
}

/// Data with the graph of their values. These values are never changed: a DynAny with a changed
/// member creates a new value.
#[derive(Clone)]
pub(super) struct Held {
    linked: Linked,
    /// Kept until no DynAny uses the graph.
    _graph: Arc<OwnedValues>,
    /// Values around it that were expanded.
    depth: u32,
}

impl Data {
    /// The data of an any.
    pub(super) fn of(any: &Any) -> Result<Self, CdrError> {
        if may_hold_values(any.type_code().as_ref()) {
            Linked::new(any).map(Self::linked)
        } else {
            Ok(Self::Plain(any.clone()))
        }
    }

    /// The data of an any that may be malformed.
    pub(super) fn checked(any: &Any) -> Result<Self, DynAnyError> {
        let data = Self::of(any).map_err(|error| match error.kind {
            CdrErrorKind::UnknownValue => DynAnyError::InconsistentTypeCode,
            _ => DynAnyError::InvalidValue,
        })?;
        let mut octets = any.value_octets().to_vec();
        let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(data.owner());
        let skipped = skip_value(any.type_code().as_ref(), &mut reader);
        if skipped.is_ok() && reader.remaining() == 0 {
            Ok(data)
        } else {
            Err(DynAnyError::InvalidValue)
        }
    }

    /// Data with exclusively owned values.
    pub(super) fn linked(linked: Linked) -> Self {
        let graph = Arc::new(OwnedValues(linked.reachable()));
        Self::Linked(Held {
            linked,
            _graph: graph,
            depth: 0,
        })
    }

    /// Creates data of a type from octets in which numbers represent values.
    pub(super) fn any_of_parts(
        code: &TypeCode,
        octets: &mut [u8],
        values: Numbered,
        owner: Option<&Owner>,
    ) -> Result<Any, CdrError> {
        if may_hold_values(code.as_ref()) {
            let linked = Linked::of_parts(code.clone(), octets, values)?;
            return linked.with_owner(owner.cloned()).to_any();
        }
        let mut reader = CdrReader::new(octets, Format::native()).with_owner(owner);
        Any::read_value(code.clone(), &mut reader)
    }

    /// The initial value of a type; the octets have null for each value.
    pub(super) fn initial(code: &TypeCode, octets: &mut [u8]) -> Result<Self, CdrError> {
        if may_hold_values(code.as_ref()) {
            return Linked::of_parts(code.clone(), octets, vec![None]).map(Self::linked);
        }
        let mut reader = CdrReader::new(octets, Format::native());
        Any::read_value(code.clone(), &mut reader).map(Self::Plain)
    }

    pub(super) fn type_code(&self) -> &TypeCode {
        match self {
            Self::Plain(any) => any.type_code(),
            Self::Linked(held) => held.linked.type_code(),
        }
    }

    pub(super) fn octets(&self) -> &[u8] {
        match self {
            Self::Plain(any) => any.value_octets(),
            Self::Linked(held) => held.linked.octets(),
        }
    }

    /// The values referred to directly by the data.
    pub(super) fn values(&self) -> &[Option<ValueBase>] {
        match self {
            Self::Plain(_) => &[],
            Self::Linked(held) => held.linked.values(),
        }
    }

    pub(super) fn owner(&self) -> Option<&Owner> {
        match self {
            Self::Plain(any) => any.owner(),
            Self::Linked(held) => held.linked.owner(),
        }
    }

    pub(super) fn any(&self) -> Result<Cow<'_, Any>, CdrError> {
        Ok(match self {
            Self::Plain(any) => Cow::Borrowed(any),
            Self::Linked(held) => Cow::Owned(held.linked.to_any()?),
        })
    }

    /// The same data as that of an equivalent type.
    pub(super) fn retyped(self, code: &TypeCode) -> Result<Self, CdrError> {
        if self.type_code().equal(code) {
            Ok(self)
        } else {
            Self::of(&octets::retyped(&*self.any()?, code)?)
        }
    }

    /// Reads the data; [`part`](Self::part) reads parts of it.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        match self {
            Self::Plain(any) => octets::read(any, read),
            Self::Linked(held) => held.linked.read_with(read),
        }
    }

    /// Reads a part of this data. Its type is not searched for values: a peer may send a large type
    /// of which the data have many parts.
    pub(super) fn part(
        &self,
        code: TypeRef<'_>,
        reader: &mut CdrReader<'_>,
    ) -> Result<Self, CdrError> {
        match self {
            Self::Linked(held) if is_composite(code.unaliased().kind()) => Ok(Self::Linked(Held {
                linked: Linked::read(code.to_type_code(), reader)?,
                ..held.clone()
            })),
            _ => Any::read_value(code.to_type_code(), reader).map(Self::Plain),
        }
    }

    /// The value within data of type `any`.
    pub(super) fn inner(&self) -> Result<Self, CdrError> {
        self.read(|reader| {
            let code = TypeCode::decode(reader)?;
            self.part(code.as_ref(), reader)
        })
    }

    /// Appends the data to those being assembled.
    pub(super) fn write<'a>(
        &'a self,
        writer: &mut CdrWriter<'a>,
        values: &mut Numbered,
    ) -> Result<(), CdrError> {
        match self {
            Self::Plain(any) => any.write_part(writer),
            Self::Linked(held) => held.linked.write_part(writer, values)?,
        }
        Ok(())
    }

    /// The value of data of a valuetype, unless it is null.
    pub(super) fn value(&self) -> Option<&ValueBase> {
        match self.type_code().as_ref().unaliased().kind() {
            TCKind::Value | TCKind::ValueBox | TCKind::Event => self.values().first()?.as_ref(),
            _ => None,
        }
    }

    /// The state of an expanded value of the same graph.
    pub(super) fn state_of(&self, value: &ValueBase) -> Result<Self, CdrError> {
        let bad = CdrError::new(CdrErrorKind::BadValue, 0);
        let Self::Linked(held) = self else {
            return Err(bad);
        };
        Ok(Self::Linked(Held {
            linked: value.state().ok_or(bad)?,
            ..held.clone()
        }))
    }

    /// The same data within one more expanded value.
    ///
    /// # Errors
    /// [`CdrErrorKind::TooDeep`], for example for a cycle.
    pub(super) fn deeper(mut self) -> Result<Self, CdrError> {
        if let Self::Linked(held) = &mut self {
            held.depth += 1;
            if held.depth > MAX_DEPTH {
                return Err(CdrError::new(CdrErrorKind::TooDeep, 0));
            }
        }
        Ok(self)
    }
}

/// Whether data of a kind may contain values.
fn is_composite(kind: TCKind) -> bool {
    matches!(
        kind,
        TCKind::Struct
            | TCKind::Union
            | TCKind::Except
            | TCKind::Sequence
            | TCKind::Array
            | TCKind::Any
            | TCKind::Value
            | TCKind::ValueBox
            | TCKind::Event
            | TCKind::AbstractInterface
    )
}
