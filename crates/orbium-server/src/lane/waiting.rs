// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queued requests in the order of dispatch.

use std::collections::{BTreeMap, VecDeque};

use crate::lane::rank::{Place, Rank};

/// Maximum number of empty levels retained with their memory.
const SPARE_LEVELS: usize = 32;

/// Queued entries: higher priorities first, or the least rank; within one, in order of arrival.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    /// Highest priority first.
    levels: Vec<Level<T>>,
    /// By rank and arrival, in queues with such an order: a map and not a heap, as entries that may
    /// not begin yet are skipped.
    ranked: BTreeMap<(Rank, u64), Entry<T>>,
    /// The number of entries, and their total size.
    entries: usize,
    octets: usize,
    most_octets: usize,
    arrived: u64,
}

/// The entries with one priority.
#[derive(Debug)]
struct Level<T> {
    priority: i16,
    entries: VecDeque<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    arrived: u64,
    octets: usize,
    it: T,
}

impl<T> Waiting<T> {
    /// An empty queue, limited to `most_octets`, except for a single entry.
    pub(crate) fn new(most_octets: usize) -> Self {
        Self {
            levels: Vec::new(),
            ranked: BTreeMap::new(),
            entries: 0,
            octets: 0,
            most_octets,
            arrived: 0,
        }
    }

    /// Limits the size of later entries.
    pub(crate) fn bound_octets(&mut self, most: usize) {
        self.most_octets = most;
    }

    /// Adds an entry of size `octets`, unless there are `most` already or its size exceeds the
    /// limit.
    pub(crate) fn put(
        &mut self,
        place: Place,
        octets: usize,
        entry: T,
        most: usize,
    ) -> Result<(), T> {
        if self.entries >= most || self.entries > 0 && !self.has_room(octets) {
            return Err(entry);
        }
        self.octets = self.octets.saturating_add(octets);
        self.entries += 1;
        self.arrived += 1;
        let arrived = self.arrived;
        let entry = Entry {
            arrived,
            octets,
            it: entry,
        };
        match place {
            Place::Level(priority) => self.level(priority).entries.push_back(entry),
            Place::Ranked(rank) => drop(self.ranked.insert((rank, arrived), entry)),
        }
        Ok(())
    }

    /// Whether there is capacity for another entry of size `octets`.
    pub(crate) fn has_room(&self, octets: usize) -> bool {
        self.octets.saturating_add(octets) <= self.most_octets
    }

    fn level(&mut self, priority: i16) -> &mut Level<T> {
        let mut place = self.levels.partition_point(|it| it.priority > priority);
        let there = self.levels.get(place);
        if there.is_none_or(|it| it.priority != priority) {
            if self.levels.len() >= SPARE_LEVELS {
                self.levels.retain(|it| !it.entries.is_empty());
                place = self.levels.partition_point(|it| it.priority > priority);
            }
            let level = Level {
                priority,
                entries: VecDeque::new(),
            };
            self.levels.insert(place, level);
        }
        &mut self.levels[place]
    }

    /// Takes the first entry that may begin.
    pub(crate) fn take(&mut self, may_begin: impl Fn(&T) -> bool) -> Option<T> {
        if !self.ranked.is_empty() {
            let mut ranked = self.ranked.iter();
            let (&first, _) = ranked.find(|(_, entry)| may_begin(&entry.it))?;
            return self.take_ranked(first);
        }
        for level in 0..self.levels.len() {
            let mut entries = self.levels[level].entries.iter();
            if let Some(place) = entries.position(|entry| may_begin(&entry.it)) {
                return self.take_at(level, place);
            }
        }
        None
    }

    /// Takes the entry that has arrived last.
    pub(crate) fn take_last(&mut self) -> Option<T> {
        if let Some(&last) = self.ranked.keys().max_by_key(|(_, arrived)| *arrived) {
            return self.take_ranked(last);
        }
        let last = |level: &Level<T>| level.entries.back().map_or(0, |entry| entry.arrived);
        let level = (0..self.levels.len()).max_by_key(|&level| last(&self.levels[level]))?;
        let place = self.levels[level].entries.len().checked_sub(1)?;
        self.take_at(level, place)
    }

    fn take_at(&mut self, level: usize, place: usize) -> Option<T> {
        let entry = self.levels[level].entries.remove(place)?;
        Some(self.taken(entry))
    }

    #[cold]
    fn take_ranked(&mut self, key: (Rank, u64)) -> Option<T> {
        let entry = self.ranked.remove(&key)?;
        Some(self.taken(entry))
    }

    fn taken(&mut self, entry: Entry<T>) -> T {
        self.entries -= 1;
        self.octets -= entry.octets;
        entry.it
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    /// Removes the matching entries.
    pub(crate) fn remove(&mut self, which: &dyn Fn(&T) -> bool) -> Vec<T> {
        let ranked = self.ranked.iter().filter(|(_, entry)| which(&entry.it));
        let ranked: Vec<_> = ranked.map(|(key, _)| *key).collect();
        let ranked = ranked.into_iter();
        let mut removed: Vec<T> = ranked.filter_map(|key| self.take_ranked(key)).collect();
        for entries in self.levels.iter_mut().map(|level| &mut level.entries) {
            // Once around: the remaining ones keep their order.
            for _ in 0..entries.len() {
                let Some(entry) = entries.pop_front() else {
                    break;
                };
                if which(&entry.it) {
                    self.entries -= 1;
                    self.octets -= entry.octets;
                    removed.push(entry.it);
                } else {
                    entries.push_back(entry);
                }
            }
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::Level;
    use orbium_lane::Order;
    use std::time::{Duration, Instant};

    fn all(waiting: &mut Waiting<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| waiting.take(|_| true)).collect()
    }

    #[test]
    fn priority_goes_first_and_then_the_order_of_arrival() {
        let mut waiting = Waiting::new(100);
        let arriving = [(0, "a"), (5, "b"), (0, "c"), (5, "d"), (32767, "e")];
        for (priority, entry) in arriving {
            waiting.put(Level(priority), 1, entry, 10).unwrap();
        }
        assert_eq!(all(&mut waiting), ["e", "b", "d", "a", "c"]);
    }

    #[test]
    fn the_least_rank_goes_first_and_then_the_order_of_arrival() {
        let now = Instant::now();
        let at = |seconds: Option<u64>| {
            let deadline = seconds.map(|it| now + Duration::from_secs(it));
            Place::of_call(Order::EarliestDeadline, 32767, deadline)
        };
        let mut waiting = Waiting::new(100);
        let arriving = [
            (None, "a"),
            (Some(20), "b"),
            (Some(10), "c"),
            (None, "d"),
            (Some(20), "e"),
        ];
        for (deadline, entry) in arriving {
            waiting.put(at(deadline), 1, entry, 10).unwrap();
        }
        assert_eq!(waiting.take(|entry| *entry != "c"), Some("b"));
        assert_eq!(waiting.take(|_| false), None);
        assert_eq!(waiting.take_last(), Some("e"));
        assert_eq!(waiting.remove(&|entry| *entry == "d"), ["d"]);
        assert_eq!((waiting.len(), waiting.octets), (2, 2));
        waiting.put(at(Some(30)), 1, "f", 10).unwrap();
        assert_eq!(all(&mut waiting), ["c", "f", "a"]);
        assert_eq!((waiting.len(), waiting.octets), (0, 0));
    }

    #[test]
    fn blocked_items_are_passed_over_and_keep_their_place() {
        let mut waiting = Waiting::new(100);
        for entry in ["a", "b", "c"] {
            waiting.put(Level(0), 1, entry, 10).unwrap();
        }
        assert_eq!(waiting.take(|entry| *entry != "a"), Some("b"));
        assert_eq!(waiting.take(|_| false), None);
        assert_eq!(all(&mut waiting), ["a", "c"]);
    }

    #[test]
    fn the_last_to_arrive_is_taken_whatever_its_priority() {
        let mut waiting = Waiting::new(100);
        for (priority, entry) in [(0, "a"), (9, "b"), (5, "c")] {
            waiting.put(Level(priority), 1, entry, 10).unwrap();
        }
        assert_eq!((waiting.take_last(), waiting.len()), (Some("c"), 2));
        assert_eq!(all(&mut waiting), ["b", "a"]);
        assert_eq!(waiting.take_last(), None);
    }

    #[test]
    fn levels_without_entries_do_not_pile_up() {
        let mut waiting = Waiting::new(100);
        waiting.put(Level(7), 1, "stays", 10).unwrap();
        for priority in 0..i16::MAX {
            waiting.put(Level(priority), 1, "goes", 10).unwrap();
            assert_eq!(waiting.take(|entry| *entry == "goes"), Some("goes"));
            assert!(waiting.levels.len() <= SPARE_LEVELS);
        }
        for priority in [8, 6, 8] {
            waiting.put(Level(priority), 1, "more", 10).unwrap();
        }
        assert_eq!(all(&mut waiting), ["more", "more", "stays", "more"]);
        assert_eq!((waiting.len(), waiting.octets), (0, 0));
    }

    #[test]
    fn remaining_items_keep_their_order() {
        let mut waiting = Waiting::new(100);
        for entry in ["a", "x", "b", "c", "x"] {
            waiting.put(Level(0), 1, entry, 10).unwrap();
            waiting.put(Level(1), 1, entry, 10).unwrap();
        }
        assert_eq!(waiting.remove(&|entry| *entry == "x").len(), 4);
        assert_eq!((waiting.len(), waiting.octets), (6, 6));
        assert_eq!(all(&mut waiting), ["a", "b", "c", "a", "b", "c"]);
    }

    #[test]
    fn both_bounds_hold_and_room_comes_back() {
        let mut waiting = Waiting::new(10);
        // A single entry may have the maximum size of a message.
        waiting.put(Level(0), 50, "large", 2).unwrap();
        assert_eq!(waiting.put(Level(0), 1, "no octets", 2), Err("no octets"));
        assert_eq!(waiting.remove(&|entry| *entry == "large"), ["large"]);
        waiting.put(Level(0), 5, "a", 2).unwrap();
        assert_eq!(waiting.put(Level(0), 6, "too large", 2), Err("too large"));
        waiting.put(Level(0), 5, "b", 2).unwrap();
        assert_eq!(waiting.put(Level(9), 0, "too many", 2), Err("too many"));
        assert_eq!(waiting.take(|_| true), Some("a"));
        waiting.put(Level(0), 5, "c", 2).unwrap();
        assert_eq!(all(&mut waiting), ["b", "c"]);
        assert_eq!(waiting.octets, 0);
    }
}
