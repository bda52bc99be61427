// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembled messages with separately aligned fragments, as in GIOP 1.1.
//!
//! Alignment in a fragment is relative to the fragment's own start, and its data begin at its byte
//! 12. A primitive never crosses a boundary: the remainder of a fragment in which it does not fit
//! is padding. Octet sequences and thus strings may cross.
//!
//! The chunks of values are boundaries of another kind: see `reader::chunks`.
//!
//! A reader with boundaries keeps `rest` empty, so that every read misses the fast path and is
//! handled by `reader::across`: readers without boundaries have no overhead.

use core::any::{Any, TypeId};

use crate::boxed_state::BoxedState;

/// Offset of the data in a fragment.
pub(crate) const DATA_AT: usize = 12;

/// The unread message of a reader with boundaries.
#[derive(Debug)]
pub(crate) struct FragmentBoundaries<'a> {
    /// All unread bytes. They are contiguous, so a run across boundaries is one slice.
    pub(crate) bytes: &'a mut [u8],
    /// Bytes of the message before them.
    pub(crate) index: usize,
    /// The boundaries ahead, in bytes from the start of the message.
    pub(crate) ahead: &'a [u32],
    /// The chunk being read; then no boundaries are ahead.
    pub(crate) chunk: Option<Chunk>,
}

/// The position of a reader in the chunks of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// Remaining octets of the current chunk; 0 between chunks.
    pub(crate) left: usize,
    /// Chunked values around the next octet.
    pub(crate) depth: u32,
    /// Values of this depth and deeper have ended.
    pub(crate) closed: u32,
    /// Chunk sizes are in foreign byte order.
    pub(crate) swap: bool,
}

/// Rarely needed state of a reader.
#[derive(Debug, Default)]
pub(crate) struct More<'a> {
    /// The unread message, if it has boundaries. The reader's `rest` is empty then.
    pub(crate) boundaries: Option<FragmentBoundaries<'a>>,
    /// State of a layer above for the duration of one message.
    pub(crate) state: BoxedState<dyn Any + Send>,
    /// The type of the state.
    pub(crate) state_type: Option<TypeId>,
    /// Maximum steps that a walk may take without an octet, if not the default.
    pub(crate) free_steps: Option<u32>,
    /// The steps that such walks have taken without an octet.
    pub(crate) spent_steps: u64,
}

impl More<'_> {
    /// Stores a state, replacing one of another type.
    #[cold]
    pub(crate) fn set_state(&mut self, state: Box<dyn Any + Send>) {
        self.state_type = Some((*state).type_id());
        self.state = BoxedState::new(state);
    }
}

impl FragmentBoundaries<'_> {
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes until the next boundary or the end.
    pub(crate) fn here(&self) -> usize {
        if let Some(chunk) = &self.chunk {
            return chunk.left.min(self.bytes.len());
        }
        match self.ahead.first() {
            Some(boundary) => (*boundary as usize)
                .saturating_sub(self.index)
                .min(self.bytes.len()),
            None => self.bytes.len(),
        }
    }

    /// Advances to the next fragment; the remainder of this one is padding.
    /// Returns the new position, or `None` after the last fragment. Likewise for chunks.
    pub(crate) fn cross(&mut self, position: usize) -> Option<usize> {
        if self.chunk.is_some() {
            return self.next_chunk(position);
        }
        let (_, ahead) = self.ahead.split_first()?;
        let left = self.here();
        self.bytes = core::mem::take(&mut self.bytes).split_at_mut(left).1;
        self.index += left;
        self.ahead = ahead;
        Some(beyond(position + left))
    }
}

/// The position at which the next fragment begins: the smallest increase that makes the alignment
/// that of the fragment.
pub(crate) const fn beyond(position: usize) -> usize {
    position + (DATA_AT.wrapping_sub(position) & 7)
}
