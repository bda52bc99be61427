// SPDX-License-Identifier: MIT OR Apache-2.0
//! From an operation name to its index, by a perfect hash that the IDL compiler
//! has worked out.
//!
//! The compiler looks for the cheapest key that tells the names of an interface
//! apart: one octet, a few octets and the length, or a hash of the whole name.
//! Whatever the key says, the whole name is compared in the end, so any octets
//! may be looked up.

/// The operations of an interface, to be found by name.
///
/// Made by generated code, in a `static`.
///
/// ```
/// use orbium_core::OperationTable;
///
/// static OPERATIONS: OperationTable = OperationTable::by_octet(&["ping", "stop"], 0, b'p', &[0, 0, 0, 1]);
/// assert_eq!(OPERATIONS.find(b"stop"), Some(1));
/// assert_eq!(OPERATIONS.find(b"step"), None);
/// ```
#[derive(Debug)]
pub struct OperationTable {
    names: &'static [&'static str],
    /// Octets in the longest name: nothing longer is worth a hash.
    longest: usize,
    key: Key,
    /// Index of a name for every value the key can take. A slot that no name
    /// leads to holds 0: the comparison at the end turns strangers away.
    slots: &'static [u16],
}

/// How a name becomes an index into the slots.
#[derive(Debug)]
enum Key {
    /// The octet at a place, less the lowest one that occurs there.
    Octet { at: i16, lowest: u8 },
    /// Three octets and the length, multiplied; the highest bits count.
    Octets {
        at: [i16; 3],
        multiplier: u32,
        shift: u32,
    },
    /// A hash of the whole name, displaced per bucket.
    Hash { displacements: &'static [u16] },
}

impl OperationTable {
    /// A table in which one octet tells all names apart.
    ///
    /// Places count from the start, or, when negative, from the end, where -1
    /// is the last octet.
    #[must_use]
    pub const fn by_octet(
        names: &'static [&'static str],
        at: i16,
        lowest: u8,
        slots: &'static [u16],
    ) -> Self {
        Self::new(names, Key::Octet { at, lowest }, slots)
    }

    /// A table in which three octets and the length tell all names apart.
    ///
    /// `shift` is 32 less the binary logarithm of the number of slots.
    #[must_use]
    pub const fn by_octets(
        names: &'static [&'static str],
        at: [i16; 3],
        multiplier: u32,
        shift: u32,
        slots: &'static [u16],
    ) -> Self {
        let key = Key::Octets {
            at,
            multiplier,
            shift,
        };
        Self::new(names, key, slots)
    }

    /// A table over a hash of the whole name. The numbers of displacements and
    /// of slots are powers of two.
    #[must_use]
    pub const fn by_hash(
        names: &'static [&'static str],
        displacements: &'static [u16],
        slots: &'static [u16],
    ) -> Self {
        Self::new(names, Key::Hash { displacements }, slots)
    }

    const fn new(names: &'static [&'static str], key: Key, slots: &'static [u16]) -> Self {
        let mut longest = 0;
        let mut i = 0;
        while i < names.len() {
            if names[i].len() > longest {
                longest = names[i].len();
            }
            i += 1;
        }
        Self {
            names,
            longest,
            key,
            slots,
        }
    }

    /// The index of the operation of that name.
    #[must_use]
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        if name.len() > self.longest {
            return None;
        }
        let slot = match self.key {
            Key::Octet { at, lowest } => usize::from(octet_at(name, at).wrapping_sub(lowest)),
            Key::Octets {
                at,
                multiplier,
                shift,
            } => octets_slot(name, at, multiplier, shift),
            Key::Hash { displacements } => hash_slot(name, displacements, self.slots.len())?,
        };
        let index = usize::from(*self.slots.get(slot)?);
        let found = self.names.get(index)?;
        (found.as_bytes() == name).then_some(index)
    }

    /// The names, in the order of their indices.
    #[must_use]
    pub const fn names(&self) -> &'static [&'static str] {
        self.names
    }
}

// What follows is the compiler's arithmetic too (`demux.rs` there); the test
// `the_compiler_counts_the_same_way` holds both to the same figures.

/// The octet at a place, or 0 beyond either end.
#[inline]
fn octet_at(name: &[u8], at: i16) -> u8 {
    let from = if at < 0 { name.len() } else { 0 };
    let place = from.wrapping_add_signed(isize::from(at));
    name.get(place).copied().unwrap_or(0)
}

#[inline]
fn octets_slot(name: &[u8], at: [i16; 3], multiplier: u32, shift: u32) -> usize {
    let [a, b, c] = at.map(|place| octet_at(name, place));
    let key = u32::from_le_bytes([a, b, c, name.len() as u8]);
    // Whether the shift makes sense was checked by nobody: it is generated.
    (key.wrapping_mul(multiplier).wrapping_shr(shift)) as usize
}

#[inline]
fn hash_slot(name: &[u8], displacements: &[u16], slots: usize) -> Option<usize> {
    let hash = hash(name);
    let bucket = (hash >> 48) as usize & displacements.len().wrapping_sub(1);
    let displacement = u32::from(*displacements.get(bucket)?);
    let step = (hash >> 24) as u32 | 1;
    let slot = (hash as u32).wrapping_add(displacement.wrapping_mul(step));
    Some(slot as usize & slots.wrapping_sub(1))
}

/// Eight octets at a time; the last ones overlap what was taken before.
#[inline]
fn hash(name: &[u8]) -> u64 {
    let mut hash = mix(name.len() as u64);
    let mut rest = name;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        hash = mix(hash ^ u64::from_le_bytes(*word));
        rest = tail;
    }
    if rest.is_empty() {
        return hash;
    }
    let last = match (
        name.last_chunk::<8>(),
        name.first_chunk::<4>(),
        name.last_chunk::<4>(),
    ) {
        (Some(word), ..) => u64::from_le_bytes(*word),
        (None, Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => rest
            .iter()
            .fold(0, |word, octet| (word << 8) | u64::from(*octet)),
    };
    mix(hash ^ last)
}

#[inline]
fn mix(word: u64) -> u64 {
    let product = word.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same figures stand in the compiler's tests.
    #[test]
    fn the_compiler_counts_the_same_way() {
        assert_eq!(octet_at(b"cube_long", 0), b'c');
        assert_eq!(octet_at(b"cube_long", -1), b'g');
        assert_eq!(octet_at(b"cube_long", 9), 0);
        assert_eq!(octet_at(b"cube_long", -10), 0);
        assert_eq!(octets_slot(b"cube_long", [5, -1, 0], 0x9E37_79B9, 24), 164);
        assert_eq!(hash(b""), 0x9e37_79bd_8ef1_b1de);
        assert_eq!(hash(b"noop"), 0xc595_4c00_c4db_53f6);
        assert_eq!(hash(b"cube_octet"), 0x113d_27ad_4a9f_0816);
        assert_eq!(hash(b"sixteen_octets_x"), 0xc103_d0ca_4a4b_2a04);
        assert_eq!(hash_slot(b"cube_octet", &[3, 1, 4, 1], 64), Some(33));
    }

    #[test]
    fn one_octet_finds_every_name_and_nothing_else() {
        static TABLE: OperationTable =
            OperationTable::by_octet(&["ping", "stop"], 0, b'p', &[0, 0, 0, 1]);
        assert_eq!(TABLE.find(b"ping"), Some(0));
        assert_eq!(TABLE.find(b"stop"), Some(1));
        for stranger in [
            &b""[..],
            b"p",
            b"pong",
            b"step",
            b"a",
            b"\xff",
            b"quit",
            b"z",
        ] {
            assert_eq!(TABLE.find(stranger), None);
        }
        assert_eq!(TABLE.find(&[b'p'; 100_000]), None);
    }

    #[test]
    fn three_octets_and_the_length_make_a_key() {
        static TABLE: OperationTable =
            OperationTable::by_octets(&["aa", "ab"], [1, 0, 0], 0x8000_0000, 31, &[1, 0]);
        assert_eq!(TABLE.find(b"aa"), Some(0));
        assert_eq!(TABLE.find(b"ab"), Some(1));
        assert_eq!(TABLE.find(b""), None);
    }

    #[test]
    fn an_empty_table_and_a_broken_one_find_nothing() {
        static EMPTY: OperationTable = OperationTable::by_octet(&[], 0, 0, &[]);
        assert_eq!(EMPTY.find(b""), None);
        assert_eq!(EMPTY.find(b"x"), None);
        static BROKEN: OperationTable = OperationTable::by_hash(&["x"], &[], &[]);
        assert_eq!(BROKEN.find(b"x"), None);
    }
}
