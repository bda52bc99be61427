// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values to bytes: each value of a message once, then indirections to it.

use core::cell::Cell;

use orbium_cdr::{CdrErrorKind, CdrWriter, TypeRef};

use crate::address_hash::ByAddress;
use crate::described::description;
use crate::{Class, MAX_DEPTH, ValueBase};

/// The tag of a value with neither codebase, nor ids, nor chunks.
pub(crate) const VALUE_TAG: u32 = 0x7fff_ff00;
pub(crate) const INDIRECTION: u32 = u32::MAX;
pub(crate) const CODEBASE: u32 = 1;
pub(crate) const ONE_ID: u32 = 2;
pub(crate) const LIST_OF_IDS: u32 = 6;
pub(crate) const CHUNKED: u32 = 8;

/// Values with the positions of their tags. Their memory is retained between messages, which avoids
/// a large block on the heap between the small ones of the values.
#[derive(Debug)]
struct WrittenValues(Vec<(usize, ValueBase)>);

thread_local! {
    static SPARE: Cell<Vec<(usize, ValueBase)>> = const { Cell::new(Vec::new()) };
}

/// Maximum number of values for which a thread retains memory.
const MAX_SPARE: usize = 4096;

impl Default for WrittenValues {
    fn default() -> Self {
        Self(SPARE.try_with(Cell::take).unwrap_or_default())
    }
}

impl Drop for WrittenValues {
    fn drop(&mut self) {
        let mut values = core::mem::take(&mut self.0);
        values.clear();
        if values.capacity() <= MAX_SPARE {
            // A thread that is ending does not retain it.
            let _ = SPARE.try_with(|spare| spare.set(values));
        }
    }
}

/// A compiled type, the expected type, and the position of its id.
#[derive(Clone, Copy, Debug)]
struct LatestPlain {
    class: &'static Class,
    /// The address of the id of the expected type.
    formal: usize,
    id_at: usize,
}

/// The values written in a message.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// All values, with the positions of their tags. The handles prevent reuse of their identities.
    values: WrittenValues,
    /// By identity: the positions of the tags of all values that may occur again.
    places: ByAddress<usize>,
    /// By the address of the text: the position of the id.
    ids: ByAddress<usize>,
    /// The address and the position of the latest id: most values have that of the previous one.
    latest_id: Option<(usize, usize)>,
    /// The latest type that was written with one id and without chunks.
    latest_plain: Option<LatestPlain>,
    /// By the address of the class or of the id: the position of the count of its list.
    lists: ByAddress<usize>,
    /// The position after the last tag.
    latest: usize,
    depth: u32,
    /// Whether the next value is a member of a state, which is written once.
    in_state: bool,
    /// Whether a program marshals a value: it may then write any value.
    has_custom: bool,
    /// Chunked values around the next octet.
    chunked: u32,
    chunk: Option<Chunk>,
    /// Octets in the buffer up to the last end tag.
    ended: usize,
    /// Values that were nested too deep.
    pub(crate) unwritten: Vec<ValueBase>,
}

/// A chunk being written.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// Octets in the buffer before it.
    before: usize,
    /// The position of its size in the buffer.
    size_at: usize,
    /// The position of its first octet.
    start: usize,
}

impl Written {
    /// All written values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &ValueBase> {
        self.values.0.iter().map(|(_, value)| value)
    }

    /// All written values.
    pub(crate) fn into_values(mut self) -> impl Iterator<Item = ValueBase> {
        core::mem::take(&mut self.values.0)
            .into_iter()
            .map(|(_, value)| value)
    }

    /// Whether the value may occur again in this message. One to which a state has the only handle
    /// cannot, as the state is written once. (If a thread copies the handle while the graph is
    /// written, the value may be written twice.)
    fn may_recur(&self, value: &ValueBase) -> bool {
        !self.in_state || self.has_custom || value.handles() > 1
    }

    /// Enters a value with its tag at that position.
    fn enter(&mut self, value: &ValueBase, may_recur: bool, at: usize) {
        self.latest = at + 4;
        self.values.0.push((at, value.clone()));
        if may_recur {
            self.places.insert(value.identity(), at);
        }
    }

    /// The position of the id of a value that is written like the previous one: of the same type,
    /// with the same expected type.
    #[inline]
    fn like_latest(&self, class: &'static Class, formal_id: &str) -> Option<usize> {
        let latest = self.latest_plain.as_ref()?;
        let is_like = core::ptr::eq(latest.class, class)
            && latest.formal == formal_id.as_ptr().addr()
            && self.chunked == 0;
        is_like.then_some(latest.id_at)
    }

    /// Enters all values that were written before a custom one.
    fn note_custom(&mut self) {
        if !self.has_custom {
            self.has_custom = true;
            let places = self.values.0.iter();
            let places = places.map(|(at, value)| (value.identity(), *at));
            self.places.extend(places);
        }
    }

    /// The position of an id.
    fn place_of(&mut self, id: &str) -> Option<usize> {
        let key = id.as_ptr().addr();
        match self.latest_id {
            Some((latest, at)) if latest == key => Some(at),
            _ => {
                let at = *self.ids.get(&key)?;
                self.latest_id = Some((key, at));
                Some(at)
            }
        }
    }
}

/// Writes a value, or null, where type `formal` is expected.
///
/// The id of its type is always written: some ORBs omit it if it is the expected one, but others
/// cannot read that in an any. A truncatable value of another type than the expected one is written
/// with the list of its ids, and in chunks; so is one of a custom type, with its id alone.
pub fn write_value(value: Option<&ValueBase>, formal: &Class, writer: &mut CdrWriter<'_>) {
    write_as(value, formal.id, writer);
}

/// As [`write_value`], where the type of that id is expected.
pub(crate) fn write_as(value: Option<&ValueBase>, formal_id: &str, writer: &mut CdrWriter<'_>) {
    let Some(value) = value else {
        return writer.write_u32(0);
    };
    let at = writer.position();
    let written = graph(writer);
    if at < written.latest {
        // The previous output was discarded.
        *written = Written::default();
    }
    let may_recur = written.may_recur(value);
    if may_recur && let Some(target) = written.places.get(&value.identity()) {
        let target = *target;
        return indirection(target, writer);
    }
    if written.depth == MAX_DEPTH {
        written.unwritten.push(value.clone());
        return writer.fail(CdrErrorKind::TooDeep);
    }
    written.depth += 1;
    let class = value.class();
    if let Some(id_at) = written.like_latest(class, formal_id) {
        let at = at.next_multiple_of(4);
        let was_in_state = core::mem::replace(&mut written.in_state, true);
        written.enter(value, may_recur, at);
        writer.write_fixed(&[VALUE_TAG | ONE_ID, INDIRECTION, offset(id_at, at + 8)]);
        value.with_whole(|state| state.write(writer));
        return leave(was_in_state, false, writer);
    }
    let was_in_state = core::mem::replace(&mut written.in_state, class.custom.is_none());
    let written_type = WrittenType::of(value);
    let is_list = written_type.truncated().is_some() && written_type.id() != formal_id;
    let is_nested = written.chunked > 0;
    let is_chunked = is_list || class.custom.is_some() || is_nested;
    let (written, at) = if is_nested {
        end_chunk(writer);
        let at = aligned(writer);
        (graph(writer), at)
    } else {
        (written, at.next_multiple_of(4))
    };
    written.enter(value, may_recur, at);
    let id_at = written.place_of(written_type.id());
    if let (WrittenType::Compiled(class), false, Some(id_at)) = (written_type, is_chunked, id_at) {
        let formal = formal_id.as_ptr().addr();
        written.latest_plain = Some(LatestPlain {
            class,
            formal,
            id_at,
        });
    }
    Header {
        written_type,
        is_list,
        is_chunked,
        at,
        id_at,
    }
    .write(writer);
    write_state(value, is_chunked, writer);
    leave(was_in_state, is_chunked, writer);
}

#[inline]
fn leave(was_in_state: bool, is_chunked: bool, writer: &mut CdrWriter<'_>) {
    let written = graph(writer);
    written.depth -= 1;
    written.in_state = was_in_state;
    if is_chunked {
        end_value(writer);
    }
}

/// Writes the state, in a chunk if required.
#[inline]
fn write_state(value: &ValueBase, is_chunked: bool, writer: &mut CdrWriter<'_>) {
    if is_chunked {
        graph(writer).chunked += 1;
        begin_chunk(writer);
    }
    match &value.class().custom {
        Some(custom) => {
            graph(writer).note_custom();
            if let Err(error) = (custom.marshal)(value, writer) {
                writer.fail(error.kind);
            }
        }
        None => value.with_whole(|state| state.write(writer)),
    }
}

#[inline]
fn graph<'w>(writer: &'w mut CdrWriter<'_>) -> &'w mut Written {
    writer.message_state()
}

/// The position of the next tag, id or indirection.
fn aligned(writer: &CdrWriter<'_>) -> usize {
    writer.position().next_multiple_of(4)
}

fn offset(target: usize, at: usize) -> u32 {
    (target as u32).wrapping_sub(at as u32)
}

fn indirection(target: usize, writer: &mut CdrWriter<'_>) {
    let at = aligned(writer);
    writer.write_fixed(&[INDIRECTION, offset(target, at + 4)]);
}

/// The header before a state.
struct Header<'v> {
    written_type: WrittenType<'v>,
    is_list: bool,
    is_chunked: bool,
    /// The position of the tag.
    at: usize,
    /// The position of an earlier occurrence of the type's id.
    id_at: Option<usize>,
}

impl Header<'_> {
    /// Writes the tag and the ids.
    #[inline]
    fn write(self, writer: &mut CdrWriter<'_>) {
        let chunks = if self.is_chunked { CHUNKED } else { 0 };
        if self.is_list {
            writer.write_u32(VALUE_TAG | LIST_OF_IDS | chunks);
            return write_ids(self.written_type, writer);
        }
        let tag = VALUE_TAG | ONE_ID | chunks;
        match self.id_at {
            Some(target) => {
                writer.write_fixed(&[tag, INDIRECTION, offset(target, self.at + 8)]);
            }
            None => {
                writer.write_u32(tag);
                write_id(self.written_type.id(), writer);
            }
        }
    }
}

/// The type of a value being written. Its addresses are unique during the lifetime of the value.
#[derive(Clone, Copy)]
enum WrittenType<'v> {
    Compiled(&'static Class),
    Described(TypeRef<'v>),
}

impl<'v> WrittenType<'v> {
    #[inline]
    fn of(value: &'v ValueBase) -> Self {
        match value.description() {
            Some(description) => Self::Described(description.code()),
            None => Self::Compiled(value.class()),
        }
    }

    #[inline]
    fn id(self) -> &'v str {
        match self {
            Self::Compiled(class) => class.id,
            Self::Described(code) => code.id(),
        }
    }

    /// The type to which its values may be truncated.
    #[inline]
    fn truncated(self) -> Option<Self> {
        match self {
            Self::Compiled(class) => class.truncated().map(Self::Compiled),
            Self::Described(code) => description::truncated(code).map(Self::Described),
        }
    }

    /// The address under which its list of ids is stored.
    fn address(self) -> usize {
        match self {
            Self::Compiled(class) => core::ptr::from_ref(class).addr(),
            Self::Described(code) => code.id().as_ptr().addr(),
        }
    }
}

/// The ids of a type and of those to which its values may be truncated.
fn write_ids(written_type: WrittenType<'_>, writer: &mut CdrWriter<'_>) {
    let key = written_type.address();
    if let Some(target) = graph(writer).lists.get(&key).copied() {
        return indirection(target, writer);
    }
    let types = || core::iter::successors(Some(written_type), |it| it.truncated());
    writer.write_count(types().count());
    let at = writer.position() - 4;
    graph(writer).lists.insert(key, at);
    for written_type in types() {
        match graph(writer).place_of(written_type.id()) {
            Some(target) => indirection(target, writer),
            None => write_id(written_type.id(), writer),
        }
    }
}

/// An id that was not written before.
fn write_id(id: &str, writer: &mut CdrWriter<'_>) {
    writer.align(4);
    let at = writer.position();
    graph(writer).ids.insert(id.as_ptr().addr(), at);
    writer.write_name(id);
}

/// Begins a chunk. If it remains empty, it is discarded.
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

/// Ends the current chunk, if there is one.
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

/// Writes the end tag of a chunked value. The enclosing value continues in a new chunk.
///
/// Values that end together have one tag: omniORB 4.2.5 ends the process when the tag of a nested
/// value is followed by that of the enclosing value.
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
