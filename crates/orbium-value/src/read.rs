// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to values.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader};

use crate::base::VALUE_BASE;
use crate::described_types::DescribedTypes;
use crate::factories::Found;
use crate::write::{CHUNKED, CODEBASE, INDIRECTION, LIST_OF_IDS, ONE_ID, VALUE_TAG};
use crate::{Class, Kind, MAX_ANY_DEPTH, MAX_DEPTH, MAX_VALUES, ValueBase};

/// Repository ids of one value that are read.
const MAX_IDS: usize = 64;

/// Types of one message that values in parts cut off are looked up by.
const MAX_FORMALS: usize = 8;

/// The flags that a tag may have.
const FLAGS: u32 = CODEBASE | LIST_OF_IDS | CHUNKED;

type Id = Arc<str>;

/// What was read of a message's values, all in order of position.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Where tags are. A value that was skipped is none.
    values: Vec<(usize, Option<ValueBase>)>,
    pub(crate) ids: Vec<(usize, Id)>,
    lists: Vec<(usize, Arc<[Id]>)>,
    codebases: Vec<usize>,
    /// The latest type that was found: for most values it is that of the one before.
    latest: Option<Latest>,
    /// Some of the types that were expected, by which values in parts that are cut off are found.
    formals: Vec<&'static Class>,
    /// The types that were found by their TypeCodes.
    pub(crate) described: DescribedTypes,
    /// Whether compiled types are read by their TypeCodes, too.
    pub(crate) describes: bool,
    /// Where numbers are to stand for values, the values of the present data.
    pub(crate) collected: Option<Vec<Option<ValueBase>>>,
    /// In data where numbers stand for values, the values.
    pub(crate) numbered: Option<Arc<[Option<ValueBase>]>>,
    depth: u32,
    /// Anys of values around the next octet.
    anys: u32,
    /// Octets of values that were copied into anys.
    copied: usize,
    /// Whether a value was returned that is not for an any.
    is_lent: bool,
    /// Whether a value was met again, so that there may be cycles.
    recurs: bool,
}

/// Values that were for anys alone end with the message: cycles of them are broken.
impl Drop for Met {
    fn drop(&mut self) {
        if self.recurs && !self.is_lent {
            let values = core::mem::take(&mut self.values);
            values
                .iter()
                .filter_map(|(_, value)| value.as_ref())
                .for_each(ValueBase::reset);
        }
    }
}

/// A type that was found by one id.
#[derive(Debug)]
struct Latest {
    /// Where the id is.
    id_at: usize,
    formal: &'static Class,
    found: Found,
}

impl Met {
    /// Enters a value where indirections find it, before its state is read.
    fn enter(&mut self, at: usize, value: Option<ValueBase>) -> Result<(), CdrErrorKind> {
        if self.depth == MAX_DEPTH {
            return Err(CdrErrorKind::TooDeep);
        }
        if self.values.len() == MAX_VALUES {
            return Err(CdrErrorKind::CountTooLarge);
        }
        self.note_lent();
        self.depth += 1;
        self.values.push((at, value));
        Ok(())
    }

    /// A value is about to be returned, to the program if it is for no any.
    fn note_lent(&mut self) {
        self.is_lent |= self.depth == 0 && self.anys == 0;
    }

    /// No value that was returned is used: cycles of them end with the message.
    pub(crate) fn take_back(&mut self) {
        self.is_lent = false;
    }

    /// Enters the value that a factory made, if it made one of the right type.
    fn begin(&mut self, at: usize, made: Option<ValueBase>) -> Result<ValueBase, CdrErrorKind> {
        let value = made.ok_or(CdrErrorKind::UnknownValue)?;
        self.enter(at, Some(value.clone()))?;
        Ok(value)
    }
}

/// Octets of values that are copied into anys for each octet of the message, and a few
/// besides: indirections make much of little.
const COPIES: usize = 16;
const FREE_COPIES: usize = 1 << 16;

/// What stands before the state of a value.
pub(crate) struct Header {
    /// Where its tag is.
    at: usize,
    pub(crate) ids: Ids,
    pub(crate) is_chunked: bool,
}

pub(crate) enum Ids {
    None,
    /// The id at that position, or nothing at all.
    One(usize),
    List(Arc<[Id]>),
}

/// What a tag leads to.
pub(crate) enum Lead {
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
    let value = match begin_like_latest(&header, formal, reader)? {
        Some(value) => value,
        None => {
            note_expected(formal, reader);
            let found = choose(&header, formal, reader).map_err(|kind| reader.error(kind))?;
            begin(&header, &found, reader)?
        }
    };
    read_state(&value, &header, reader)?;
    Ok(Some(value))
}

/// Enters a value of the type before, if this one has the same id in the same place.
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

/// Passes a value in the part of another one that is cut off. If its type is known it is
/// read, as an indirection may lead to it.
fn pass_value(reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    let Lead::New(header) = lead(reader)? else {
        return Ok(());
    };
    if let Some(found) = find_unexpected(&header, reader) {
        let value = begin(&header, &found, reader)?;
        return read_state(&value, &header, reader);
    }
    let entered = met(reader).enter(header.at, None);
    entered.map_err(|kind| reader.error(kind))?;
    reader.enter_chunks()?;
    leave(&header, reader)
}

/// The type of a value where none is expected: one that is registered, or is known to one of
/// the types that were expected before.
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

/// The type of a value among those that were found by their TypeCodes.
fn find_described(header: &Header, reader: &mut CdrReader<'_>) -> Option<Found> {
    let met = met(reader);
    let id = match &header.ids {
        Ids::None => return None,
        Ids::One(at) => found(&met.ids, *at)?,
        Ids::List(ids) => Arc::clone(ids.first()?),
    };
    met.described.with_id(&id)
}

#[inline]
pub(crate) fn met<'r>(reader: &'r mut CdrReader<'_>) -> &'r mut Met {
    reader.message_state()
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
        reader.leave_chunks(&mut pass_value)?;
    }
    let met = met(reader);
    met.depth -= 1;
    let is_kept = met.recurs && !met.is_lent;
    if met.depth == 0 && !is_kept && reader.remaining() == 0 {
        release_values(reader);
    }
    Ok(())
}

/// Lets go of all values at the end of a message, where no indirection can follow: those that
/// nothing else refers to are written with less effort then.
fn release_values(reader: &mut CdrReader<'_>) {
    met(reader).values = Vec::new();
}

/// Reads a tag and what belongs to it.
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
            match found(&met.values, target) {
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

/// The type to read a value as: the first of its ids that is known, or the expected one.
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

/// The type of the first id that `known` has a type for.
///
/// # Errors
/// [`CdrErrorKind::UnknownValue`] if there is none; [`CdrErrorKind::BadValue`] if the rest of the
/// value would have to be cut off, and has no end.
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
            return match index == 0 || header.is_chunked {
                true => Ok(found),
                false => Err(CdrErrorKind::BadValue),
            };
        }
    }
    Err(CdrErrorKind::UnknownValue)
}

fn note_expected(formal: &'static Class, reader: &mut CdrReader<'_>) {
    let formals = &mut met(reader).formals;
    let is_new = !formals.iter().any(|noted| core::ptr::eq(*noted, formal));
    if is_new && formals.len() < MAX_FORMALS {
        formals.push(formal);
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

/// What was met at a position.
fn found<T: Clone>(met: &[(usize, T)], at: usize) -> Option<T> {
    let index = met.binary_search_by_key(&at, |(at, _)| *at).ok()?;
    met.get(index).map(|(_, found)| found.clone())
}

/// Reads a string that may be an indirection: its position, and its text if it is there.
#[inline]
fn text(reader: &mut CdrReader<'_>) -> Result<(usize, Option<Id>), CdrError> {
    let length = reader.read_u32()?;
    match length {
        INDIRECTION => Ok((target(reader)?, None)),
        _ => new_text(length, reader),
    }
}

fn new_text(length: u32, reader: &mut CdrReader<'_>) -> Result<(usize, Option<Id>), CdrError> {
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

/// Reads an id, or an indirection to one. Returns its position.
#[inline]
fn id(reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    let (at, text) = text(reader)?;
    if let Some(id) = text {
        met(reader).ids.push((at, id));
    }
    Ok(at)
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
        let at = id(reader)?;
        let id = found(&met(reader).ids, at);
        ids.push(id.ok_or_else(|| reader.error(CdrErrorKind::BadValue))?);
    }
    let ids: Arc<[Id]> = ids.into();
    met(reader).lists.push((at, Arc::clone(&ids)));
    Ok(ids)
}
