// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tasks of a context, by index.

/// Values by index, with a bound. Freed indices are used again.
#[derive(Debug)]
pub(crate) struct Registry<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
    bound: usize,
}

impl<T> Registry<T> {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            bound,
        }
    }

    /// The index of the value; none if there are as many as may be.
    pub(crate) fn insert(&mut self, value: T) -> Option<usize> {
        if self.len() >= self.bound {
            return None;
        }
        let index = self.free.pop().unwrap_or(self.places.len());
        match self.places.get_mut(index) {
            Some(place) => *place = Some(value),
            None => self.places.push(Some(value)),
        }
        Some(index)
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
