// SPDX-License-Identifier: MIT OR Apache-2.0
//! Perfect hashes for the operation names of an interface.
//!
//! The cheapest key that tells the names apart is looked for: one octet, three
//! octets with the length, or else a hash of the whole name whose collisions
//! are resolved by a displacement per bucket. Everything here is deterministic.

/// What the run time needs to find a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Table {
    Octet {
        at: i16,
        lowest: u8,
        slots: Vec<u16>,
    },
    Octets {
        at: [i16; 3],
        multiplier: u32,
        shift: u32,
        slots: Vec<u16>,
    },
    Hash {
        displacements: Vec<u16>,
        slots: Vec<u16>,
    },
}

/// Up to so many names a few octets are tried before the whole name is hashed.
const FEW: usize = 64;
/// Places tried from either end of the names.
const PLACES: i16 = 24;
/// Multipliers tried for each size of table.
const MULTIPLIERS: u32 = 4000;

/// Finds a table for distinct names, of which there are at most 65,535.
pub(crate) fn table(names: &[&str]) -> Table {
    let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    one_octet(&names)
        .or_else(|| few_octets(&names))
        .unwrap_or_else(|| whole_name(&names))
}

/// Places in the order of preference: the first, the last, the second, …
fn places() -> impl Iterator<Item = i16> + Clone {
    (0..PLACES).flat_map(|i| [i, -1 - i])
}

fn one_octet(names: &[&[u8]]) -> Option<Table> {
    places().find_map(|at| {
        let octets: Vec<u8> = names.iter().map(|name| octet_at(name, at)).collect();
        let lowest = octets.iter().copied().min().unwrap_or(0);
        let highest = octets.iter().copied().max().unwrap_or(0);
        let count = if names.is_empty() {
            0
        } else {
            usize::from(highest - lowest) + 1
        };
        let slots = fill(
            count,
            octets.iter().map(|octet| usize::from(octet - lowest)),
        )?;
        Some(Table::Octet { at, lowest, slots })
    })
}

fn few_octets(names: &[&[u8]]) -> Option<Table> {
    if names.len() > FEW {
        return None;
    }
    let at = distinguishing_places(names)?;
    let smallest = names.len().next_power_of_two().ilog2().max(1);
    (smallest..=smallest + 2).find_map(|bits| {
        let shift = 32 - bits;
        (1..=MULTIPLIERS).find_map(|attempt| {
            let multiplier = attempt.wrapping_mul(0x9E37_79B9) | 1;
            let wanted = names
                .iter()
                .map(|name| octets_slot(name, at, multiplier, shift));
            let slots = fill(1 << bits, wanted)?;
            Some(Table::Octets {
                at,
                multiplier,
                shift,
                slots,
            })
        })
    })
}

/// At most three places where, with the length, no two names are alike. The
/// place that tells most names apart is taken first, then the one that adds
/// most.
fn distinguishing_places(names: &[&[u8]]) -> Option<[i16; 3]> {
    let mut chosen: Vec<i16> = Vec::new();
    loop {
        let kinds = |extra: i16| {
            let mut keys: Vec<(u8, Vec<u8>)> = names
                .iter()
                .map(|name| {
                    let places = chosen.iter().chain([&extra]);
                    let octets = places.map(|at| octet_at(name, *at)).collect();
                    (name.len() as u8, octets)
                })
                .collect();
            keys.sort_unstable();
            keys.dedup();
            keys.len()
        };
        let best = first_max(places(), kinds)?;
        chosen.push(best.0);
        if best.1 == names.len() {
            let place = |i: usize| chosen.get(i).copied().unwrap_or(chosen[0]);
            return Some([place(0), place(1), place(2)]);
        }
        if chosen.len() == 3 {
            return None;
        }
    }
}

/// The first item with the greatest key, and that key. (Of equals,
/// `max_by_key` takes the last, which is the dearest.)
fn first_max(items: impl Iterator<Item = i16>, key: impl Fn(i16) -> usize) -> Option<(i16, usize)> {
    items.fold(None, |best, item| {
        let found = key(item);
        match best {
            Some((_, most)) if most >= found => best,
            _ => Some((item, found)),
        }
    })
}

fn whole_name(names: &[&[u8]]) -> Table {
    let mut buckets = (names.len() / 4).max(1).next_power_of_two();
    let mut slots = (names.len() + names.len() / 4).max(2).next_power_of_two();
    loop {
        if let Some(table) = displace(names, buckets, slots) {
            return table;
        }
        // More room always helps in the end: hashes of distinct names differ.
        buckets *= 2;
        slots *= 2;
    }
}

/// Places the fullest buckets first, each with the first displacement that
/// leads all its names to free slots.
fn displace(names: &[&[u8]], buckets: usize, slots: usize) -> Option<Table> {
    let mut members: Vec<(usize, Vec<u16>)> = (0..buckets).map(|b| (b, Vec::new())).collect();
    for (index, name) in names.iter().enumerate() {
        members[bucket_of(hash(name), buckets)]
            .1
            .push(u16::try_from(index).ok()?);
    }
    members.sort_by_key(|(bucket, inside)| (usize::MAX - inside.len(), *bucket));
    let mut displacements = vec![0u16; buckets];
    let mut table = vec![0u16; slots];
    let mut taken = vec![false; slots];
    for (bucket, inside) in members.iter().filter(|(_, inside)| !inside.is_empty()) {
        let (displacement, wanted) = (0..=u16::MAX).find_map(|displacement| {
            let mut wanted = Vec::with_capacity(inside.len());
            for index in inside {
                let slot = displaced(hash(names[usize::from(*index)]), displacement, slots);
                if taken[slot] || wanted.contains(&slot) {
                    return None;
                }
                wanted.push(slot);
            }
            Some((displacement, wanted))
        })?;
        displacements[*bucket] = displacement;
        for (index, slot) in inside.iter().zip(wanted) {
            taken[slot] = true;
            table[slot] = *index;
        }
    }
    Some(Table::Hash {
        displacements,
        slots: table,
    })
}

/// A table of so many slots with the index of each name in its slot, unless two
/// want the same.
fn fill(count: usize, wanted: impl Iterator<Item = usize>) -> Option<Vec<u16>> {
    let mut slots = vec![0; count];
    let mut taken = vec![false; count];
    for (index, slot) in wanted.enumerate() {
        if core::mem::replace(&mut taken[slot], true) {
            return None;
        }
        slots[slot] = u16::try_from(index).ok()?;
    }
    Some(slots)
}

// What follows is the run time's arithmetic (`operation_table.rs` there); the
// test `the_run_time_counts_the_same_way` holds both to the same figures.

fn octet_at(name: &[u8], at: i16) -> u8 {
    let from = if at < 0 { name.len() } else { 0 };
    let place = from.wrapping_add_signed(isize::from(at));
    name.get(place).copied().unwrap_or(0)
}

fn octets_slot(name: &[u8], at: [i16; 3], multiplier: u32, shift: u32) -> usize {
    let [a, b, c] = at.map(|place| octet_at(name, place));
    let key = u32::from_le_bytes([a, b, c, name.len() as u8]);
    (key.wrapping_mul(multiplier).wrapping_shr(shift)) as usize
}

fn bucket_of(hash: u64, buckets: usize) -> usize {
    (hash >> 48) as usize & (buckets - 1)
}

fn displaced(hash: u64, displacement: u16, slots: usize) -> usize {
    let step = (hash >> 24) as u32 | 1;
    let slot = (hash as u32).wrapping_add(u32::from(displacement).wrapping_mul(step));
    slot as usize & (slots - 1)
}

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

fn mix(word: u64) -> u64 {
    let product = word.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the run time does with a table.
    fn find(table: &Table, names: &[&str], name: &[u8]) -> Option<usize> {
        let (slot, slots) = match table {
            Table::Octet { at, lowest, slots } => (
                usize::from(octet_at(name, *at).wrapping_sub(*lowest)),
                slots,
            ),
            Table::Octets {
                at,
                multiplier,
                shift,
                slots,
            } => (octets_slot(name, *at, *multiplier, *shift), slots),
            Table::Hash {
                displacements,
                slots,
            } => {
                let hash = hash(name);
                let displacement = displacements[bucket_of(hash, displacements.len())];
                (displaced(hash, displacement, slots.len()), slots)
            }
        };
        let index = usize::from(*slots.get(slot)?);
        (names.get(index)?.as_bytes() == name).then_some(index)
    }

    fn every_name_is_found(names: &[&str]) -> Table {
        let table = table(names);
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

    /// The same figures stand in the run time's tests.
    #[test]
    fn the_run_time_counts_the_same_way() {
        assert_eq!(octet_at(b"cube_long", 0), b'c');
        assert_eq!(octet_at(b"cube_long", -1), b'g');
        assert_eq!(octet_at(b"cube_long", 9), 0);
        assert_eq!(octet_at(b"cube_long", -10), 0);
        assert_eq!(octets_slot(b"cube_long", [5, -1, 0], 0x9E37_79B9, 24), 164);
        assert_eq!(hash(b""), 0x9e37_79bd_8ef1_b1de);
        assert_eq!(hash(b"noop"), 0xc595_4c00_c4db_53f6);
        assert_eq!(hash(b"cube_octet"), 0x113d_27ad_4a9f_0816);
        assert_eq!(hash(b"sixteen_octets_x"), 0xc103_d0ca_4a4b_2a04);
        let hash = hash(b"cube_octet");
        let displacement = [3, 1, 4, 1][bucket_of(hash, 4)];
        assert_eq!(displaced(hash, displacement, 64), 33);
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
    fn a_few_octets_tell_an_ordinary_interface_apart() {
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
        assert!(matches!(every_name_is_found(&names), Table::Octets { .. }));
    }

    #[test]
    fn fifty_five_hundred_and_five_thousand_names_are_found() {
        for count in [50, 500, 5000] {
            let names = numbered(count);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            every_name_is_found(&names);
        }
    }

    #[test]
    fn many_names_that_differ_in_the_middle_are_hashed() {
        let names: Vec<String> = (0..600)
            .map(|i| format!("{}{i:03}{}", "a".repeat(40), "z".repeat(40)))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(matches!(every_name_is_found(&names), Table::Hash { .. }));
    }

    #[test]
    fn two_long_names_that_differ_in_one_middle_octet_are_told_apart() {
        let first = format!("{}b{}", "a".repeat(500), "a".repeat(500));
        let second = format!("{}c{}", "a".repeat(500), "a".repeat(500));
        every_name_is_found(&[&first, &second]);
    }
}
