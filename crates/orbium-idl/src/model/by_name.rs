// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets and maps of names. One hash table from names to numbers serves them all: less to compile
//! than one for each type kept, which every program that compiles IDL waits for.

use std::collections::HashMap;
use std::sync::Arc;

/// A set of names, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub struct NameSet {
    numbers: HashMap<Arc<str>, usize>,
    names: Vec<Arc<str>>,
}

impl NameSet {
    /// Adds a name. False if it was inside already.
    pub fn insert(&mut self, name: &str) -> bool {
        let before = self.names.len();
        self.number(name) == before
    }

    /// Whether a name is inside.
    pub fn contains(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    /// The number of a name, which is inside from now on. They count from 0.
    fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let (number, name) = (self.names.len(), Arc::<str>::from(name));
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }
}

/// Something known of some names.
#[derive(Debug, Clone)]
pub struct NameMap<T> {
    names: NameSet,
    /// By number of the name.
    kept: Vec<Option<T>>,
}

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        NameMap {
            names: NameSet::default(),
            kept: Vec::new(),
        }
    }
}

impl<T> NameMap<T> {
    /// What is kept for a name, or room for it.
    pub fn slot(&mut self, name: &str) -> &mut Option<T> {
        let number = self.names.number(name);
        if number == self.kept.len() {
            self.kept.push(None);
        }
        &mut self.kept[number]
    }

    /// What is kept for a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        match self.names.numbers.get(name) {
            Some(number) => self.kept[*number].as_ref(),
            None => None,
        }
    }

    /// Whether something is kept for a name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The names and what is kept for them, in the order in which the names came first.
    pub fn all(&self) -> Vec<(&str, &T)> {
        let mut all = Vec::new();
        for (number, kept) in self.kept.iter().enumerate() {
            if let Some(kept) = kept {
                all.push((&*self.names.names[number], kept));
            }
        }
        all
    }

    /// Forgets what is to be forgotten.
    pub fn forget(&mut self, gone: &mut dyn FnMut(&T) -> bool) {
        for kept in &mut self.kept {
            if kept.as_ref().is_some_and(&mut *gone) {
                *kept = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_what_was_inserted() {
        let mut set = NameSet::default();
        assert!(!set.contains("a"));
        assert!(set.insert("a") && set.insert("A") && !set.insert("a"));
        assert!(set.contains("a") && set.contains("A") && !set.contains("b"));
    }

    #[test]
    fn a_map_keeps_the_last_value() {
        let mut map = NameMap::default();
        assert_eq!(map.slot("b").replace(1), None);
        assert_eq!(map.slot("a").replace(2), None);
        assert_eq!(map.slot("b").replace(3), Some(1));
        assert_eq!(map.get("b"), Some(&3));
        assert_eq!(map.get("c"), None);
        assert_eq!(map.all(), [("b", &3), ("a", &2)]);
    }

    #[test]
    fn what_is_forgotten_is_not_kept() {
        let mut map = NameMap::default();
        for (name, value) in [("a", 1), ("b", 2), ("c", 3)] {
            *map.slot(name) = Some(value);
        }
        map.forget(&mut |value| *value == 2);
        assert!(map.contains("a") && !map.contains("b"));
        assert_eq!(map.all(), [("a", &1), ("c", &3)]);
        *map.slot("b") = Some(4);
        assert_eq!(map.all(), [("a", &1), ("b", &4), ("c", &3)]);
    }
}
