// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chunks of values (CORBA 3.3 Part 2, 9.3.4.6), and the state of a message with values.
//!
//! A reader in a chunked value has boundaries, like one of a fragmented message of GIOP 1.1: the
//! ends of the chunks. Between two values there is no chunk; the header of a value is also outside
//! of chunks.

use core::any::{Any, TypeId};

use super::across::divided;
use crate::fragment_boundaries::{Chunk, FragmentBoundaries};
use crate::interpret::FREE_STEPS;
use crate::layout::gap;
use crate::{CdrError, CdrErrorKind, CdrReader};

/// The least tag of a value. Smaller positive numbers are sizes of chunks.
const VALUE_TAGS: u32 = 0x7fff_ff00;

/// Steps that all walks with limited free steps may take together for each octet of the message so
/// far: values of types without members, which IDL permits, take two steps and four octets.
const FREE_STEPS_PER_OCTET: u64 = 4;

/// No value has ended before its end tag.
const NONE_CLOSED: u32 = u32::MAX;

/// The tag between two chunks.
enum Mark {
    Chunk(usize),
    Value,
    /// The values of this depth and deeper end.
    End(u32),
    Nothing,
}

impl FragmentBoundaries<'_> {
    /// The tag in the long at the next multiple of four, and the octets up to it.
    fn mark(&self, position: usize) -> (usize, Mark) {
        let skip = gap(position, 4);
        let octets = self.bytes.get(skip..).and_then(<[u8]>::first_chunk::<4>);
        let (Some(octets), Some(chunk)) = (octets, self.chunk) else {
            return (skip, Mark::Nothing);
        };
        if chunk.closed <= chunk.depth {
            return (skip, Mark::Nothing);
        }
        let tag = u32::from_ne_bytes(*octets);
        let tag = if chunk.swap { tag.swap_bytes() } else { tag };
        let mark = match tag {
            ..VALUE_TAGS => Mark::Chunk(tag as usize),
            VALUE_TAGS..0x8000_0000 => Mark::Value,
            _ => Mark::End(tag.wrapping_neg()),
        };
        (skip, mark)
    }

    /// Drops octets that were read.
    fn advance(&mut self, octets: usize) {
        let bytes = core::mem::take(&mut self.bytes);
        let at = octets.min(bytes.len());
        self.bytes = bytes.split_at_mut(at).1;
    }

    /// Skips the rest of the current chunk, and empty chunks, which some ORBs write. Returns the
    /// new position.
    fn skip_chunk(&mut self, position: usize) -> usize {
        let left = self.here();
        self.advance(left);
        let mut position = position + left;
        if let Some(chunk) = &mut self.chunk {
            chunk.left = 0;
        }
        while let (skip, Mark::Chunk(0)) = self.mark(position) {
            self.advance(skip + 4);
            position += skip + 4;
        }
        position
    }

    /// Advances to the next chunk of this value. Returns the new position, or `None` if there is no
    /// further chunk.
    pub(crate) fn next_chunk(&mut self, position: usize) -> Option<usize> {
        let position = self.skip_chunk(position);
        let (skip, Mark::Chunk(size)) = self.mark(position) else {
            return None;
        };
        if size > self.bytes.len() - skip - 4 {
            return None;
        }
        self.advance(skip + 4);
        self.chunk.as_mut()?.left = size;
        Some(position + skip + 4)
    }
}

impl<'a> CdrReader<'a> {
    /// The state of type `T` of this message or encapsulation: created by `Default` on first use.
    /// Messages that do not use it have no overhead.
    #[inline]
    pub fn message_state<T: Any + Default + Send>(&mut self) -> &mut T {
        let more = self.more.get_or_insert_default();
        if more.state_type != Some(TypeId::of::<T>()) {
            more.set_state(Box::new(T::default()));
        }
        match more.state.get_mut().and_then(|state| state.downcast_mut()) {
            Some(state) => state,
            None => unreachable!("the state was made with this type above"),
        }
    }

    /// Calls `read` with walks by TypeCodes limited to that many steps each in addition to those
    /// for their octets, and together to few more than one walk: data that a peer may send many
    /// times in few octets, such as the state of a value, are allowed less than a whole message.
    ///
    /// # Errors
    /// The errors of `read`.
    #[doc(hidden)]
    pub fn with_free_steps<T>(
        &mut self,
        steps: u32,
        read: impl FnOnce(&mut Self) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        let more = self.more.get_or_insert_default();
        let before = more.free_steps.replace(steps);
        let done = read(self);
        self.more.get_or_insert_default().free_steps = before;
        done
    }

    /// The steps that a walk may take without an octet, if not the default.
    #[inline]
    pub(crate) fn free_steps(&self) -> Option<u64> {
        let more = self.more.as_ref()?;
        let each = u64::from(more.free_steps?);
        let all = FREE_STEPS + FREE_STEPS_PER_OCTET * self.position() as u64;
        Some(each.min(all.saturating_sub(more.spent_steps)))
    }

    /// Counts the steps that such a walk has taken without an octet.
    #[inline]
    pub(crate) fn spend_steps(&mut self, steps: u64) {
        if let Some(more) = &mut self.more
            && more.free_steps.is_some()
        {
            more.spent_steps += steps;
        }
    }

    pub(crate) fn is_chunked(&self) -> bool {
        self.boundaries()
            .is_some_and(|boundaries| boundaries.chunk.is_some())
    }

    /// Chunked values around the next octet.
    #[must_use]
    pub fn chunk_depth(&self) -> u32 {
        let boundaries = self.boundaries();
        boundaries
            .and_then(|boundaries| boundaries.chunk)
            .map_or(0, |chunk| chunk.depth)
    }

    /// Takes octets within one chunk.
    #[cold]
    pub(super) fn take_of_chunk(&mut self, size: usize) -> Result<&'a mut [u8], CdrError> {
        if let Some(boundaries) = divided(&mut self.more) {
            if boundaries.here() == 0
                && size > 0
                && let Some(position) = boundaries.next_chunk(self.end)
            {
                self.end = position;
            }
            if size <= boundaries.here()
                && let Some(chunk) = &mut boundaries.chunk
            {
                chunk.left -= size;
                let bytes = core::mem::take(&mut boundaries.bytes);
                let (taken, rest) = bytes.split_at_mut(size);
                boundaries.bytes = rest;
                self.end += size;
                return Ok(taken);
            }
        }
        Err(self.error(CdrErrorKind::Truncated))
    }

    /// Takes an array of primitives within one chunk.
    #[cold]
    pub(super) fn run_of_chunk(
        &mut self,
        extent: usize,
        align: usize,
    ) -> Result<&'a mut [u8], CdrError> {
        if extent == 0 {
            return Ok(&mut []);
        }
        if let Some(boundaries) = divided(&mut self.more)
            && boundaries.here() == 0
            && let Some(position) = boundaries.next_chunk(self.end)
        {
            self.end = position;
        }
        self.align(align)?;
        self.take_of_chunk(extent)
    }

    /// Reads the tag of a value. Between the chunks of an enclosing value it may be that of a
    /// nested value, after which there is no chunk until [`CdrReader::enter_chunks`].
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`]; [`CdrErrorKind::BadValue`] for a value within a chunk.
    pub fn read_value_tag(&mut self) -> Result<u32, CdrError> {
        if let Some(boundaries) = divided(&mut self.more)
            && boundaries.chunk.is_some()
        {
            if boundaries.here() < gap(self.end, 4) + 4 {
                self.end = boundaries.skip_chunk(self.end);
                if let (_, Mark::Value) = boundaries.mark(self.end) {
                    self.leave_for_header();
                    return self.read_u32();
                }
            }
            let tag = self.read_u32()?;
            if (VALUE_TAGS..0x8000_0000).contains(&tag) {
                return Err(self.error(CdrErrorKind::BadValue));
            }
            return Ok(tag);
        }
        self.read_u32()
    }

    /// Leaves the chunks for the header of a nested value.
    fn leave_for_header(&mut self) {
        if let Some(boundaries) = divided(&mut self.more)
            && let Some(chunk) = &mut boundaries.chunk
        {
            chunk.left = boundaries.bytes.len();
        }
    }

    /// Begins to read the state of a chunked value after its header.
    ///
    /// # Errors
    /// [`CdrErrorKind::NotSupported`] in fragments that are aligned separately (GIOP 1.1).
    pub fn enter_chunks(&mut self) -> Result<(), CdrError> {
        if let Some(boundaries) = divided(&mut self.more) {
            let Some(chunk) = &mut boundaries.chunk else {
                return Err(self.error(CdrErrorKind::NotSupported));
            };
            chunk.left = 0;
            chunk.depth += 1;
            return Ok(());
        }
        self.end = self.position();
        let boundaries = FragmentBoundaries {
            bytes: core::mem::take(&mut self.rest),
            index: 0,
            ahead: &[],
            chunk: Some(Chunk {
                left: 0,
                depth: 1,
                closed: NONE_CLOSED,
                swap: self.swap,
            }),
        };
        self.more.get_or_insert_default().boundaries = Some(boundaries);
        Ok(())
    }

    /// Ends a chunked value: skips the rest of its state up to its end tag, which may also end
    /// enclosing values. `skip_value` skips a value nested in the rest.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`] without an end tag, [`CdrErrorKind::BadValue`] for one of a
    /// value that did not begin; the errors of `skip_value`.
    pub fn leave_chunks(
        &mut self,
        skip_value: &mut dyn FnMut(&mut Self) -> Result<(), CdrError>,
    ) -> Result<(), CdrError> {
        loop {
            let Some(boundaries) = divided(&mut self.more) else {
                return Err(self.error(CdrErrorKind::BadValue));
            };
            self.end = boundaries.skip_chunk(self.end);
            let Some(Chunk { depth, closed, .. }) = boundaries.chunk else {
                return Err(self.error(CdrErrorKind::BadValue));
            };
            if closed <= depth {
                break;
            }
            match boundaries.mark(self.end) {
                (_, Mark::Chunk(_)) => match boundaries.next_chunk(self.end) {
                    Some(position) => self.end = position,
                    None => return Err(self.error(CdrErrorKind::Truncated)),
                },
                (_, Mark::Value) => skip_value(self)?,
                (skip, Mark::End(to)) => {
                    if to > depth {
                        return Err(self.error(CdrErrorKind::BadValue));
                    }
                    boundaries.advance(skip + 4);
                    self.end += skip + 4;
                    if let Some(chunk) = &mut boundaries.chunk {
                        chunk.closed = to;
                    }
                }
                (_, Mark::Nothing) => return Err(self.error(CdrErrorKind::Truncated)),
            }
        }
        self.end_of_chunks();
        Ok(())
    }

    /// Leaves one level of chunked values.
    fn end_of_chunks(&mut self) {
        let Some(more) = self.more.as_deref_mut() else {
            return;
        };
        let Some(boundaries) = &mut more.boundaries else {
            return;
        };
        let Some(chunk) = &mut boundaries.chunk else {
            return;
        };
        chunk.depth -= 1;
        if chunk.closed > chunk.depth {
            chunk.closed = NONE_CLOSED;
        }
        if chunk.depth == 0 {
            self.rest = core::mem::take(&mut boundaries.bytes);
            self.end += self.rest.len();
            more.boundaries = None;
        }
    }
}
