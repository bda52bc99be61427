// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tasks of a context, by index.

use crate::tasks::slab::Slab;

/// Values by index, with a bound. Freed indices are reused.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    values: Slab<T>,
    bound: usize,
}

impl<T> Registry<T> {
    pub(crate) const fn new(bound: usize) -> Self {
        Self {
            values: Slab::new(),
            bound,
        }
    }

    /// Inserts a value, and returns its index; none if the bound is reached.
    pub(crate) fn insert(&mut self, value: T) -> Option<usize> {
        (self.len() < self.bound).then(|| self.values.insert(value))
    }

    pub(crate) fn remove(&mut self, index: usize) -> Option<T> {
        self.values.remove(index)
    }

    /// Removes all values.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        self.values.take_all()
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}
