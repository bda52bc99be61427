// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets and maps of definitions. Ids count from 0, so both are vectors.

use std::ops::Index;

use crate::DefId;

const BITS: usize = u64::BITS as usize;

/// A set of definitions of one model. It uses a bit for each id up to the greatest one.
#[derive(Debug, Clone, Default)]
pub struct DefSet(Vec<u64>);

impl DefSet {
    /// Adds a definition. False if it was already in the set.
    pub fn insert(&mut self, id: DefId) -> bool {
        let (word, bit) = place(id);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    /// Whether a definition is in the set.
    pub fn contains(&self, id: DefId) -> bool {
        let (word, bit) = place(id);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The index of an id's word, and its bit there.
fn place(id: DefId) -> (usize, u64) {
    let index = id.0 as usize;
    (index / BITS, 1 << (index % BITS))
}

/// A map from definitions of one model to values. It uses memory for each id up to the greatest
/// one.
#[derive(Debug, Clone)]
pub struct DefMap<T>(Vec<Option<T>>);

impl<T> Default for DefMap<T> {
    fn default() -> Self {
        DefMap(Vec::new())
    }
}

impl<T> DefMap<T> {
    /// Stores a value for a definition and returns the previous one.
    pub fn insert(&mut self, id: DefId, value: T) -> Option<T> {
        let index = id.0 as usize;
        while self.0.len() <= index {
            self.0.push(None);
        }
        self.0[index].replace(value)
    }

    /// The value of a definition.
    pub fn get(&self, id: DefId) -> Option<&T> {
        match self.0.get(id.0 as usize) {
            Some(kept) => kept.as_ref(),
            None => None,
        }
    }

    /// The value of a definition, mutable.
    pub fn get_mut(&mut self, id: DefId) -> Option<&mut T> {
        match self.0.get_mut(id.0 as usize) {
            Some(kept) => kept.as_mut(),
            None => None,
        }
    }

    /// Whether a definition has a value.
    pub fn contains(&self, id: DefId) -> bool {
        self.get(id).is_some()
    }
}

impl<T> Index<DefId> for DefMap<T> {
    type Output = T;

    /// The value of a definition, which has to exist.
    fn index(&self, id: DefId) -> &T {
        match self.get(id) {
            Some(kept) => kept,
            None => nothing_kept(id),
        }
    }
}

#[cold]
fn nothing_kept(id: DefId) -> ! {
    panic!("nothing is kept for definition {}", id.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_what_was_inserted() {
        let mut set = DefSet::default();
        assert!(!set.contains(DefId(64)));
        assert!(set.insert(DefId(64)) && set.insert(DefId(63)) && set.insert(DefId(0)));
        assert!(!set.insert(DefId(64)));
        let inside: Vec<u32> = (0..200).filter(|id| set.contains(DefId(*id))).collect();
        assert_eq!(inside, [0, 63, 64]);
    }

    #[test]
    fn a_map_keeps_the_last_value() {
        let mut map = DefMap::default();
        assert_eq!(map.insert(DefId(3), "a"), None);
        assert_eq!(map.insert(DefId(3), "b"), Some("a"));
        assert_eq!(map.get(DefId(2)), None);
        assert!(!map.contains(DefId(4)) && map.contains(DefId(3)));
        *map.get_mut(DefId(3)).unwrap() = "c";
        assert_eq!(map[DefId(3)], "c");
    }

    #[test]
    #[should_panic(expected = "definition 1")]
    fn a_missing_value_is_named() {
        let map: DefMap<u8> = DefMap::default();
        let _ = map[DefId(1)];
    }
}
