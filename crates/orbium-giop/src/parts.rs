// SPDX-License-Identifier: MIT OR Apache-2.0
//! Something that arrives in numbered parts, in any order, more than once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What keeping a part costs beside its octets: it counts as octets received,
/// or a peer could make us keep much by parts of an octet each.
const PART: usize = 64;

/// Parts that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    parts: BTreeMap<u32, Vec<u8>>,
    octets: usize,
    /// How many there are, once it is known.
    count: Option<u32>,
}

/// Parts disagree about how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inconsistent;

impl Parts {
    /// Takes the part with that number, and perhaps how many there are. Returns
    /// whether it is new: of parts with one number the first is kept.
    pub(crate) fn insert(
        &mut self,
        number: u32,
        count: Option<u32>,
        octets: &[u8],
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
            Entry::Vacant(place) => {
                place.insert(octets.to_vec());
                self.octets += octets.len();
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
        out.reserve(self.octets);
        for part in self.parts.values() {
            out.extend_from_slice(part);
        }
    }

    /// Octets of the parts.
    pub(crate) const fn octets(&self) -> usize {
        self.octets
    }

    /// Octets kept for them.
    pub(crate) fn cost(&self) -> usize {
        self.octets + self.parts.len() * PART
    }

    /// What keeping a part of that many octets costs.
    pub(crate) const fn cost_of(octets: usize) -> usize {
        octets + PART
    }
}
