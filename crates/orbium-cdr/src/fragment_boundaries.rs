// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembled messages with separately aligned fragments, as in GIOP 1.1.
//!
//! Alignment in a fragment counts from the fragment's own start, and its data begin at
//! its byte 12. A primitive never crosses a boundary: the remainder of a fragment in
//! which it does not fit is padding. Octet sequences, and with them strings, cross.
//!
//! A reader with boundaries keeps `rest` empty, so that every read misses the fast path
//! and goes to `reader::across`: readers without boundaries pay nothing.

/// Offset of the data in a fragment.
pub(crate) const DATA_AT: usize = 12;

/// The unread message of a reader with boundaries.
#[derive(Debug)]
pub(crate) struct FragmentBoundaries<'a> {
    /// All bytes not yet read. They are contiguous, so a run across boundaries is one
    /// slice.
    pub(crate) bytes: &'a mut [u8],
    /// Bytes of the message before them.
    pub(crate) index: usize,
    /// The boundaries ahead, in bytes from the start of the message.
    pub(crate) ahead: &'a [u32],
}

impl FragmentBoundaries<'_> {
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes until the next boundary or the end.
    pub(crate) fn here(&self) -> usize {
        match self.ahead.first() {
            Some(boundary) => (*boundary as usize)
                .saturating_sub(self.index)
                .min(self.bytes.len()),
            None => self.bytes.len(),
        }
    }

    /// Advances to the next fragment; the remainder of this one is padding.
    /// Returns the new position, or `None` after the last fragment.
    pub(crate) fn cross(&mut self, position: usize) -> Option<usize> {
        let (_, ahead) = self.ahead.split_first()?;
        let left = self.here();
        self.bytes = core::mem::take(&mut self.bytes).split_at_mut(left).1;
        self.index += left;
        self.ahead = ahead;
        Some(beyond(position + left))
    }
}

/// The position at which the next fragment begins: as little further as makes
/// alignment come out as in that fragment.
pub(crate) const fn beyond(position: usize) -> usize {
    position + (DATA_AT.wrapping_sub(position) & 7)
}
