// SPDX-License-Identifier: MIT OR Apache-2.0
//! One level of JSON, its values still text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The keys of an object in order, each with its value as text. A duplicate key is an error.
pub(super) struct Object<'j>(pub(super) Vec<(String, &'j RawValue)>);

impl<'j> Object<'j> {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'j RawValue> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| *value)
    }

    /// Looks up many keys.
    pub(super) fn lookup(&self) -> Lookup<'_, 'j> {
        Lookup {
            members: &self.0,
            next: 0,
            indices: HashMap::new(),
        }
    }
}

/// A look-up of many keys, which mostly come in the order of the object.
pub(super) struct Lookup<'o, 'j> {
    members: &'o [(String, &'j RawValue)],
    /// The index after that of the last key.
    next: usize,
    /// The index of each of many keys, once one was not in order.
    indices: HashMap<&'o str, usize>,
}

impl<'j> Lookup<'_, 'j> {
    /// The value of a key.
    pub(super) fn get(&mut self, key: &str) -> Option<&'j RawValue> {
        let index = match self.members.get(self.next) {
            Some((name, _)) if name == key => self.next,
            _ => self.search(key)?,
        };
        self.next = index + 1;
        Some(self.members[index].1)
    }

    fn search(&mut self, key: &str) -> Option<usize> {
        if self.members.len() < MIN_TABLE_KEYS {
            return self.members.iter().position(|(name, _)| name == key);
        }
        if self.indices.is_empty() {
            let names = self.members.iter().map(|(name, _)| &**name);
            self.indices.extend(names.zip(0..));
        }
        self.indices.get(key).copied()
    }
}

impl<'j> Deserialize<'j> for Object<'j> {
    fn deserialize<D: Deserializer<'j>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

/// Number of keys from which they are looked up in a table, to avoid quadratic time.
const MIN_TABLE_KEYS: usize = 16;

impl<'j> Visitor<'j> for Members {
    type Value = Object<'j>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'j>>(self, mut map: A) -> Result<Object<'j>, A::Error> {
        let mut members: Vec<(String, &RawValue)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((name, value)) = map.next_entry::<Cow<'_, str>, &RawValue>()? {
            let name = name.into_owned();
            let is_twice = match members.len() {
                0..MIN_TABLE_KEYS => members.iter().any(|(other, _)| *other == name),
                _ => {
                    if seen.is_empty() {
                        seen.extend(members.iter().map(|(other, _)| other.clone()));
                    }
                    !seen.insert(name.clone())
                }
            };
            if is_twice {
                return Err(A::Error::custom(format_args!("`{name}` is there twice")));
            }
            members.push((name, value));
        }
        Ok(Object(members))
    }
}
