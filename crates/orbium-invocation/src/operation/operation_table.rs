// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-up of the index of an operation by its name, with a perfect hash computed by the IDL
//! compiler.
//!
//! The compiler chooses the cheapest key that distinguishes the names of an interface: one octet,
//! eight consecutive octets with the length, or a hash of the whole name. With each key, the whole
//! name is compared in the end, so any bytes may be looked up.

/// The operations of an interface, for look-up by name.
///
/// Made by generated code, in a `static`.
///
/// ```
/// use orbium_invocation::OperationTable;
///
/// static OPERATIONS: OperationTable = OperationTable::by_octet(&["ping", "stop"], 0, b'p', &[0, 0, 0, 1]);
/// assert_eq!(OPERATIONS.find(b"stop"), Some(1));
/// assert_eq!(OPERATIONS.find(b"step"), None);
/// ```
#[derive(Debug)]
pub struct OperationTable {
    names: &'static [&'static str],
    /// Length of the longest name: longer input is rejected without a hash.
    longest: usize,
    key: Key,
    /// Index of a name for each value of the key. A slot without a name contains 0: the comparison
    /// at the end rejects other names.
    slots: &'static [u16],
}

/// Maps a name to an index into the slots.
#[derive(Debug)]
enum Key {
    /// The octet at a position, minus the lowest one that occurs there.
    Octet { at: i16, lowest: u8 },
    /// Eight octets and the length, multiplied and displaced per bucket. An interface of few names
    /// has one bucket.
    Word {
        at: u16,
        multiplier: u64,
        displacements: &'static [u16],
    },
    /// A hash of the whole name, mapped in the same way.
    Hash {
        multiplier: u64,
        displacements: &'static [u16],
    },
}

impl OperationTable {
    /// A table keyed by one octet of the name.
    ///
    /// Positions count from the start, or, when negative, from the end: -1 is the last octet.
    #[must_use]
    pub const fn by_octet(
        names: &'static [&'static str],
        at: i16,
        lowest: u8,
        slots: &'static [u16],
    ) -> Self {
        Self::new(names, Key::Octet { at, lowest }, slots)
    }

    /// A table keyed by the length and eight octets of the name: those from index `at`
    /// on, or the last eight of a name that ends before. The numbers of displacements
    /// and of slots are powers of two.
    #[must_use]
    pub const fn by_word(
        names: &'static [&'static str],
        at: u16,
        multiplier: u64,
        displacements: &'static [u16],
        slots: &'static [u16],
    ) -> Self {
        let key = Key::Word {
            at,
            multiplier,
            displacements,
        };
        Self::new(names, key, slots)
    }

    /// A table over a hash of the whole name. The numbers of displacements and
    /// of slots are powers of two.
    #[must_use]
    pub const fn by_hash(
        names: &'static [&'static str],
        multiplier: u64,
        displacements: &'static [u16],
        slots: &'static [u16],
    ) -> Self {
        let key = Key::Hash {
            multiplier,
            displacements,
        };
        Self::new(names, key, slots)
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

    /// The index of the operation with that name.
    // Inlined: a skeleton's table is a constant, and so is most of this there.
    #[must_use]
    #[inline(always)]
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        if name.len() > self.longest {
            return None;
        }
        let slot = match self.key {
            Key::Octet { at, lowest } => usize::from(octet_at(name, at).wrapping_sub(lowest)),
            Key::Word {
                at,
                multiplier,
                displacements,
            } => self.scattered(word_key(name, at), multiplier, displacements)?,
            Key::Hash {
                multiplier,
                displacements,
            } => self.scattered(hash(name), multiplier, displacements)?,
        };
        let index = usize::from(*self.slots.get(slot)?);
        let found = self.names.get(index)?;
        let is_found = is_same(found.as_bytes(), name);
        orbium_trace::probe!(OperationDemux);
        is_found.then_some(index)
    }

    #[inline(always)]
    fn scattered(&self, key: u64, multiplier: u64, displacements: &[u16]) -> Option<usize> {
        let spread = spread(key, multiplier);
        let displacement = *displacements.get(bucket_of(spread, displacements.len()))?;
        Some(slot_of(spread, displacement, self.slots.len()))
    }

    /// The names, in the order of their indices.
    #[must_use]
    pub const fn names(&self) -> &'static [&'static str] {
        self.names
    }
}

/// Whether two names are equal: without a call of `memcmp`, which costs more than the comparison,
/// for those of 4 to 16 octets, as most are.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        4..=7 => ends::<4>(one) == ends::<4>(other),
        8..=16 => ends::<8>(one) == ends::<8>(other),
        _ => one == other,
    }
}

/// The first and the last bytes, which may overlap.
#[inline]
fn ends<const N: usize>(name: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
    Some((name.first_chunk()?, name.last_chunk()?))
}

// The functions below are also in the compiler (`demux.rs` there); the test
// `the_compiler_counts_the_same_way` compares both with the same figures.

/// The octet at a position, or 0 beyond either end.
#[inline]
fn octet_at(name: &[u8], at: i16) -> u8 {
    let from = if at < 0 { name.len() } else { 0 };
    let place = from.wrapping_add_signed(isize::from(at));
    name.get(place).copied().unwrap_or(0)
}

#[inline]
fn word_key(name: &[u8], at: u16) -> u64 {
    word_at(name, at) ^ name.len() as u64
}

/// Eight octets of a name, or all of a shorter one.
#[inline]
fn word_at(name: &[u8], at: u16) -> u64 {
    let place = match name.len().checked_sub(8) {
        Some(last) => usize::from(at).min(last),
        None => return short_word(name),
    };
    let word = name.get(place..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

/// All octets of a name of less than eight.
#[inline]
fn short_word(name: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
    }
    let mut word = 0;
    for octet in name {
        word = (word << 8) | u64::from(*octet);
    }
    word
}

/// Both halves of the product: every bit of the key affects every bit of the result.
#[inline]
fn spread(key: u64, multiplier: u64) -> u64 {
    let product = u128::from(key) * u128::from(multiplier);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn bucket_of(spread: u64, buckets: usize) -> usize {
    (spread >> 32) as usize & buckets.wrapping_sub(1)
}

#[inline]
fn slot_of(spread: u64, displacement: u16, slots: usize) -> usize {
    (spread as u32).wrapping_add(u32::from(displacement)) as usize & slots.wrapping_sub(1)
}

/// Eight octets at a time; the last ones may overlap the previous ones.
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
    mix(hash ^ word_at(name, u16::MAX))
}

#[inline]
fn mix(word: u64) -> u64 {
    let product = word.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

/// The number of names in some lists.
#[doc(hidden)]
#[must_use]
pub const fn count_names(lists: &[&[&str]]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < lists.len() {
        count += lists[at].len();
        at += 1;
    }
    count
}

/// The names of some lists, `N` of them.
#[doc(hidden)]
#[must_use]
pub const fn concat_names<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[count] = lists[list][at];
            count += 1;
            at += 1;
        }
        list += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same figures are in the compiler's tests.
    ///
    /// Conformance: IDL - operation tables
    #[test]
    fn the_compiler_counts_the_same_way() {
        assert_eq!(octet_at(b"cube_long", 0), b'c');
        assert_eq!(octet_at(b"cube_long", -1), b'g');
        assert_eq!(octet_at(b"cube_long", 9), 0);
        assert_eq!(octet_at(b"cube_long", -10), 0);
        assert_eq!(word_key(b"cube_long", 0), 0x6e6f_6c5f_6562_7563 ^ 9);
        assert_eq!(word_key(b"cube_long", 9), 0x676e_6f6c_5f65_6275 ^ 9);
        assert_eq!(word_key(b"noop", 1), 0x706f_6f6e_706f_6f6e ^ 4);
        assert_eq!(word_key(b"add", 0), 0x0061_6464 ^ 3);
        assert_eq!(hash(b""), 0x9e37_79bd_8ef1_b1de);
        assert_eq!(hash(b"noop"), 0xc595_4c00_c4db_53f6);
        assert_eq!(hash(b"cube_octet"), 0x113d_27ad_4a9f_0816);
        assert_eq!(hash(b"sixteen_octets_x"), 0xc103_d0ca_4a4b_2a04);
        let spread = spread(hash(b"cube_octet"), 0x9E37_79B9_7F4A_7C15);
        let displacement = [3, 1, 4, 1][bucket_of(spread, 4)];
        assert_eq!(slot_of(spread, displacement, 64), 18);
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
    fn a_word_and_the_length_make_a_key() {
        // With the multiplier 1 the lowest two bits of the last octet decide; the length, 2, has
        // flipped the upper one.
        static TABLE: OperationTable =
            OperationTable::by_word(&["aa", "ab"], 0, 1, &[0], &[1, 0, 0, 0]);
        assert_eq!(TABLE.find(b"aa"), Some(0));
        assert_eq!(TABLE.find(b"ab"), Some(1));
        assert_eq!(TABLE.find(b"ac"), None);
        assert_eq!(TABLE.find(b""), None);
    }

    #[test]
    fn names_of_every_length_are_compared_to_the_last_octet() {
        let name: Vec<u8> = (b'a'..=b'z').collect();
        for len in 0..=name.len() {
            let name = &name[..len];
            assert!(is_same(name, name));
            assert!(!is_same(name, &[name, b"x"].concat()));
            for place in 0..len {
                let mut other = name.to_vec();
                other[place] ^= 0x20;
                assert!(!is_same(name, &other), "{len} octets, {place}");
            }
        }
    }

    #[test]
    fn an_empty_table_and_a_broken_one_find_nothing() {
        static EMPTY: OperationTable = OperationTable::by_octet(&[], 0, 0, &[]);
        assert_eq!(EMPTY.find(b""), None);
        assert_eq!(EMPTY.find(b"x"), None);
        static BROKEN: OperationTable = OperationTable::by_hash(&["x"], 1, &[], &[]);
        assert_eq!(BROKEN.find(b"x"), None);
    }
}
