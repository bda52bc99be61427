// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object keys: opaque to all other ORBs.
//!
//! | octets | content |
//! |---|---|
//! | 4 | magic |
//! | 8 | incarnation of the ORB that made the key |
//! | 8 | slot and generation of the object: the active hint |
//! | – | end of the key of a transient object with a system id |
//! | 1 | bit 0: persistent |
//! | 1 | number of adapter names |
//! | … | each name: length (2, big-endian), octets |
//! | … | the object id: the remaining octets |
//!
//! A key of this incarnation with a valid hint costs one index and one comparison, independent of
//! the depth of the adapter and the assignment of the id. The path is for stale hints: keys of
//! another process, or of reactivated objects.

use orbium_sync::SlotKey;

const MAGIC: [u8; 4] = [0xC0, b'r', b'b', 1];

/// Length up to and including the hint.
const HEAD: usize = 20;

const PERSISTENT: u8 = 1;

/// A parsed object key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectKey<'k> {
    /// The incarnation of the ORB or adapter that made it.
    pub incarnation: u64,
    /// Slot and generation of the object when the key was made.
    pub hint: SlotKey,
    /// The part after the hint.
    pub path: Option<Path<'k>>,
}

/// The long form, for look-up with a stale hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path<'k> {
    /// Whether the object outlives its process.
    pub persistent: bool,
    names: &'k [u8],
    /// The id of the object in its adapter.
    pub object_id: &'k [u8],
}

/// A slot that no object has: generation 0.
pub const NO_HINT: SlotKey = SlotKey {
    index: 0,
    generation: 0,
};

/// The id that an adapter assigns to an object by its slot.
pub fn system_id(slot: SlotKey) -> Box<[u8]> {
    [slot.index.to_be_bytes(), slot.generation.to_be_bytes()]
        .as_flattened()
        .into()
}

impl<'k> ObjectKey<'k> {
    /// Parses a key; `None` if it was not made by orbium.
    #[inline]
    pub fn parse(key: &'k [u8]) -> Option<Self> {
        let (head, tail) = key.split_first_chunk::<HEAD>()?;
        let [
            m0,
            m1,
            m2,
            m3,
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i0,
            i1,
            i2,
            i3,
            g0,
            g1,
            g2,
            g3,
        ] = *head;
        if [m0, m1, m2, m3] != MAGIC {
            return None;
        }
        Some(Self {
            incarnation: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            hint: SlotKey {
                index: u32::from_le_bytes([i0, i1, i2, i3]),
                generation: u32::from_le_bytes([g0, g1, g2, g3]),
            },
            path: if tail.is_empty() {
                None
            } else {
                Some(Path::parse(tail)?)
            },
        })
    }

    /// Incarnation and hint of a key without a path, as most are.
    #[inline]
    pub fn parse_short(key: &[u8]) -> Option<(u64, SlotKey)> {
        let key: &[u8; HEAD] = key.try_into().ok()?;
        let (magic, rest) = key.split_first_chunk::<4>()?;
        let (incarnation, rest) = rest.split_first_chunk::<8>()?;
        let (index, rest) = rest.split_first_chunk::<4>()?;
        let generation = rest.first_chunk::<4>()?;
        let hint = SlotKey {
            index: u32::from_le_bytes(*index),
            generation: u32::from_le_bytes(*generation),
        };
        (*magic == MAGIC).then_some((u64::from_le_bytes(*incarnation), hint))
    }

    /// The key of a transient object with a system id.
    pub fn short(incarnation: u64, hint: SlotKey) -> Vec<u8> {
        let mut key = Vec::with_capacity(HEAD);
        key.extend_from_slice(&MAGIC);
        key.extend_from_slice(&incarnation.to_le_bytes());
        key.extend_from_slice(&hint.index.to_le_bytes());
        key.extend_from_slice(&hint.generation.to_le_bytes());
        key
    }

    /// The key of any other object.
    pub fn long(
        incarnation: u64,
        hint: SlotKey,
        persistent: bool,
        names: &[String],
        object_id: &[u8],
    ) -> Vec<u8> {
        let mut key = Self::short(incarnation, hint);
        key.push(if persistent { PERSISTENT } else { 0 });
        key.push(names.len() as u8);
        for name in names {
            key.extend_from_slice(&(name.len() as u16).to_be_bytes());
            key.extend_from_slice(name.as_bytes());
        }
        key.extend_from_slice(object_id);
        key
    }
}

/// Longest adapter name, in octets.
pub const MAX_NAME: usize = u16::MAX as usize;
/// Maximum number of adapter names in a key.
pub const MAX_DEPTH: usize = u8::MAX as usize;

fn split_name(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = octets.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))
}

impl<'k> Path<'k> {
    fn parse(tail: &'k [u8]) -> Option<Self> {
        let [flags, count, rest @ ..] = tail else {
            return None;
        };
        let mut object_id = rest;
        for _ in 0..*count {
            object_id = split_name(object_id)?.1;
        }
        let names = &rest[..rest.len() - object_id.len()];
        Some(Self {
            persistent: flags & PERSISTENT != 0,
            names,
            object_id,
        })
    }

    /// The adapter names, outermost first, without the root.
    pub fn names(&self) -> impl Iterator<Item = &'k [u8]> + use<'k> {
        let mut left = self.names;
        std::iter::from_fn(move || {
            let (name, rest) = split_name(left)?;
            left = rest;
            Some(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: references - object keys
    #[test]
    fn parsing_a_key_gives_what_it_was_made_of() {
        let hint = SlotKey {
            index: 7,
            generation: 9,
        };
        let short = ObjectKey::short(5, hint);
        assert_eq!(
            ObjectKey::parse(&short),
            Some(ObjectKey {
                incarnation: 5,
                hint,
                path: None
            })
        );

        let names = ["devices".to_owned(), String::new()];
        let long = ObjectKey::long(5, hint, true, &names, b"id");
        let path = ObjectKey::parse(&long).unwrap().path.unwrap();
        assert!(path.persistent);
        assert_eq!(path.names().collect::<Vec<_>>(), [&b"devices"[..], b""]);
        assert_eq!(path.object_id, b"id");
    }

    /// Conformance: references - object keys
    #[test]
    fn no_prefix_and_no_garbled_key_is_misread() {
        let long = ObjectKey::long(5, NO_HINT, false, &["abc".to_owned()], b"");
        for len in 0..long.len() {
            let parsed = ObjectKey::parse(&long[..len]);
            assert!(len == HEAD || parsed.is_none(), "{len}");
        }
        assert!(ObjectKey::parse(b"NameService").is_none());
        let mut garbled = long;
        garbled[HEAD + 2] = 0xFF;
        assert!(ObjectKey::parse(&garbled).is_none());
    }
}
