// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembly of numbered parts that arrive in any order, and perhaps repeatedly.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Bookkeeping per part in bytes. It counts against the limits like the part's data:
/// otherwise a peer could exhaust memory by parts of one byte each.
const PART_OVERHEAD: usize = 64;

/// The parts that have arrived.
///
/// ```
/// use orbium_giop::reorder_buffer::ReorderBuffer;
///
/// let mut parts = ReorderBuffer::default();
/// assert_eq!(parts.insert(1, Some(2), b"cd"), Ok(true));
/// assert_eq!(parts.insert(1, None, b"cd"), Ok(false));
/// assert!(!parts.is_complete());
/// assert_eq!(parts.insert(0, None, b"ab"), Ok(true));
/// let mut whole = Vec::new();
/// parts.append_to(&mut whole);
/// assert_eq!((parts.is_complete(), &whole[..]), (true, &b"abcd"[..]));
/// ```
#[derive(Debug, Default)]
pub struct ReorderBuffer {
    parts: BTreeMap<u32, Vec<u8>>,
    bytes: usize,
    /// The number of parts, if known.
    count: Option<u32>,
}

/// Parts with contradictory total numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inconsistent;

impl ReorderBuffer {
    /// Inserts the part of that number, and the number of parts if the part states it.
    /// Returns whether it is new: a duplicate is discarded.
    ///
    /// # Errors
    /// [`Inconsistent`].
    pub fn insert(
        &mut self,
        number: u32,
        count: Option<u32>,
        bytes: &[u8],
    ) -> Result<bool, Inconsistent> {
        let known = self.count.or(count);
        if count.is_some_and(|count| known != Some(count)) {
            return Err(Inconsistent);
        }
        if let Some(count) = known {
            let last = self.parts.last_key_value().map(|(number, _)| *number);
            if number >= count || last.is_some_and(|last| last >= count) {
                return Err(Inconsistent);
            }
        }
        self.count = known;
        match self.parts.entry(number) {
            Entry::Occupied(_) => Ok(false),
            Entry::Vacant(entry) => {
                entry.insert(bytes.to_vec());
                self.bytes += bytes.len();
                Ok(true)
            }
        }
    }

    /// Whether the part with that number has arrived.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        self.parts.contains_key(&number)
    }

    /// Whether all have arrived.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.count
            .is_some_and(|count| self.parts.len() == count as usize)
    }

    /// Appends all parts in order.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.reserve(self.bytes);
        for part in self.parts.values() {
            out.extend_from_slice(part);
        }
    }

    /// Bytes of data in the parts.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory that the parts occupy.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.bytes + self.parts.len() * PART_OVERHEAD
    }

    /// Bytes of memory that a part of that size occupies.
    #[must_use]
    pub const fn cost_of(bytes: usize) -> usize {
        bytes + PART_OVERHEAD
    }
}
