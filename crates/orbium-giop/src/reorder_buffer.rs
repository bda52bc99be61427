// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembly of numbered parts that arrive in any order, and perhaps repeatedly.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Bookkeeping per part in bytes. It counts against the limits like the part's data:
/// otherwise a peer could exhaust memory by parts of one byte each.
const PART_OVERHEAD: usize = 64;

/// The parts that have arrived.
#[derive(Debug, Default)]
pub(crate) struct ReorderBuffer {
    parts: BTreeMap<u32, Vec<u8>>,
    bytes: usize,
    /// The number of parts, once it is known.
    count: Option<u32>,
}

/// Parts contradict one another about their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inconsistent;

impl ReorderBuffer {
    /// Inserts the part of that number, and the number of parts if the part states it.
    /// Returns whether it is new: a duplicate is discarded.
    pub(crate) fn insert(
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
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.parts.contains_key(&number)
    }

    /// Whether all have arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.count
            .is_some_and(|count| self.parts.len() == count as usize)
    }

    /// Appends all parts in order.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        out.reserve(self.bytes);
        for part in self.parts.values() {
            out.extend_from_slice(part);
        }
    }

    /// Bytes of data in the parts.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of memory that the parts occupy.
    pub(crate) fn cost(&self) -> usize {
        self.bytes + self.parts.len() * PART_OVERHEAD
    }

    /// Bytes of memory that a part of that size occupies.
    pub(crate) const fn cost_of(bytes: usize) -> usize {
        bytes + PART_OVERHEAD
    }
}
