// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values to bytes.

mod message_state;
mod pieces;
mod remembers;
mod text;

use crate::block;
use crate::layout::gap;
use crate::{ByteOrder, CdrError, CdrErrorKind, FixedOut, FixedSize, Format, Owner};

pub use pieces::{Piece, Pieces};
use remembers::Remembers;
pub use remembers::WrittenState;

/// Octets that are always kept free after the write position, so that a gap can be zeroed with one
/// store of eight.
const SLACK: usize = 8;

/// Maximum octets of a value without text or elements.
const MAX_FIXED_VALUE: usize = 64;

/// Maximum number of slices gathered by reference; further ones are copied.
const MAX_GATHERED: usize = 2;

/// Minimum octets of a slice that is gathered and not copied: below it the copy is cheaper than one
/// more entry for the kernel to process.
pub(crate) const GATHER_FROM: usize = 16 * 1024;

/// Appends CDR values to a buffer.
///
/// Alignment is relative to the start of the buffer (or of the current
/// [encapsulation](CdrWriter::encapsulation)). The buffer is kept and reused: see
/// [`CdrWriter::reuse`] and [`CdrWriter::take_storage`]. Errors are sticky: writing continues, and
/// [`CdrWriter::finish`] or [`CdrWriter::error`] return them.
///
/// Slices of the lifetime `'a` may be gathered: kept by reference and sent from their place.
#[derive(Debug)]
pub struct CdrWriter<'a> {
    /// Initialised octets; those before `at` are the message.
    storage: Vec<u8>,
    at: usize,
    /// Added to `at` to obtain the position for alignment.
    bias: usize,
    swap: bool,
    format: Format,
    error: Option<CdrError>,
    gathered: [(usize, &'a [u8]); MAX_GATHERED],
    gathered_count: usize,
    gathered_octets: usize,
    remembers: Remembers<'a>,
}

impl<'a> CdrWriter<'a> {
    /// An empty writer that copies everything into one buffer.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let mut writer = Self::reuse(Vec::new(), format);
        writer.remembers = Remembers::Owner(None);
        writer
    }

    /// An empty writer over a used buffer; its capacity is kept, its content is overwritten. Large
    /// slices are gathered.
    #[must_use]
    #[inline]
    pub fn reuse(storage: Vec<u8>, format: Format) -> Self {
        Self {
            storage,
            at: 0,
            bias: 0,
            swap: format.order.is_foreign(),
            format,
            error: None,
            gathered: [(0, &[]); MAX_GATHERED],
            gathered_count: 0,
            gathered_octets: 0,
            remembers: Remembers::Slices,
        }
    }

    /// The format values are written in.
    #[must_use]
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes all that follows as in GIOP 1.`minor`, or in the [natural](Format::NATURAL) format.
    #[inline]
    pub const fn set_minor(&mut self, minor: u8) {
        self.format.minor = minor;
    }

    /// Octets written so far, gathered ones included.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.at + self.gathered_octets
    }

    /// Whether the writer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position relative to the alignment origin.
    #[must_use]
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.at.wrapping_add(self.bias)
    }

    /// Records the owner of a reference being written, for the ORB of the references of an
    /// [`Any`](crate::Any). Only the first one is kept.
    #[inline]
    pub fn note_owner(&mut self, owner: &'a Owner) {
        self.remembers.note_owner(owner);
    }

    /// The owner of the written references; available in a writer that copies everything.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        self.remembers.owner()
    }

    /// Records an error; only the first one is kept.
    #[cold]
    pub fn fail(&mut self, kind: CdrErrorKind) {
        self.fail_at(kind, self.position());
    }

    pub(crate) fn fail_at(&mut self, kind: CdrErrorKind, position: usize) {
        if self.error.is_none() {
            self.error = Some(CdrError::new(kind, position));
        }
    }

    /// The first error noted, if any.
    #[must_use]
    #[inline]
    pub fn error(&self) -> Option<CdrError> {
        self.error
    }

    /// Reserves room for that many octets, and some for counts and gaps; `false` if there is no
    /// memory for them.
    pub(crate) fn reserve(&mut self, octets: usize) -> bool {
        let end = self
            .at
            .saturating_add(octets)
            .saturating_add(MAX_FIXED_VALUE);
        if end <= self.storage.len() {
            return true;
        }
        let more = self.size_for(end) - self.storage.len();
        self.storage.try_reserve_exact(more).is_ok()
    }

    /// The size of the storage for data that end there.
    fn size_for(&self, end: usize) -> usize {
        let least = end.saturating_add(SLACK);
        least.max(self.storage.len() * 2).max(256)
    }

    #[cold]
    fn grow(&mut self, end: usize) {
        self.storage.resize(self.size_for(end), 0);
    }

    /// Room for `size` octets at the next multiple of `align`; the gap is
    /// zeroed.
    #[inline(always)]
    fn claim(&mut self, align: usize, size: usize) -> &mut [u8] {
        let start = self.at + gap(self.position(), align);
        let end = start + size;
        if end + SLACK > self.storage.len() {
            self.grow(end);
        }
        if align > 1 {
            self.storage[self.at..self.at + SLACK].copy_from_slice(&[0; SLACK]);
        }
        self.at = end;
        &mut self.storage[start..end]
    }

    /// Zeroes up to the next multiple of `align`.
    #[inline]
    pub fn align(&mut self, align: usize) {
        self.claim(align, 0);
    }

    /// Room for `size` octets, not aligned, for the caller to fill; its initial contents are
    /// unspecified.
    #[inline(always)]
    pub fn append(&mut self, size: usize) -> &mut [u8] {
        self.claim(1, size)
    }

    /// Appends octets as they are: no length, no alignment.
    #[inline]
    pub fn write_raw(&mut self, octets: &[u8]) {
        self.claim(1, octets.len()).copy_from_slice(octets);
    }

    /// Appends octets as they are, by reference if they are many.
    pub fn write_raw_gathered(&mut self, octets: &'a [u8]) {
        if !matches!(self.remembers, Remembers::Slices)
            || octets.len() < GATHER_FROM
            || self.gathered_count == MAX_GATHERED
        {
            self.write_raw(octets);
            return;
        }
        self.gathered[self.gathered_count] = (self.at, octets);
        self.gathered_count += 1;
        self.gathered_octets += octets.len();
        self.bias = self.bias.wrapping_add(octets.len());
    }

    /// Writes an octet.
    #[inline]
    pub fn write_u8(&mut self, value: u8) {
        self.claim(1, 1)[0] = value;
    }

    /// Writes a boolean.
    #[inline]
    pub fn write_bool(&mut self, value: bool) {
        self.write_u8(u8::from(value));
    }

    /// Writes an unsigned short.
    #[inline]
    pub fn write_u16(&mut self, value: u16) {
        let value = if self.swap { value.swap_bytes() } else { value };
        self.claim(2, 2).copy_from_slice(&value.to_ne_bytes());
    }

    /// Writes an unsigned long.
    #[inline]
    pub fn write_u32(&mut self, value: u32) {
        let value = if self.swap { value.swap_bytes() } else { value };
        self.claim(4, 4).copy_from_slice(&value.to_ne_bytes());
    }

    /// Writes an unsigned long long.
    #[inline]
    pub fn write_u64(&mut self, value: u64) {
        let value = if self.swap { value.swap_bytes() } else { value };
        self.claim(8, 8).copy_from_slice(&value.to_ne_bytes());
    }

    /// Writes the count of a sequence. Counts beyond 2³²−1 are an error.
    #[inline]
    pub fn write_count(&mut self, count: usize) {
        match u32::try_from(count) {
            Ok(count) => self.write_u32(count),
            Err(_) => self.fail(CdrErrorKind::BoundExceeded),
        }
    }

    /// Writes a `sequence<octet>`: count and octets, copied.
    #[inline]
    pub fn write_octets(&mut self, octets: &[u8]) {
        self.write_count(octets.len());
        self.write_raw(octets);
    }

    /// Writes one fixed-size value with one bounds check.
    #[inline(always)]
    pub fn write_fixed<T: FixedSize>(&mut self, value: &T) {
        if T::HAS_CHARS {
            self.check_chars(value.char_bits());
        }
        let phase = self.position() & 7;
        let swap = self.swap;
        let room = self.claim(1, T::LAYOUT.end(phase));
        if swap {
            value.store(&mut FixedOut::<true>::new(room, phase));
        } else {
            value.store(&mut FixedOut::<false>::new(room, phase));
        }
    }

    /// Writes the elements of an array or sequence of fixed-size values, in one copy if the layouts
    /// permit. No count is written.
    #[inline]
    pub fn write_fixed_slice<T: FixedSize>(&mut self, items: &'a [T]) {
        if self.swap {
            self.write_elements::<T, true>(items);
            return;
        }
        if const { T::LAYOUT.is_block() && T::LAYOUT.gaps().is_empty() } && !items.is_empty() {
            self.align(T::LAYOUT.first_align());
            // Without gaps, a start at the alignment of the first member is the start of a block
            // only if that is the greatest alignment.
            if self.position().is_multiple_of(T::LAYOUT.align()) {
                if T::HAS_CHARS {
                    self.check_chars(items.iter().fold(0, |bits, item| bits | item.char_bits()));
                }
                self.write_raw_gathered(block::octets_of(items));
                return;
            }
        }
        self.write_elements::<T, false>(items);
    }

    /// As [`CdrWriter::write_fixed_slice`], for the elements of a sequence, which may have their
    /// layout in memory: see [`Format::NATURAL`].
    #[inline]
    pub fn write_fixed_sequence<T: FixedSize>(&mut self, items: &'a [T]) {
        if const { T::LAYOUT.has_natural() } && self.format.is_natural() {
            return self.write_natural(items);
        }
        self.write_fixed_slice(items);
    }

    fn write_natural<T: FixedSize>(&mut self, items: &[T]) {
        if items.is_empty() {
            return;
        }
        self.align(align_of::<T>());
        let start = self.position();
        let room = self.claim(1, size_of_val(items));
        let bits = block::copy_natural_out(items, room);
        if T::HAS_CHARS {
            self.check_chars_at(bits, start);
        }
    }

    #[inline]
    fn write_elements<T: FixedSize, const SWAP: bool>(&mut self, items: &[T]) {
        let Some((first, others)) = items.split_first() else {
            return;
        };
        let layout = const { T::LAYOUT };
        let start = self.position();
        let phase = start & 7;
        let head = layout.end(phase);
        let room = self.claim(1, head + others.len() * const { T::LAYOUT.stride() });
        let (room_for_first, room) = room.split_at_mut(head);
        first.store(&mut FixedOut::<SWAP>::new(room_for_first, phase));
        let mut bits = first.char_bits();
        if const { T::LAYOUT.is_block() } && !SWAP {
            bits |= block::copy_out(others, room);
        } else {
            let rooms = room.chunks_exact_mut(const { T::LAYOUT.stride() });
            for (item, room) in others.iter().zip(rooms) {
                let steady = const { T::LAYOUT.steady() };
                item.store(&mut FixedOut::<SWAP>::new(room, steady));
                bits |= item.char_bits();
            }
        }
        if T::HAS_CHARS {
            self.check_chars_at(bits, start);
        }
    }

    /// Writes an encapsulation (clause 9.3.3): count, byte-order octet, and the output of `body`,
    /// aligned from that octet. Nothing is gathered inside.
    pub fn encapsulation(&mut self, body: impl FnOnce(&mut Self)) {
        self.write_u32(0);
        let count_at = self.at - 4;
        let bias = self.bias;
        self.bias = 0usize.wrapping_sub(self.at);
        let inside = self.remembers.in_encapsulation();
        let outside = core::mem::replace(&mut self.remembers, inside);
        self.write_u8(self.format.order.flag());
        body(self);
        self.bias = bias;
        self.remembers.leave_encapsulation(outside);
        let count = (self.at - count_at - 4) as u32;
        self.patch_u32(count_at, count);
    }

    /// Overwrites an unsigned long written before at octet `at` of the buffer.
    ///
    /// # Panics
    /// If those four octets were not yet written, an error of the caller.
    #[inline]
    pub fn patch_u32(&mut self, at: usize, value: u32) {
        let value = if self.swap { value.swap_bytes() } else { value };
        assert!(at + 4 <= self.at, "only what was written can be patched");
        self.storage[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }

    /// Discards everything written after the first `len` octets, which must precede any gathered
    /// slice.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        if self.gathered_count > 0 {
            self.drop_gathered(len);
        }
        self.at = self.at.min(len);
        self.error = None;
    }

    /// Discards the octets after the first `len` if no slice was gathered: room that was
    /// [appended](Self::append), or padding.
    #[inline]
    pub fn shorten(&mut self, len: usize) {
        debug_assert!(
            self.gathered_octets == 0,
            "slices are taken back by `truncate`"
        );
        self.at = self.at.min(len);
    }

    #[cold]
    fn drop_gathered(&mut self, len: usize) {
        while self.gathered_count > 0 && self.gathered[self.gathered_count - 1].0 >= len {
            self.gathered_count -= 1;
            let dropped = self.gathered[self.gathered_count].1.len();
            self.gathered_octets -= dropped;
            self.bias = self.bias.wrapping_sub(dropped);
        }
    }

    /// The bytes copied so far, without the gathered slices.
    #[must_use]
    #[inline]
    pub fn written(&self) -> &[u8] {
        &self.storage[..self.at]
    }

    /// Whether slices were gathered, so that the message is in pieces.
    #[must_use]
    #[inline]
    pub fn is_gathered(&self) -> bool {
        self.gathered_count > 0
    }

    /// Returns the buffer to its origin, which must be empty.
    #[inline]
    pub fn return_storage(mut self, taken_from: &mut Vec<u8>) {
        std::mem::swap(&mut self.storage, taken_from);
    }

    /// Returns the buffer for the next message, and leaves an empty writer.
    #[must_use]
    #[inline]
    pub fn take_storage(&mut self) -> Vec<u8> {
        self.at = 0;
        self.bias = 0;
        self.gathered_count = 0;
        self.gathered_octets = 0;
        if let Remembers::State(_) = self.remembers {
            self.remembers = Remembers::Slices;
        }
        std::mem::take(&mut self.storage)
    }

    /// The message as one run of octets.
    ///
    /// # Errors
    /// The first recorded error.
    pub fn finish(self) -> Result<Vec<u8>, CdrError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !self.is_gathered() {
            let mut storage = self.storage;
            storage.truncate(self.at);
            return Ok(storage);
        }
        let mut out = Vec::with_capacity(self.len());
        for piece in self.pieces() {
            out.extend_from_slice(piece);
        }
        Ok(out)
    }

    /// The byte order written.
    #[must_use]
    pub fn order(&self) -> ByteOrder {
        self.format.order
    }
}
