// SPDX-License-Identifier: MIT OR Apache-2.0
//! Perfect hashes for the operation names of an interface.
//!
//! The generator chooses the cheapest key that distinguishes the names: one octet, eight
//! consecutive octets with the length, or else a hash of the whole name. Collisions are resolved by
//! a displacement per bucket. The generator is deterministic.

/// The data by which the run time finds a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Table {
    Octet {
        at: i16,
        lowest: u8,
        slots: Vec<u16>,
    },
    Word {
        at: u16,
        scattered: Scattered,
    },
    Hash {
        scattered: Scattered,
    },
}

/// The mapping of names' numbers to slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scattered {
    pub(crate) multiplier: u64,
    pub(crate) displacements: Vec<u16>,
    pub(crate) slots: Vec<u16>,
}

/// Maximum number of names for which a table without displacements is tried.
const MAX_PLAIN_NAMES: usize = 64;
/// Number of positions from either end of the names that are tried for one octet.
const PLACES: i16 = 24;
/// Number of positions from the start of the names that are tried for eight octets.
const WORDS: u16 = 64;
/// Number of multipliers tried for each size of table, and for one without displacements.
const MULTIPLIERS: u64 = 32;
const MULTIPLIERS_IN_ONE_BUCKET: u64 = 4000;

/// Number of times that a table is doubled before it is given up.
const DOUBLINGS: u32 = 6;

/// Finds a table for names, of which there are at most 65,535; none if two of them have the same
/// hash, as equal ones do.
pub(crate) fn table(names: &[&str]) -> Option<Table> {
    one_octet(names)
        .or_else(|| one_word(names))
        .or_else(|| whole_name(names))
}

/// One octet, at positions in the order of preference: the first, the last, the second, …
fn one_octet(names: &[&str]) -> Option<Table> {
    for i in 0..PLACES {
        for at in [i, -1 - i] {
            if let Some(table) = octet_table(names, at) {
                return Some(table);
            }
        }
    }
    None
}

fn octet_table(names: &[&str], at: i16) -> Option<Table> {
    let (mut lowest, mut highest) = (u8::MAX, 0);
    for name in names {
        let octet = octet_at(name.as_bytes(), at);
        lowest = lowest.min(octet);
        highest = highest.max(octet);
    }
    if names.is_empty() {
        let slots = Vec::new();
        return Some(Table::Octet {
            at,
            lowest: 0,
            slots,
        });
    }
    let count = usize::from(highest - lowest) + 1;
    let slot = |index: usize| usize::from(octet_at(names[index].as_bytes(), at) - lowest);
    let slots = fill(count, names.len(), slot)?;
    Some(Table::Octet { at, lowest, slots })
}

/// Eight octets from one position, the same for all names. The last eight are tried first: numbers
/// are at the end.
fn one_word(names: &[&str]) -> Option<Table> {
    let mut at = u16::MAX;
    while at == u16::MAX || at < WORDS {
        if let Some(scattered) = scatter(&keys(names, |name| word_key(name, at))) {
            return Some(Table::Word { at, scattered });
        }
        at = at.wrapping_add(1);
    }
    None
}

fn whole_name(names: &[&str]) -> Option<Table> {
    let scattered = scatter(&keys(names, hash))?;
    Some(Table::Hash { scattered })
}

fn keys(names: &[&str], key: impl Fn(&[u8]) -> u64) -> Vec<u64> {
    let mut keys = Vec::with_capacity(names.len());
    for name in names {
        keys.push(key(name.as_bytes()));
    }
    keys
}

fn are_distinct(keys: &[u64]) -> bool {
    let mut numbers = Vec::with_capacity(keys.len());
    for key in keys {
        numbers.push(i128::from(*key));
    }
    numbers.sort_unstable();
    let mut distinct = true;
    for i in 1..numbers.len() {
        distinct &= numbers[i - 1] != numbers[i];
    }
    distinct
}

/// Finds a unique slot for each of the keys, which none has if two are equal.
fn scatter(keys: &[u64]) -> Option<Scattered> {
    if !are_distinct(keys) {
        return None;
    }
    if keys.len() <= MAX_PLAIN_NAMES
        && let Some(scattered) = in_one_bucket(keys)
    {
        return Some(scattered);
    }
    let mut buckets = (keys.len() / 4).max(1).next_power_of_two();
    let mut slots = (keys.len() + keys.len() / 4).max(2).next_power_of_two();
    for _ in 0..=DOUBLINGS {
        for attempt in 1..=MULTIPLIERS {
            let scattered = displace(keys, multiplier(attempt), buckets, slots);
            if scattered.is_some() {
                return scattered;
            }
        }
        buckets *= 2;
        slots *= 2;
    }
    None
}

fn multiplier(attempt: u64) -> u64 {
    attempt.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

fn in_one_bucket(keys: &[u64]) -> Option<Scattered> {
    let smallest = keys.len().next_power_of_two().max(2);
    for times in [1, 2, 4] {
        let count = smallest * times;
        for attempt in 1..=MULTIPLIERS_IN_ONE_BUCKET {
            let multiplier = multiplier(attempt);
            let slot = |index: usize| slot_of(spread(keys[index], multiplier), 0, count);
            if let Some(slots) = fill(count, keys.len(), slot) {
                return Some(Scattered {
                    multiplier,
                    displacements: vec![0],
                    slots,
                });
            }
        }
    }
    None
}

/// Places the fullest buckets first, each with the first displacement that maps all its keys to
/// free slots.
fn displace(keys: &[u64], multiplier: u64, buckets: usize, slots: usize) -> Option<Scattered> {
    let mut members: Vec<Vec<(u16, u64)>> = Vec::new();
    while members.len() < buckets {
        members.push(Vec::new());
    }
    for (index, key) in keys.iter().enumerate() {
        let spread = spread(*key, multiplier);
        members[bucket_of(spread, buckets)].push((u16::try_from(index).ok()?, spread));
    }
    let mut displacements = vec![0u16; buckets];
    let mut table = vec![0u16; slots];
    let mut taken = vec![false; slots];
    for &bucket in &fullest_first(&members) {
        let inside = &members[bucket];
        let (displacement, wanted) = free_slots(inside, &taken)?;
        displacements[bucket] = displacement;
        for (i, (index, _)) in inside.iter().enumerate() {
            taken[wanted[i]] = true;
            table[wanted[i]] = *index;
        }
    }
    Some(Scattered {
        multiplier,
        displacements,
        slots: table,
    })
}

/// The non-empty buckets, the fullest first and equal ones in order.
fn fullest_first(members: &[Vec<(u16, u64)>]) -> Vec<usize> {
    let mut by_size: Vec<Vec<usize>> = Vec::new();
    for (bucket, inside) in members.iter().enumerate() {
        while by_size.len() <= inside.len() {
            by_size.push(Vec::new());
        }
        by_size[inside.len()].push(bucket);
    }
    let mut order = Vec::new();
    while by_size.len() > 1
        && let Some(buckets) = by_size.pop()
    {
        order.extend_from_slice(&buckets);
    }
    order
}

/// The first displacement that maps all keys of a bucket to free slots, and those slots.
fn free_slots(inside: &[(u16, u64)], taken: &[bool]) -> Option<(u16, Vec<usize>)> {
    let mut wanted = Vec::with_capacity(inside.len());
    for displacement in 0..=u16::try_from(taken.len() - 1).unwrap_or(u16::MAX) {
        wanted.clear();
        for (_, spread) in inside {
            let slot = slot_of(*spread, displacement, taken.len());
            if taken[slot] || wanted.contains(&slot) {
                break;
            }
            wanted.push(slot);
        }
        if wanted.len() == inside.len() {
            return Some((displacement, wanted));
        }
    }
    None
}

/// A table of so many slots with the index of each name in its slot, unless two collide.
fn fill(count: usize, names: usize, wanted: impl Fn(usize) -> usize) -> Option<Vec<u16>> {
    let mut slots = vec![0; count];
    let mut taken = vec![false; count];
    for index in 0..names {
        let slot = wanted(index);
        if core::mem::replace(&mut taken[slot], true) {
            return None;
        }
        slots[slot] = u16::try_from(index).ok()?;
    }
    Some(slots)
}

// The following is the run time's arithmetic (`operation_table.rs` there); the test
// `the_run_time_counts_the_same_way` checks that both compute the same values.

fn octet_at(name: &[u8], at: i16) -> u8 {
    let from = if at < 0 { name.len() } else { 0 };
    let place = from.wrapping_add_signed(isize::from(at));
    name.get(place).copied().unwrap_or(0)
}

fn word_key(name: &[u8], at: u16) -> u64 {
    word_at(name, at) ^ name.len() as u64
}

fn word_at(name: &[u8], at: u16) -> u64 {
    let place = match name.len().checked_sub(8) {
        Some(last) => usize::from(at).min(last),
        None => return short_word(name),
    };
    let word = name.get(place..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| u64::from_le_bytes(*word))
}

fn short_word(name: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last));
    }
    name.iter()
        .fold(0, |word, octet| (word << 8) | u64::from(*octet))
}

fn spread(key: u64, multiplier: u64) -> u64 {
    let product = u128::from(key) * u128::from(multiplier);
    product as u64 ^ (product >> 64) as u64
}

fn bucket_of(spread: u64, buckets: usize) -> usize {
    (spread >> 32) as usize & (buckets - 1)
}

fn slot_of(spread: u64, displacement: u16, slots: usize) -> usize {
    (spread as u32).wrapping_add(u32::from(displacement)) as usize & (slots - 1)
}

/// The hash of a whole name.
pub(crate) fn hash(name: &[u8]) -> u64 {
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

fn mix(word: u64) -> u64 {
    let product = word.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lookup of the run time in a table.
    fn find(table: &Table, names: &[&str], name: &[u8]) -> Option<usize> {
        let (slot, slots) = match table {
            Table::Octet { at, lowest, slots } => (
                usize::from(octet_at(name, *at).wrapping_sub(*lowest)),
                slots,
            ),
            Table::Word { at, scattered } => scattered_slot(word_key(name, *at), scattered),
            Table::Hash { scattered } => scattered_slot(hash(name), scattered),
        };
        let index = usize::from(*slots.get(slot)?);
        (names.get(index)?.as_bytes() == name).then_some(index)
    }

    fn scattered_slot(key: u64, scattered: &Scattered) -> (usize, &Vec<u16>) {
        let Scattered {
            multiplier,
            displacements,
            slots,
        } = scattered;
        let spread = spread(key, *multiplier);
        let displacement = displacements[bucket_of(spread, displacements.len())];
        (slot_of(spread, displacement, slots.len()), slots)
    }

    fn every_name_is_found(names: &[&str]) -> Table {
        let table = table(names).expect("distinct names");
        for (index, name) in names.iter().enumerate() {
            assert_eq!(find(&table, names, name.as_bytes()), Some(index), "{name}");
        }
        for stranger in [
            &b""[..],
            b"\0",
            b"\xff\xff\xff",
            b"no such operation",
            &[b'x'; 3000],
        ] {
            assert_eq!(find(&table, names, stranger), None);
        }
        table
    }

    fn numbered(count: usize) -> Vec<String> {
        (0..count)
            .map(|i| format!("operation_{i}_of_many"))
            .collect()
    }

    /// The tests of the run time have the same values.
    ///
    /// Conformance: IDL - operation tables
    #[test]
    fn the_run_time_counts_the_same_way() {
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
    fn no_name_and_one_name_need_one_octet() {
        assert!(matches!(every_name_is_found(&[]), Table::Octet { slots, .. } if slots.is_empty()));
        assert!(
            matches!(every_name_is_found(&["ping"]), Table::Octet { slots, .. } if slots == [0])
        );
    }

    #[test]
    fn one_octet_is_enough_where_one_differs() {
        let names = [
            "get_a_value",
            "get_b_value",
            "get_c_value",
            "get_d_value",
            "get_e_value",
        ];
        let table = every_name_is_found(&names);
        assert_eq!(
            table,
            Table::Octet {
                at: 4,
                lowest: b'a',
                slots: vec![0, 1, 2, 3, 4]
            }
        );
    }

    #[test]
    fn the_end_of_a_name_may_tell_more_than_its_start() {
        let names = ["do_it_1", "do_this_too_2", "do_that_3"];
        assert!(matches!(
            every_name_is_found(&names),
            Table::Octet { at: -1, .. }
        ));
    }

    #[test]
    fn a_word_in_one_bucket_distinguishes_an_ordinary_interface() {
        let names = [
            "noop",
            "post",
            "cube_octet",
            "cube_short",
            "cube_long",
            "cube_many",
            "cube_union",
            "cube_longs",
            "echo_octets",
            "echo_longs",
            "echo_manys",
            "_get_calls",
            "shutdown",
        ];
        let Table::Word { scattered, .. } = every_name_is_found(&names) else {
            panic!("one octet or the whole name");
        };
        assert_eq!(scattered.displacements, [0]);
        assert_eq!(scattered.slots.len(), 16);
    }

    /// Conformance: IDL - operation tables
    #[test]
    fn fifty_five_hundred_and_five_thousand_names_are_found() {
        for count in [50, 500, 5000] {
            let names = numbered(count);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            every_name_is_found(&names);
        }
    }

    #[test]
    fn many_names_that_differ_in_one_word_have_buckets() {
        let names: Vec<String> = (0..600)
            .map(|i| format!("{}{i:03}{}", "a".repeat(40), "z".repeat(40)))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Table::Word { scattered, .. } = every_name_is_found(&names) else {
            panic!("one octet or the whole name");
        };
        assert_eq!(scattered.displacements.len(), 256);
        assert_eq!(scattered.slots.len(), 1024);
    }

    #[test]
    fn many_names_that_differ_at_both_ends_are_hashed() {
        let names: Vec<String> = (0..600)
            .map(|i| format!("{:02}{}{:02}", i / 30, "a".repeat(40), i % 30))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(matches!(every_name_is_found(&names), Table::Hash { .. }));
    }

    #[test]
    fn two_long_names_that_differ_in_one_middle_octet_are_distinguished() {
        let first = format!("{}b{}", "a".repeat(500), "a".repeat(500));
        let second = format!("{}c{}", "a".repeat(500), "a".repeat(500));
        every_name_is_found(&[&first, &second]);
    }

    /// No table distinguishes equal names: the search for one did not end.
    #[test]
    fn equal_names_have_no_table() {
        assert_eq!(table(&["get_name", "f", "get_name"]), None);
    }

    /// Names chosen by a stranger may have the same hash: the search for a table did not end.
    #[test]
    fn names_with_equal_hashes_have_no_table() {
        let first = *b"operation_number";
        let word = |at: usize| u64::from_le_bytes(*first[at..].first_chunk().unwrap());
        let is_letter = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'_';
        let start = mix(first.len() as u64);
        // The second word makes up for the difference of the first.
        let second = (0..10_000_000).find_map(|number| {
            let head = *format!("n{number:07}").as_bytes().first_chunk().unwrap();
            let tail = word(8) ^ mix(start ^ word(0)) ^ mix(start ^ u64::from_le_bytes(head));
            let tail = tail.to_le_bytes();
            tail.iter().all(is_letter).then(|| [head, tail].concat())
        });
        let second = second.expect("a name of letters");
        assert_eq!(hash(&first), hash(&second));
        // For each position of eight octets a name with the same ones there.
        let mut names = vec![first.to_vec(), second];
        for at in 0..=8 {
            let mut other = first.to_vec();
            other[(at + 8) % 16] = b'X';
            names.push(other);
        }
        let names: Vec<_> = names.iter().map(|it| str::from_utf8(it).unwrap()).collect();
        assert_eq!(table(&names), None);
    }
}
