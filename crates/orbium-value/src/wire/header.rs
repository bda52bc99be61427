// SPDX-License-Identifier: MIT OR Apache-2.0
//! Header of a value on the wire: its tag, and the ids of its type.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader};

use crate::factories::Found;
use crate::wire::met::{Id, found, met};
use crate::wire::write::{CHUNKED, CODEBASE, INDIRECTION, LIST_OF_IDS, ONE_ID, VALUE_TAG};
use crate::{MAX_ID_LENGTH, ValueBase};

/// Maximum number of repository ids of one value that are read.
const MAX_IDS: usize = 64;

/// The flags that a tag may have.
const FLAGS: u32 = CODEBASE | LIST_OF_IDS | CHUNKED;

/// The header before the state of a value.
pub(crate) struct Header {
    /// The position of its tag.
    pub(crate) at: usize,
    pub(crate) ids: Ids,
    pub(crate) is_chunked: bool,
}

pub(crate) enum Ids {
    None,
    /// The position of the id, which may be empty.
    One(usize),
    List(Arc<[Id]>),
}

/// The meaning of a tag.
pub(crate) enum Lead {
    Null,
    Known(ValueBase),
    New(Header),
}

/// Reads a tag and the data that belong to it.
pub(crate) fn lead(reader: &mut CdrReader<'_>) -> Result<Lead, CdrError> {
    let tag = reader.read_value_tag()?;
    let at = reader.position() - 4;
    let flags = tag.wrapping_sub(VALUE_TAG);
    match tag {
        0 => Ok(Lead::Null),
        INDIRECTION => {
            let target = target(reader)?;
            let met = met(reader);
            met.recurs = true;
            met.note_lent();
            match met.value_at(target) {
                Some(Some(value)) => Ok(Lead::Known(value)),
                // It was skipped, as its type is unknown.
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

/// The type of the first id for which `known` returns one.
///
/// # Errors
/// [`CdrErrorKind::UnknownValue`] if there is none; [`CdrErrorKind::BadValue`] if the value would
/// have to be truncated, and has no end tag.
pub(crate) fn first_known(
    header: &Header,
    reader: &mut CdrReader<'_>,
    known: impl Fn(&str, &mut CdrReader<'_>) -> Result<Option<Found>, CdrErrorKind>,
) -> Result<Found, CdrErrorKind> {
    let id;
    let ids: &[Id] = match &header.ids {
        Ids::None => &[],
        Ids::One(at) => {
            id = found(&met(reader).ids, *at).ok_or(CdrErrorKind::BadValue)?;
            core::slice::from_ref(&id)
        }
        Ids::List(ids) => ids,
    };
    for (index, id) in ids.iter().enumerate() {
        if let Some(found) = known(id, reader)? {
            return if index == 0 || header.is_chunked {
                Ok(found)
            } else {
                Err(CdrErrorKind::BadValue)
            };
        }
    }
    Err(CdrErrorKind::UnknownValue)
}

/// The last id of a value: that of the base nearest to the expected type.
pub(crate) fn last_id(header: &Header, reader: &mut CdrReader<'_>) -> Option<Id> {
    match &header.ids {
        Ids::None => None,
        Ids::One(at) => found(&met(reader).ids, *at),
        Ids::List(ids) => ids.last().cloned(),
    }
}

/// Reads the offset of an indirection. Returns the position that it points to.
#[inline]
fn target(reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    let offset = reader.read_u32()? as i32;
    let at = reader.position() - 4;
    let distance = offset.unsigned_abs() as usize;
    if offset >= -4 || distance > at {
        return Err(reader.error(CdrErrorKind::BadValue));
    }
    Ok(at - distance)
}

/// Reads a string of that length. Also returns the position of its length.
fn text(length: u32, reader: &mut CdrReader<'_>) -> Result<(usize, Id), CdrError> {
    let at = reader.position() - 4;
    let octets = reader.take(length as usize)?;
    let text = octets
        .split_last()
        .filter(|(last, text)| **last == 0 && !text.contains(&0));
    match text.and_then(|(_, text)| core::str::from_utf8(text).ok()) {
        Some(text) => Ok((at, text.into())),
        None => Err(reader.error(CdrErrorKind::BadString)),
    }
}

/// Reads an id, or an indirection to one. Returns its position.
#[inline]
fn id(reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    match reader.read_u32()? {
        INDIRECTION => target(reader),
        length => new_id(length, reader),
    }
}

fn new_id(length: u32, reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    if length as usize > MAX_ID_LENGTH + 1 {
        return Err(reader.error(CdrErrorKind::BadValue));
    }
    let (at, id) = text(length, reader)?;
    met(reader).ids.push((at, id));
    Ok(at)
}

/// The URLs of implementations are skipped: this ORB loads no code.
fn codebase(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    match reader.read_u32()? {
        INDIRECTION => {
            let at = target(reader)?;
            match met(reader).codebases.binary_search(&at) {
                Ok(_) => Ok(()),
                Err(_) => Err(reader.error(CdrErrorKind::BadValue)),
            }
        }
        length => {
            let (at, _) = text(length, reader)?;
            met(reader).codebases.push(at);
            Ok(())
        }
    }
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
        let at = id(reader)?;
        let id = found(&met(reader).ids, at);
        ids.push(id.ok_or_else(|| reader.error(CdrErrorKind::BadValue))?);
    }
    let ids: Arc<[Id]> = ids.into();
    met(reader).lists.push((at, Arc::clone(&ids)));
    Ok(ids)
}
