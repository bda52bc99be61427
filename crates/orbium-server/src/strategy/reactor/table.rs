// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connections of a reactor, by their numbers.

/// A list in the order of the ids, which ascend. Removed connections leave their entries until they
/// are as many as the others: so each entry is moved only a few times.
pub(crate) struct Table<T> {
    entries: Vec<(u64, Option<T>)>,
    gone: usize,
}

impl<T> Table<T> {
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            gone: 0,
        }
    }

    fn place(&self, id: u64) -> Result<usize, usize> {
        self.entries.binary_search_by(|(it, _)| it.cmp(&id))
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        let place = self.place(id).ok()?;
        self.entries.get_mut(place)?.1.as_mut()
    }

    pub(crate) fn get(&self, id: u64) -> Option<&T> {
        let place = self.place(id).ok()?;
        self.entries.get(place)?.1.as_ref()
    }

    /// Inserts a connection under a new id.
    pub(super) fn insert(&mut self, id: u64, connection: T) {
        // Appends: ids ascend.
        if let Err(place) = self.place(id) {
            self.entries.insert(place, (id, Some(connection)));
        }
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<T> {
        let place = self.place(id).ok()?;
        let removed = self.entries.get_mut(place)?.1.take()?;
        self.gone += 1;
        self.tidy();
        Some(removed)
    }

    /// All connections, with their ids.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        let entries = self.entries.iter_mut();
        entries.filter_map(|(id, entry)| Some((*id, entry.as_mut()?)))
    }

    /// Drops the empty entries, if they are many.
    fn tidy(&mut self) {
        if self.gone * 2 > self.entries.len() {
            let mut kept = 0;
            for place in 0..self.entries.len() {
                if self.entries[place].1.is_some() {
                    self.entries.swap(kept, place);
                    kept += 1;
                }
            }
            self.entries.truncate(kept);
            self.gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn removed_connections_are_not_found_and_leave_no_entries() {
        let mut table = Table::new();
        for id in 0..1000_u64 {
            table.insert(id, id + 7);
            if id >= 10 {
                assert_eq!(table.remove(id - 10), Some(id - 3));
                assert_eq!(table.remove(id - 10), None);
            }
            assert!(table.entries.len() <= 23, "{}", table.entries.len());
        }
        let all = table.iter_mut().map(|(id, _)| id);
        assert!(all.eq(990..1000));
        assert_eq!(table.get(990), Some(&997));
        assert_eq!(table.get_mut(989), None);
        assert_eq!(table.get(1000), None);
    }
}
