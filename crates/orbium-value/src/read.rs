// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to values.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader};

use crate::factories::Found;
use crate::write::{CHUNKED, CODEBASE, INDIRECTION, LIST_OF_IDS, ONE_ID, VALUE_TAG};
use crate::{Class, Kind, MAX_ANY_DEPTH, MAX_DEPTH, MAX_VALUES, ValueBase};

/// Repository ids of one value that are read.
const MAX_IDS: usize = 64;

/// The flags that a tag may have.
const FLAGS: u32 = CODEBASE | LIST_OF_IDS | CHUNKED;

type Id = Arc<str>;

/// What was read of a message's values, all in order of position.
#[derive(Debug, Default)]
struct Met {
    /// Where tags are. A value that was skipped is none.
    values: Vec<(usize, Option<ValueBase>)>,
    ids: Vec<(usize, Id)>,
    lists: Vec<(usize, Arc<[Id]>)>,
    codebases: Vec<usize>,
    /// The latest type that was found: for most values it is that of the one before.
    latest: Option<Latest>,
    depth: u32,
    /// Anys of values around the next octet.
    anys: u32,
    /// Octets of values that were copied into anys.
    copied: usize,
}

/// A type that was found by one id.
#[derive(Debug)]
struct Latest {
    id: Id,
    formal: &'static Class,
    found: Found,
}

/// Octets of values that are copied into anys for each octet of the message, and a few
/// besides: indirections make much of little.
const COPIES: usize = 16;
const FREE_COPIES: usize = 1 << 16;

/// What stands before the state of a value.
struct Header {
    /// Where its tag is.
    at: usize,
    ids: Ids,
    is_chunked: bool,
}

enum Ids {
    None,
    One(Id),
    List(Arc<[Id]>),
}

impl Ids {
    fn as_slice(&self) -> &[Id] {
        match self {
            Self::None => &[],
            Self::One(id) => core::slice::from_ref(id),
            Self::List(ids) => ids,
        }
    }
}

/// What a tag leads to.
enum Lead {
    Null,
    Known(ValueBase),
    New(Header),
}

/// Reads a value, or null, where type `formal` is expected.
///
/// # Errors
/// [`CdrErrorKind::BadValue`] for a header, chunk or indirection that cannot be, and for a
/// value of another type. [`CdrErrorKind::UnknownValue`] if neither its type is known nor one
/// that it may be truncated to. [`CdrErrorKind::TooDeep`] beyond [`MAX_DEPTH`],
/// [`CdrErrorKind::CountTooLarge`] beyond [`MAX_VALUES`]. Else what is wrong with its state.
pub fn read_value(
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Option<ValueBase>, CdrError> {
    let header = match lead(reader)? {
        Lead::Null => return Ok(None),
        Lead::Known(value) if value.class().is_a(formal) => return Ok(Some(value)),
        Lead::Known(_) => return Err(reader.error(CdrErrorKind::BadValue)),
        Lead::New(header) => header,
    };
    let found = match known(&header, formal, reader) {
        Some(found) => found,
        None => choose(&header, formal, reader).map_err(|kind| reader.error(kind))?,
    };
    let Some(value) = found.make() else {
        return Err(reader.error(CdrErrorKind::UnknownValue));
    };
    enter(header.at, Some(value.clone()), reader)?;
    if header.is_chunked {
        reader.enter_chunks()?;
    }
    match &found.class.custom {
        Some(custom) => (custom.unmarshal)(&value, reader)?,
        None => (found.class.read)(&value, reader)?,
    }
    leave(&header, reader)?;
    Ok(Some(value))
}

/// Skips a value in the part of another one that is cut off.
fn skip_value(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if let Lead::New(header) = lead(reader)? {
        enter(header.at, None, reader)?;
        reader.enter_chunks()?;
        leave(&header, reader)?;
    }
    Ok(())
}

fn met<'r>(reader: &'r mut CdrReader<'_>) -> &'r mut Met {
    reader.message_state()
}

/// Enters a value where indirections find it, before its state is read.
fn enter(at: usize, value: Option<ValueBase>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let met = met(reader);
    if met.depth == MAX_DEPTH {
        return Err(reader.error(CdrErrorKind::TooDeep));
    }
    if met.values.len() == MAX_VALUES {
        return Err(reader.error(CdrErrorKind::CountTooLarge));
    }
    met.depth += 1;
    met.values.push((at, value));
    Ok(())
}

/// Goes into a value within an any. What is read there is written and may be read again, so
/// that each level doubles the work.
pub(crate) fn enter_any(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let met = met(reader);
    if met.anys == MAX_ANY_DEPTH {
        return Err(reader.error(CdrErrorKind::TooDeep));
    }
    met.anys += 1;
    Ok(())
}

/// A value within an any was copied, with so many octets.
pub(crate) fn leave_any(octets: usize, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let most = FREE_COPIES + COPIES * reader.position();
    let met = met(reader);
    met.anys -= 1;
    met.copied += octets;
    match met.copied > most {
        true => Err(reader.error(CdrErrorKind::CountTooLarge)),
        false => Ok(()),
    }
}

fn leave(header: &Header, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    if header.is_chunked {
        reader.leave_chunks(&mut skip_value)?;
    }
    met(reader).depth -= 1;
    Ok(())
}

/// Reads a tag and what belongs to it.
fn lead(reader: &mut CdrReader<'_>) -> Result<Lead, CdrError> {
    let tag = reader.read_value_tag()?;
    let at = reader.position() - 4;
    let flags = tag.wrapping_sub(VALUE_TAG);
    match tag {
        0 => Ok(Lead::Null),
        INDIRECTION => {
            let target = target(reader)?;
            match found(&met(reader).values, target) {
                Some(Some(value)) => Ok(Lead::Known(value)),
                // It was skipped, as its type is not known.
                Some(None) => Err(reader.error(CdrErrorKind::UnknownValue)),
                None => Err(reader.error(CdrErrorKind::BadValue)),
            }
        }
        _ if flags & !FLAGS != 0 => Err(reader.error(CdrErrorKind::BadValue)),
        _ => {
            let is_chunked = flags & CHUNKED != 0;
            if !is_chunked && reader.chunk_depth() > 0 {
                return Err(reader.error(CdrErrorKind::BadValue));
            }
            if flags & CODEBASE != 0 {
                codebase(reader)?;
            }
            let ids = match flags & LIST_OF_IDS {
                0 => Ids::None,
                ONE_ID => Ids::One(id(reader)?),
                LIST_OF_IDS => Ids::List(list(reader)?),
                _ => return Err(reader.error(CdrErrorKind::BadValue)),
            };
            Ok(Lead::New(Header {
                at,
                ids,
                is_chunked,
            }))
        }
    }
}

/// The type of the value before, if this one has the same id in the same place.
fn known(header: &Header, formal: &'static Class, reader: &mut CdrReader<'_>) -> Option<Found> {
    let Ids::One(id) = &header.ids else {
        return None;
    };
    let latest = met(reader).latest.as_ref()?;
    let is_same = Arc::ptr_eq(&latest.id, id) && core::ptr::eq(latest.formal, formal);
    is_same.then(|| latest.found.clone())
}

/// The type to read a value as: the first of its ids that is known, or the expected one.
fn choose(
    header: &Header,
    formal: &'static Class,
    reader: &mut CdrReader<'_>,
) -> Result<Found, CdrErrorKind> {
    let ids = header.ids.as_slice();
    if ids.is_empty() {
        return match formal.kind {
            Kind::Abstract => Err(CdrErrorKind::BadValue),
            _ => Ok(Found::formal(formal, reader)),
        };
    }
    for (index, id) in ids.iter().enumerate() {
        if let Some(found) = Found::find(id, formal, reader) {
            if let Ids::One(id) = &header.ids {
                let (id, found) = (Arc::clone(id), found.clone());
                met(reader).latest = Some(Latest { id, formal, found });
            }
            // What is cut off must have an end.
            return match index == 0 || header.is_chunked {
                true => Ok(found),
                false => Err(CdrErrorKind::BadValue),
            };
        }
    }
    Err(CdrErrorKind::UnknownValue)
}

/// Reads the offset of an indirection. Returns the position that it points to.
fn target(reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    let offset = reader.read_u32()? as i32;
    let at = reader.position() - 4;
    let distance = offset.unsigned_abs() as usize;
    if offset >= -4 || distance > at {
        return Err(reader.error(CdrErrorKind::BadValue));
    }
    Ok(at - distance)
}

/// What was met at a position.
fn found<T: Clone>(met: &[(usize, T)], at: usize) -> Option<T> {
    let index = met.binary_search_by_key(&at, |(at, _)| *at).ok()?;
    met.get(index).map(|(_, found)| found.clone())
}

/// Reads a string that may be an indirection: its position, and its text if it is there.
fn text(reader: &mut CdrReader<'_>) -> Result<(usize, Option<Id>), CdrError> {
    let length = reader.read_u32()?;
    if length == INDIRECTION {
        return Ok((target(reader)?, None));
    }
    let at = reader.position() - 4;
    let octets = reader.take(length as usize)?;
    let text = octets
        .split_last()
        .filter(|(last, text)| **last == 0 && !text.contains(&0));
    match text.and_then(|(_, text)| core::str::from_utf8(text).ok()) {
        Some(text) => Ok((at, Some(text.into()))),
        None => Err(reader.error(CdrErrorKind::BadString)),
    }
}

fn id(reader: &mut CdrReader<'_>) -> Result<Id, CdrError> {
    match text(reader)? {
        (at, Some(id)) => {
            met(reader).ids.push((at, Arc::clone(&id)));
            Ok(id)
        }
        (at, None) => {
            let id = found(&met(reader).ids, at);
            id.ok_or_else(|| reader.error(CdrErrorKind::BadValue))
        }
    }
}

/// The URLs of implementations are skipped: this ORB loads no code.
fn codebase(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    match text(reader)? {
        (at, Some(_)) => met(reader).codebases.push(at),
        (at, None) if met(reader).codebases.binary_search(&at).is_err() => {
            return Err(reader.error(CdrErrorKind::BadValue));
        }
        _ => {}
    }
    Ok(())
}

fn list(reader: &mut CdrReader<'_>) -> Result<Arc<[Id]>, CdrError> {
    let count = reader.read_u32()?;
    if count == INDIRECTION {
        let at = target(reader)?;
        let list = found(&met(reader).lists, at);
        return list.ok_or_else(|| reader.error(CdrErrorKind::BadValue));
    }
    let at = reader.position() - 4;
    let count = count as usize;
    if count == 0 || count > MAX_IDS {
        return Err(reader.error(CdrErrorKind::CountTooLarge));
    }
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(id(reader)?);
    }
    let ids: Arc<[Id]> = ids.into();
    met(reader).lists.push((at, Arc::clone(&ids)));
    Ok(ids)
}
