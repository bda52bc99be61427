// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memo of type parts already visited, keyed by pairs.

use std::collections::HashMap;

use super::view::Identity;

/// Numbers by pairs of parts; the number of a single part is stored under the pair of it with
/// itself.
#[derive(Default)]
pub(super) struct Known(HashMap<(Identity, Identity), usize>);

impl Known {
    #[inline]
    pub(super) fn get(&self, part: Identity) -> Option<usize> {
        self.0.get(&(part, part)).copied()
    }

    #[inline]
    pub(super) fn insert(&mut self, part: Identity, number: usize) {
        self.0.insert((part, part), number);
    }

    #[inline]
    pub(super) fn remove(&mut self, part: Identity) {
        self.0.remove(&(part, part));
    }

    /// Stores a pair; returns whether it is new.
    #[inline]
    pub(super) fn note_pair(&mut self, a: Identity, b: Identity) -> bool {
        self.0.insert((a, b), 0).is_none()
    }
}
