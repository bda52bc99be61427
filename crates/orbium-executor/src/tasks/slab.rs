// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values by index.

use std::ops::{Index, IndexMut};

/// Values by index. Freed indices are reused, the last one first.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Reserves memory for so many values in total.
    pub(crate) fn reserve(&mut self, values: usize) {
        self.places
            .reserve(values.saturating_sub(self.places.len()));
        self.free.reserve(values.saturating_sub(self.free.len()));
    }

    /// Inserts a value, and returns its index.
    pub(crate) fn insert(&mut self, value: T) -> usize {
        let index = self.free.pop().unwrap_or(self.places.len());
        match self.places.get_mut(index) {
            Some(place) => *place = Some(value),
            None => self.places.push(Some(value)),
        }
        index
    }

    pub(crate) fn remove(&mut self, index: usize) -> Option<T> {
        let value = self.places.get_mut(index)?.take()?;
        self.free.push(index);
        Some(value)
    }

    /// Removes all values.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        self.free.clear();
        std::mem::take(&mut self.places)
            .into_iter()
            .flatten()
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

impl<T> Index<usize> for Slab<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        self.places[index].as_ref().expect(IN_USE)
    }
}

impl<T> IndexMut<usize> for Slab<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.places[index].as_mut().expect(IN_USE)
    }
}

/// The requirement of indexing, as slices require that the index is within their length.
const IN_USE: &str = "the index is in use";
