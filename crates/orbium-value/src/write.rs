// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values to bytes: each value of a message once, then indirections to it.

use orbium_cdr::{CdrErrorKind, CdrWriter};

use crate::address_hash::ByAddress;
use crate::{Class, MAX_DEPTH, ValueBase};

/// The tag of a value with neither codebase, nor ids, nor chunks.
pub(crate) const VALUE_TAG: u32 = 0x7fff_ff00;
pub(crate) const INDIRECTION: u32 = u32::MAX;
pub(crate) const CODEBASE: u32 = 1;
pub(crate) const ONE_ID: u32 = 2;
pub(crate) const LIST_OF_IDS: u32 = 6;
pub(crate) const CHUNKED: u32 = 8;

/// What was written of a message's values.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By identity: where the tag is. The handle keeps the identity from being given anew.
    values: ByAddress<(usize, ValueBase)>,
    /// By the address of the text: where the id is.
    ids: ByAddress<usize>,
    /// By the address of the class: where the count of its list is.
    lists: ByAddress<usize>,
    /// The position behind the last tag.
    latest: usize,
    depth: u32,
    /// Chunked values around the next octet.
    chunked: u32,
    chunk: Option<Chunk>,
    /// Octets in the buffer up to the last end tag.
    ended: usize,
    /// Values that were too deep.
    pub(crate) unwritten: Vec<ValueBase>,
}

/// A chunk being written.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Octets in the buffer before it.
    before: usize,
    /// Where the buffer has its size.
    size_at: usize,
    /// The position of its first octet.
    start: usize,
}

impl Written {
    /// All values that were written.
    pub(crate) fn values(&self) -> impl Iterator<Item = &ValueBase> {
        self.values.values().map(|(_, value)| value)
    }

    /// All values that were written.
    pub(crate) fn into_values(self) -> impl Iterator<Item = ValueBase> {
        self.values.into_values().map(|(_, value)| value)
    }
}

/// Writes a value, or null, where type `formal` is expected.
///
/// The id of its type is always written: some ORBs leave it out where it is the expected one,
/// but others cannot read that in an any. A truncatable value of another type than the
/// expected one is written with the list of its ids, and in chunks; so is one of a custom
/// type, with its id alone.
pub fn write_value(value: Option<&ValueBase>, formal: &Class, writer: &mut CdrWriter<'_>) {
    let Some(value) = value else {
        return writer.write_u32(0);
    };
    let at = writer.position();
    let written = graph(writer);
    if at < written.latest {
        // What was written before was taken back.
        *written = Written::default();
    }
    if let Some((target, _)) = written.values.get(&value.identity()) {
        let target = *target;
        return indirection(target, writer);
    }
    if written.depth == MAX_DEPTH {
        written.unwritten.push(value.clone());
        return writer.fail(CdrErrorKind::TooDeep);
    }
    written.depth += 1;
    let class = value.class();
    let is_list = class.truncated().is_some() && class.id != formal.id;
    let is_nested = written.chunked > 0;
    let is_chunked = is_list || class.custom.is_some() || is_nested;
    if is_nested {
        end_chunk(writer);
    }
    header(value, class, is_list, is_chunked, writer);
    if is_chunked {
        graph(writer).chunked += 1;
        begin_chunk(writer);
    }
    match &class.custom {
        Some(custom) => {
            if let Err(error) = (custom.marshal)(value, writer) {
                writer.fail(error.kind);
            }
        }
        None => value.with_whole(|state| state.write(writer)),
    }
    graph(writer).depth -= 1;
    if is_chunked {
        end_value(writer);
    }
}

fn graph<'w>(writer: &'w mut CdrWriter<'_>) -> &'w mut Written {
    writer.message_state()
}

fn indirection(target: usize, writer: &mut CdrWriter<'_>) {
    writer.write_u32(INDIRECTION);
    let at = writer.position();
    let offset = (target as u32).wrapping_sub(at as u32);
    writer.write_u32(offset);
}

/// The tag and the ids.
fn header(
    value: &ValueBase,
    class: &'static Class,
    is_list: bool,
    is_chunked: bool,
    writer: &mut CdrWriter<'_>,
) {
    let ids = if is_list { LIST_OF_IDS } else { ONE_ID };
    let chunks = if is_chunked { CHUNKED } else { 0 };
    writer.write_u32(VALUE_TAG | ids | chunks);
    let behind = writer.position();
    let written = graph(writer);
    written.latest = behind;
    let place = (behind - 4, value.clone());
    written.values.insert(value.identity(), place);
    if !is_list {
        return write_id(class.id, writer);
    }
    let key = core::ptr::from_ref(class).addr();
    if let Some(target) = graph(writer).lists.get(&key).copied() {
        return indirection(target, writer);
    }
    let mut count = 1;
    let mut next = class;
    while let Some(base) = next.truncated() {
        count += 1;
        next = base;
    }
    writer.write_u32(count);
    let at = writer.position() - 4;
    graph(writer).lists.insert(key, at);
    let mut next = Some(class);
    while let Some(class) = next {
        write_id(class.id, writer);
        next = class.truncated();
    }
}

fn write_id(id: &'static str, writer: &mut CdrWriter<'_>) {
    let key = id.as_ptr().addr();
    if let Some(target) = graph(writer).ids.get(&key).copied() {
        return indirection(target, writer);
    }
    writer.align(4);
    let at = writer.position();
    graph(writer).ids.insert(key, at);
    writer.write_name(id);
}

/// Begins a chunk. If nothing comes to lie in it, it is taken back.
fn begin_chunk(writer: &mut CdrWriter<'_>) {
    let before = writer.written().len();
    writer.write_u32(0);
    let chunk = Chunk {
        before,
        size_at: writer.written().len() - 4,
        start: writer.position(),
    };
    graph(writer).chunk = Some(chunk);
}

/// Ends the present chunk, if there is one.
fn end_chunk(writer: &mut CdrWriter<'_>) {
    let Some(chunk) = graph(writer).chunk.take() else {
        return;
    };
    match writer.position() - chunk.start {
        0 => writer.take_back(chunk.before),
        size if size < VALUE_TAG as usize => writer.patch_u32(chunk.size_at, size as u32),
        _ => writer.fail(CdrErrorKind::BoundExceeded),
    }
}

/// Writes the end tag of a chunked value. The value around it goes on in a new chunk.
///
/// Values that end together have one tag: omniORB 4.2.5 ends the process when the tag of a
/// nested value is followed by that of the value around it.
fn end_value(writer: &mut CdrWriter<'_>) {
    end_chunk(writer);
    let at = writer.written().len();
    let written = graph(writer);
    let depth = written.chunked;
    written.chunked -= 1;
    if written.ended == at {
        writer.patch_u32(at - 4, depth.wrapping_neg());
    } else {
        writer.write_u32(depth.wrapping_neg());
        let ended = writer.written().len();
        graph(writer).ended = ended;
    }
    if depth > 1 {
        begin_chunk(writer);
    }
}
