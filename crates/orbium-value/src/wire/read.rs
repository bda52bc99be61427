// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to values.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Decode};

use crate::base::VALUE_BASE;
use crate::factories::{Found, ValueOwner};
use crate::wire::header::{Header, Ids, Lead, first_known, last_id, lead};
use crate::wire::met::{Latest, found, met};
use crate::wire::write::{INDIRECTION, ONE_ID, VALUE_TAG};
use crate::{Class, HasState, Kind, ValueBase};

/// Types of one message by which values in truncated parts are looked up.
const MAX_FORMALS: usize = 8;

/// Reads a value of type `formal`, or null.
///
/// # Errors
/// [`CdrErrorKind::BadValue`] for an invalid header, chunk or indirection, and for a value of
/// another type. [`CdrErrorKind::UnknownValue`] if neither its type nor one to which it may be
/// truncated is known. [`CdrErrorKind::TooDeep`] beyond [`MAX_DEPTH`](crate::MAX_DEPTH),
/// [`CdrErrorKind::CountTooLarge`] beyond [`MAX_VALUES`](crate::MAX_VALUES). Otherwise the error in
/// its state.
pub fn read_value(
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    if let Some(read) = read_like_latest(formal, reader)? {
        return Ok(Some(read));
    }
    let header = match lead(reader)? {
        Lead::Null => return Ok(None),
        Lead::Known(value) if value.class().is_a(formal) => return Ok(Some(value)),
        Lead::Known(_) => return Err(reader.error(CdrErrorKind::BadValue)),
        Lead::New(header) => header,
    };
    let value = match begin_like_latest(&header, formal, reader)? {
        Some(value) => value,
        None => {
            note_expected(formal, reader);
            let found = match choose(&header, formal, reader) {
                Err(CdrErrorKind::UnknownValue) => choose_base(&header, formal, reader),
                found => found,
            };
            let found = found.map_err(|kind| reader.error(kind))?;
            begin(&header, &found, reader)?
        }
    };
    read_state(&value, &header, reader)?;
    Ok(Some(value))
}

/// Reads a value of the same type as the previous one in the same place, if its header is only an
/// indirection to the same id, the common case.
#[inline]
fn read_like_latest(
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    let Some((at, [tag, INDIRECTION, offset])) = reader.peek_longs() else {
        return Ok(None);
    };
    if tag != VALUE_TAG | ONE_ID {
        return Ok(None);
    }
    let id_at = (at + 8).wrapping_add_signed(offset as i32 as isize);
    let met = met(reader);
    let class = match &met.latest {
        Some(latest) if latest.id_at == id_at && core::ptr::eq(latest.formal, formal) => {
            latest.found.without_factory()
        }
        _ => None,
    };
    let Some(class) = class else {
        return Ok(None);
    };
    let begun = met.begin_state(at, class);
    let number = begun.map_err(|kind| reader.error(kind))?;
    reader.skip_longs(3)?;
    (class.read_new)(number, reader).map(Some)
}

/// Reads the state of a value that was entered under its number, and creates the value.
#[doc(hidden)]
#[allow(clippy::missing_errors_doc)]
pub fn read_new<V: HasState>(
    number: usize,
    reader: &mut CdrReader<'_>,
) -> Result<ValueBase, CdrError> {
    let state = V::State::decode(reader)?;
    let is_at_end = reader.remaining() == 0;
    Ok(met(reader).end_state(number, V::class(), state, is_at_end))
}

/// Enters a value of the previous type, if it has the same id in the same place.
fn begin_like_latest(
    header: &Header,
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    let Ids::One(id_at) = header.ids else {
        return Ok(None);
    };
    let met = met(reader);
    let begun = match &met.latest {
        Some(latest) if latest.id_at == id_at && core::ptr::eq(latest.formal, formal) => {
            let made = latest.found.make();
            met.begin(header.at, made)
        }
        _ => return Ok(None),
    };
    begun.map(Some).map_err(|kind| reader.error(kind))
}

/// Enters a value of that type.
pub(crate) fn begin(
    header: &Header,
    found: &Found,
    reader: &mut CdrReader<'_>,
) -> Result<ValueBase, CdrError> {
    let begun = met(reader).begin(header.at, found.make());
    begun.map_err(|kind| reader.error(kind))
}

/// Reads the state of a value that was entered.
pub(crate) fn read_state(
    value: &ValueBase,
    header: &Header,
    reader: &mut CdrReader<'_>,
) -> Result<(), CdrError> {
    if header.is_chunked {
        reader.enter_chunks()?;
    }
    let class = value.class();
    match &class.custom {
        Some(custom) => (custom.unmarshal)(value, reader)?,
        None => (class.read)(value, reader)?,
    }
    leave(header, reader)
}

/// Skips a value in a truncated part of another one. If its type is known it is read, as an
/// indirection may refer to it.
fn pass_value(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let Lead::New(header) = lead(reader)? else {
        return Ok(());
    };
    if let Some(found) = find_unexpected(&header, reader) {
        let value = begin(&header, &found, reader)?;
        return read_state(&value, &header, reader);
    }
    let entered = met(reader).enter_skipped(header.at);
    entered.map_err(|kind| reader.error(kind))?;
    reader.enter_chunks()?;
    leave(&header, reader)
}

/// The type of a value where none is expected: a registered one, or one known to a previously
/// expected type.
fn find_unexpected(header: &Header, reader: &mut CdrReader<'_>) -> Option<Found> {
    if matches!(header.ids, Ids::None) {
        return None;
    }
    let formals = met(reader).formals.clone();
    let found = core::iter::once(&VALUE_BASE)
        .chain(formals)
        .find_map(|formal| choose(header, formal, reader).ok());
    found.or_else(|| find_described(header, reader))
}

/// The type of a value among those created from their TypeCodes.
fn find_described(header: &Header, reader: &mut CdrReader<'_>) -> Option<Found> {
    let met = met(reader);
    let id = match &header.ids {
        Ids::None => return None,
        Ids::One(at) => found(&met.ids, *at)?,
        Ids::List(ids) => Arc::clone(ids.first()?),
    };
    met.described.with_id(&id)
}

fn leave(header: &Header, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if header.is_chunked {
        reader.leave_chunks(&mut pass_value)?;
    }
    let is_at_end = reader.remaining() == 0;
    met(reader).leave(is_at_end);
    Ok(())
}

/// The type as which to read a value: the first of its ids with a known type, or the expected type.
fn choose(
    header: &Header,
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Found, CdrErrorKind> {
    if matches!(header.ids, Ids::None) {
        return match formal.kind {
            Kind::Abstract => Err(CdrErrorKind::BadValue),
            _ => Ok(Found::formal(formal, reader)),
        };
    }
    let found = first_known(header, reader, |id, reader| {
        Ok(Found::find(id, formal, reader))
    })?;
    if let Ids::One(id_at) = header.ids {
        let found = found.clone();
        met(reader).latest = Some(Latest {
            id_at,
            formal,
            found,
        });
    }
    Ok(found)
}

/// The type to which a value is truncated if its message names no known type: one of the bases that
/// the registered function returns.
#[cold]
fn choose_base(
    header: &Header,
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Found, CdrErrorKind> {
    let unknown = CdrErrorKind::UnknownValue;
    let last = last_id(header, reader).filter(|_| header.is_chunked);
    let last = last.ok_or(unknown)?;
    let owner = reader.owner().cloned().ok_or(unknown)?;
    let factories = ValueOwner::factories(&owner).ok_or(unknown)?;
    let bases = factories.bases_of(&last);
    let found = bases.iter().find_map(|id| Found::find(id, formal, reader));
    found.ok_or(unknown)
}

fn note_expected(formal: &'static Class, reader: &mut CdrReader<'_>) {
    let formals = &mut met(reader).formals;
    let is_new = !formals.iter().any(|noted| core::ptr::eq(*noted, formal));
    if is_new && formals.len() < MAX_FORMALS {
        formals.push(formal);
    }
}
