// SPDX-License-Identifier: MIT OR Apache-2.0
//! All ways to copy agree, for any layout, number of elements, byte order and position: the copies
//! by vectors, if the processor has them, those without, and element by element. Data written by
//! any are read by all.

use std::mem::offset_of;

use proptest::prelude::*;

use super::{cast, copy_after, copy_out, octets_of};
use crate::{
    ByteOrder, CdrReader, CdrWriter, Char, Field, FixedIn, FixedOut, FixedSize, Format, Layout,
};

/// A struct of three members of any types; of such structs, too.
#[derive(Clone, Copy)]
#[repr(C)]
struct Three<A, B, C>(A, B, C);

impl<A: FixedSize, B: FixedSize, C: FixedSize> FixedSize for Three<A, B, C> {
    const LAYOUT: Layout<Self> = {
        let members = [
            Field::at(offset_of!(Self, 0), |it: &Self| &it.0),
            Field::at(offset_of!(Self, 1), |it: &Self| &it.1),
            Field::at(offset_of!(Self, 2), |it: &Self| &it.2),
        ];
        // SAFETY: these are all members, where they are.
        unsafe { Layout::structure(&members) }
    };
    const HAS_CHARS: bool = A::HAS_CHARS || B::HAS_CHARS || C::HAS_CHARS;

    fn char_bits(&self) -> u8 {
        self.0.char_bits() | self.1.char_bits() | self.2.char_bits()
    }

    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        self.0.store(out);
        self.1.store(out);
        self.2.store(out);
    }

    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        Self(A::load(source), B::load(source), C::load(source))
    }
}

/// The parameters of a test of one type.
#[derive(Clone, Copy, Debug)]
struct Case {
    /// The seed of the octets in the elements.
    seed: u64,
    count: usize,
    /// Number of elements skipped before the first.
    skipped: usize,
    /// Number of octets before the written ones.
    place: usize,
    /// The bits that characters may have.
    char_mask: u8,
}

type Check = fn(Case);

/// Memory full of octets from a seed, characters only as the case has them.
fn memory(case: Case, octets: usize) -> Vec<u64> {
    let mut state = case.seed | 1;
    let mut word = || {
        state = state.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(1);
        (state ^ state >> 29) & (u64::from(case.char_mask) * 0x0101_0101_0101_0101)
    };
    (0..octets.div_ceil(8)).map(|_| word()).collect()
}

const MARGIN: usize = 33;

/// Elements copied by `copy` into the midst of garbage.
fn copied<T: FixedSize>(
    items: &[T],
    place: usize,
    copy: impl FnOnce(&[T], &mut [u8]) -> u8,
) -> (Vec<u8>, u8) {
    let len = size_of_val(items);
    let mut room = vec![0xA5; place + len + MARGIN];
    let bits = copy(items, &mut room[place..][..len]);
    (room, bits)
}

/// Checks that a block is copied identically with and without vectors, and element by element.
fn copies_agree<T: FixedSize>(items: &[T], case: Case) {
    let quick = copied(items, case.place, copy_out);
    let plain = copied(items, case.place, |items, room| {
        copy_after(items, room, |_, _| (0, 0))
    });
    let single = copied(items, case.place, |items, room| {
        let (size, end) = (size_of::<T>(), T::LAYOUT.end(0));
        let mut at = 0;
        for item in items {
            // At the end of the previous one, in its aligned position.
            let phase = end % 8;
            let stride = T::LAYOUT.end(phase);
            assert_eq!(stride, size);
            item.store(&mut FixedOut::<false>::new(
                &mut room[at..][..stride],
                phase,
            ));
            at += stride;
        }
        items.iter().fold(0, |bits, item| bits | item.char_bits())
    });
    assert_eq!(quick, plain, "{} {case:?}", std::any::type_name::<T>());
    assert_eq!(plain, single, "{} {case:?}", std::any::type_name::<T>());
}

/// Checks that elements written together equal those written one by one, and are read back,
/// together and one by one.
fn orders_agree<T: FixedSize>(items: &[T], case: Case, order: ByteOrder) {
    let format = Format::plain(order, 2);
    let write = |elements: &dyn for<'a> Fn(&'a [T], &mut CdrWriter<'a>)| {
        let mut writer = CdrWriter::new(format);
        for _ in 0..case.place {
            writer.write_u8(0xA5);
        }
        elements(items, &mut writer);
        writer.finish().unwrap()
    };
    let together = write(&|items, writer| writer.write_fixed_slice(items));
    let one_by_one = write(&|items, writer| {
        for item in items {
            writer.write_fixed(item);
        }
    });
    let name = std::any::type_name::<T>();
    assert_eq!(together, one_by_one, "{name} {case:?} {order:?}");

    let read = |mut written: Vec<u8>, elements: &dyn Fn(&mut CdrReader<'_>) -> Vec<T>| {
        let mut reader = CdrReader::new(&mut written, format);
        for _ in 0..case.place {
            reader.read_u8().unwrap();
        }
        let read = elements(&mut reader);
        assert_eq!(reader.remaining(), 0);
        octets_of_each(&read)
    };
    let back = read(one_by_one, &|reader| {
        let mut read = Vec::new();
        reader.read_fixed_vec(items.len(), &mut read).unwrap();
        read
    });
    assert_eq!(back, octets_of_each(items), "{name} {case:?} {order:?}");
    let back = read(together, &|reader| {
        let each = items.iter().map(|_| reader.read_fixed().unwrap());
        each.collect()
    });
    assert_eq!(back, octets_of_each(items), "{name} {case:?} {order:?}");
}

/// The octets of elements without padding.
fn octets_of_each<T: FixedSize>(items: &[T]) -> Vec<u8> {
    let size = T::LAYOUT.end(0);
    let mut octets = vec![0; items.len() * size];
    for (item, room) in items.iter().zip(octets.chunks_mut(size)) {
        item.store(&mut FixedOut::<false>::new(room, 0));
    }
    octets
}

fn check<T: FixedSize>(case: Case) {
    let size = size_of::<T>();
    let words = memory(case, (case.skipped + case.count) * size + 8);
    let octets = octets_of(&words);
    let loaded: Vec<T>;
    let items = if T::LAYOUT.is_block() {
        // With arbitrary padding.
        let all = cast::<T>(&octets[..(case.skipped + case.count) * size]);
        let items = &all.unwrap()[case.skipped..];
        copies_agree(items, case);
        items
    } else {
        let each = octets.chunks_exact(size).take(case.count);
        loaded = each
            .map(|octets| T::load(&mut FixedIn::<false>::new(octets, 0)))
            .collect();
        &loaded
    };
    orders_agree(items, case, ByteOrder::Big);
    orders_agree(items, case, ByteOrder::Little);
}

fn third<A: FixedSize, B: FixedSize>() -> Vec<Check> {
    vec![
        check::<Three<A, B, Char>>,
        check::<Three<A, B, u16>>,
        check::<Three<A, B, i32>>,
        check::<Three<A, B, f64>>,
    ]
}

fn second<A: FixedSize>() -> Vec<Check> {
    let all = [
        third::<A, Char>(),
        third::<A, [Char; 3]>(),
        third::<A, u16>(),
        third::<A, f64>(),
    ];
    all.concat()
}

/// All relevant sizes and gaps, and some layouts that are not blocks.
fn all() -> Vec<Check> {
    let nested: [Check; 6] = [
        check::<Three<Three<u8, i32, Char>, u16, Three<i32, Char, i32>>>,
        check::<Three<[f64; 15], Char, f64>>,
        check::<Three<Three<f64, Char, f64>, [i32; 6], Three<Char, f64, u8>>>,
        check::<Three<[u16; 5], Char, Three<u16, Char, u16>>>,
        check::<Three<bool, Char, f64>>,
        check::<[u16; 7]>,
    ];
    let mut all = [second::<Char>(), second::<i32>(), second::<f64>()].concat();
    all.extend(nested);
    all
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 600 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn all_ways_to_copy_agree(
        which: prop::sample::Index,
        seed: u64,
        count in 0..if cfg!(miri) { 12_usize } else { 300 },
        skipped in 0..4_usize,
        place in 0..72_usize,
        high: bool,
    ) {
        let all = all();
        // Characters with the high bit set may be refused by the writer.
        let char_mask = if high { 0xFF } else { 0x7F };
        which.get(&all)(Case { seed, count, skipped, place, char_mask });
    }
}

/// Each layout once, so that none depends on chance.
#[test]
fn all_ways_to_copy_agree_for_each_layout() {
    let counts: &[usize] = if cfg!(miri) {
        &[5]
    } else {
        &[0, 1, 2, 31, 64, 129]
    };
    for (at, check) in all().into_iter().enumerate() {
        for &count in counts {
            check(Case {
                seed: at as u64,
                count,
                skipped: at % 4,
                place: (at * 7 + count) % 41,
                char_mask: 0xFF,
            });
        }
    }
}
