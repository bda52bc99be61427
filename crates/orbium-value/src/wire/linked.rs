// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data in which numbers represent the values of valuetypes.

use std::collections::HashSet;
use std::sync::Arc;

use orbium_cdr::{
    Any, CdrError, CdrErrorKind, CdrReader, CdrWriter, Format, Owner, OwnerWithValues, TypeCode,
    copy_kept, copy_value,
};

use crate::ValueBase;
use crate::factories::{Factories, ValueOwner};
use crate::wire::met::met;

/// Values by number.
pub(crate) type Numbered = Arc<[Option<ValueBase>]>;

/// Data of any type in which numbers represent the values of valuetypes: indices into
/// [`values`](Self::values).
///
/// The values are of types that [`TypeCode`]s describe: their [state](ValueBase::state) has the
/// same form.
///
/// ```
/// use orbium_cdr::{Any, walk_value};
/// use orbium_value::{Linked, idl_value};
///
/// idl_value! {
///     /// A link of a chain.
///     pub struct Link(LinkState): LINK_TYPE = "IDL:Link:1.0", Plain, [] {
///         public next: Option<Link> = &LINK_TYPE,
///     }
/// }
///
/// let last = Link::new(LinkState { next: None });
/// let linked = Linked::new(&Any::new(&vec![Some(last.clone()), Some(last)])?)?;
/// assert!(linked.values()[0].is_some());
/// assert_eq!(linked.values()[0], linked.values()[1]);
/// # Ok::<(), orbium_cdr::CdrError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Linked {
    data: Any,
    values: Numbered,
}

impl Linked {
    /// The data of an any.
    ///
    /// The values belong to the caller: cycles of them are freed once they are
    /// [broken](ValueBase::clear_state).
    ///
    /// # Errors
    /// As [`read_described`](crate::read_described).
    pub fn new(any: &Any) -> Result<Self, CdrError> {
        let mut octets = any.value_octets().to_vec();
        let owner = with_values(any.owner().cloned());
        let mut reader = CdrReader::new(&mut octets, Format::native()).with_owner(Some(&owner));
        met(&mut reader).describes = true;
        let read = Self::read(any.type_code().clone(), &mut reader);
        if read.is_err() {
            met(&mut reader).take_back();
        }
        read
    }

    /// The CDR encoding of a type in native byte order, in which each value is its number among
    /// `values`.
    ///
    /// # Errors
    /// As [`walk_value`](orbium_cdr::walk_value); [`CdrErrorKind::BadValue`] for an undefined
    /// number, or that of a value of another type than expected.
    pub fn of_parts(
        code: TypeCode,
        octets: &mut [u8],
        values: Vec<Option<ValueBase>>,
    ) -> Result<Self, CdrError> {
        let owner = with_values(None);
        let mut reader = CdrReader::new(octets, Format::native()).with_owner(Some(&owner));
        met(&mut reader).numbered = Some(values.into());
        Self::read(code, &mut reader)
    }

    /// Reads data of a type: from a message, or a part of other data that is
    /// [read](Self::read_with).
    ///
    /// # Errors
    /// As [`walk_value`](orbium_cdr::walk_value) and [`read_described`](crate::read_described).
    pub fn read(code: TypeCode, reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let outer = met(reader).collected.replace(Vec::new());
        let data = Any::read_value(code, reader)?;
        let values = core::mem::replace(&mut met(reader).collected, outer);
        let owner = with_values(data.owner().cloned());
        Ok(Self {
            data: data.with_owner(Some(owner)),
            values: values.unwrap_or_default().into(),
        })
    }

    /// The same data with an owner of the references in it.
    #[must_use]
    pub fn with_owner(self, owner: Option<Owner>) -> Self {
        let data = self.data.with_owner(Some(with_values(owner)));
        Self { data, ..self }
    }

    /// The owner of the references in the data, and of the types of values.
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        self.data.owner()
    }

    /// The octets of the data, in the form for [`of_parts`](Self::of_parts).
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        self.data.value_octets()
    }

    /// Appends the data to those assembled for [`of_parts`](Self::of_parts), and its values to
    /// `values`.
    ///
    /// # Errors
    /// As [`walk_value`](orbium_cdr::walk_value); [`CdrErrorKind::CountTooLarge`] for more
    /// than [`MAX_VALUES`](crate::MAX_VALUES) values.
    pub fn write_part(
        &self,
        writer: &mut CdrWriter<'_>,
        values: &mut Vec<Option<ValueBase>>,
    ) -> Result<(), CdrError> {
        self.read_with(|reader| {
            met(reader).collected = Some(core::mem::take(values));
            let copied = copy_kept(self.type_code().as_ref(), reader, writer);
            *values = met(reader).collected.take().unwrap_or_default();
            copied
        })
    }

    /// The type of the data.
    #[must_use]
    pub fn type_code(&self) -> &TypeCode {
        self.data.type_code()
    }

    /// The values in the order of the data; null is `None`.
    #[must_use]
    pub fn values(&self) -> &[Option<ValueBase>] {
        &self.values
    }

    /// Reads the data: where a value is expected, [`read_described`](crate::read_described) returns
    /// that of [`values`](Self::values).
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn read_with<T, E>(
        &self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut octets = self.data.value_octets().to_vec();
        let mut reader =
            CdrReader::new(&mut octets, Format::native()).with_owner(self.data.owner());
        met(&mut reader).numbered = Some(Arc::clone(&self.values));
        read(&mut reader)
    }

    /// The data as an any, with the values in it.
    ///
    /// # Errors
    /// As [`write_value`](crate::write_value).
    pub fn to_any(&self) -> Result<Any, CdrError> {
        let code = self.type_code().clone();
        let any = self.read_with(|reader| Any::read_value(code, reader))?;
        let factories = Factories::default();
        for value in self.reachable() {
            factories.register_like(&value);
        }
        let owner = self.data.owner().and_then(without_values);
        Ok(any.with_owner(Some(Arc::new(OwnerWithValues {
            owner: Box::new(owner),
            values: Some(Box::new(factories)),
        }))))
    }

    /// Every value that can be reached from these, each once.
    #[must_use]
    pub fn reachable(&self) -> Vec<ValueBase> {
        let mut met = HashSet::new();
        let mut reached = Vec::new();
        let mut pending: Vec<Option<ValueBase>> = self.values.to_vec();
        pending.reverse();
        while let Some(next) = pending.pop() {
            let Some(value) = next.filter(|value| met.insert(value.identity())) else {
                continue;
            };
            if let Some(state) = value.state() {
                pending.extend(state.values.iter().rev().cloned());
            }
            reached.push(value);
        }
        reached
    }

    /// Writes the data, with each value in its place.
    pub(crate) fn write(&self, writer: &mut CdrWriter<'_>) {
        writer.copying(|writer| {
            if let Some(owner) = self.data.owner() {
                writer.note_owner(owner);
            }
            let code = self.type_code().as_ref();
            if let Err(error) = self.read_with(|reader| copy_value(code, reader, writer)) {
                writer.fail(error.kind);
            }
        });
    }
}

/// An owner by which values are read.
fn with_values(owner: Option<Owner>) -> Owner {
    match owner {
        Some(owner) if ValueOwner::factories(&owner).is_some() => owner,
        owner => Arc::new(OwnerWithValues {
            owner: Box::new(owner),
            values: Some(Box::new(Factories::default())),
        }),
    }
}

/// The owner of an any's data without its values: an any derived repeatedly from another's data
/// still has a single owner around it.
fn without_values(owner: &Owner) -> Option<Owner> {
    let inner = owner
        .downcast_ref::<OwnerWithValues>()
        .and_then(|owner| owner.owner.downcast_ref::<Option<Owner>>());
    inner.map_or_else(|| Some(owner.clone()), Clone::clone)
}

/// Reads the number of a value.
pub(crate) fn read_number(
    values: &[Option<ValueBase>],
    reader: &mut CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    let number = reader.read_u32()? as usize;
    match values.get(number) {
        Some(value) => Ok(value.clone()),
        None => Err(reader.error(CdrErrorKind::BadValue)),
    }
}
