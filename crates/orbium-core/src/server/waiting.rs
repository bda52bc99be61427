// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests in the order in which they are to be served.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What waits: higher priorities first, within one first come first served.
#[derive(Debug)]
pub(super) struct Waiting<T> {
    entries: BTreeMap<(Reverse<i16>, u64), (usize, T)>,
    /// Of all entries together.
    octets: usize,
    most_octets: usize,
    arrived: u64,
}

impl<T> Waiting<T> {
    /// Nothing yet, and never more than `most_octets`, except for one entry
    /// alone.
    pub(super) fn new(most_octets: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            octets: 0,
            most_octets,
            arrived: 0,
        }
    }

    /// Adds an entry of `octets`, unless there are `most` already or its octets
    /// are too many.
    pub(super) fn put(
        &mut self,
        priority: i16,
        octets: usize,
        entry: T,
        most: usize,
    ) -> Result<(), T> {
        let total = self.octets.saturating_add(octets);
        let crowded = total > self.most_octets && !self.entries.is_empty();
        if self.entries.len() >= most || crowded {
            return Err(entry);
        }
        self.octets = total;
        self.arrived += 1;
        let key = (Reverse(priority), self.arrived);
        self.entries.insert(key, (octets, entry));
        Ok(())
    }

    /// Takes the first that may be begun.
    pub(super) fn take(&mut self, may_begin: impl Fn(&T) -> bool) -> Option<T> {
        let mut entries = self.entries.iter();
        let (&key, _) = entries.find(|(_, (_, entry))| may_begin(entry))?;
        let (octets, entry) = self.entries.remove(&key)?;
        self.octets -= octets;
        Some(entry)
    }

    /// Takes what has arrived last.
    pub(super) fn take_last(&mut self) -> Option<T> {
        let &key = self.entries.keys().max_by_key(|(_, arrived)| *arrived)?;
        let (octets, entry) = self.entries.remove(&key)?;
        self.octets -= octets;
        Some(entry)
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes all of a kind out.
    pub(super) fn remove(&mut self, which: impl Fn(&T) -> bool) -> Vec<T> {
        let found = self.entries.iter().filter(|(_, (_, entry))| which(entry));
        let keys: Vec<_> = found.map(|(&key, _)| key).collect();
        let mut removed = Vec::with_capacity(keys.len());
        for (octets, entry) in keys.iter().filter_map(|key| self.entries.remove(key)) {
            self.octets -= octets;
            removed.push(entry);
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(waiting: &mut Waiting<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| waiting.take(|_| true)).collect()
    }

    #[test]
    fn priority_goes_first_and_then_the_order_of_arrival() {
        let mut waiting = Waiting::new(100);
        let arriving = [(0, "a"), (5, "b"), (0, "c"), (5, "d"), (32767, "e")];
        for (priority, entry) in arriving {
            waiting.put(priority, 1, entry, 10).unwrap();
        }
        assert_eq!(all(&mut waiting), ["e", "b", "d", "a", "c"]);
    }

    #[test]
    fn what_may_not_begin_is_passed_over_and_keeps_its_place() {
        let mut waiting = Waiting::new(100);
        for entry in ["a", "b", "c"] {
            waiting.put(0, 1, entry, 10).unwrap();
        }
        assert_eq!(waiting.take(|entry| *entry != "a"), Some("b"));
        assert_eq!(waiting.take(|_| false), None);
        assert_eq!(all(&mut waiting), ["a", "c"]);
    }

    #[test]
    fn the_last_to_arrive_is_taken_whatever_its_priority() {
        let mut waiting = Waiting::new(100);
        for (priority, entry) in [(0, "a"), (9, "b"), (5, "c")] {
            waiting.put(priority, 1, entry, 10).unwrap();
        }
        assert_eq!((waiting.take_last(), waiting.len()), (Some("c"), 2));
        assert_eq!(all(&mut waiting), ["b", "a"]);
        assert_eq!(waiting.take_last(), None);
    }

    #[test]
    fn both_bounds_hold_and_room_comes_back() {
        let mut waiting = Waiting::new(10);
        // One alone may be as large as a message may be.
        waiting.put(0, 50, "large", 2).unwrap();
        assert_eq!(waiting.put(0, 1, "no octets", 2), Err("no octets"));
        assert_eq!(waiting.remove(|entry| *entry == "large"), ["large"]);
        waiting.put(0, 5, "a", 2).unwrap();
        assert_eq!(waiting.put(0, 6, "too large", 2), Err("too large"));
        waiting.put(0, 5, "b", 2).unwrap();
        assert_eq!(waiting.put(9, 0, "too many", 2), Err("too many"));
        assert_eq!(waiting.take(|_| true), Some("a"));
        waiting.put(0, 5, "c", 2).unwrap();
        assert_eq!(all(&mut waiting), ["b", "c"]);
        assert_eq!(waiting.octets, 0);
    }
}
