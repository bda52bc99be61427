// SPDX-License-Identifier: MIT OR Apache-2.0
//! Block copies out, compared with copying octet by octet.

use super::{cast, copy_out, octets_of};
use crate::{Char, FixedSize};

/// A struct of those members, in declaration order.
macro_rules! block {
    ($name:ident { $($member:ident : $type:ty),+ }) => {
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct $name {
            $($member: $type),+
        }
        crate::fixed_struct!($name { $($member: $type),+ });
    };
}

// By their sizes, the places of padding repeat after one to five and seven vectors of 32 octets;
// for the last after nine, which are too many.
block!(Short { s: i16, c: Char });
block!(Pair { o: u8, l: i32 });
block!(Six {
    s: i16,
    c: Char,
    t: i16
});
block!(Twelve {
    l: i32,
    c: Char,
    m: i32
});
block!(Bin {
    s: i16,
    c: Char,
    l: i32,
    o: u8,
    d: f64
});
block!(Trailing { d: f64, c: Char });
block!(Forty {
    c: Char,
    d: f64,
    m: [f64; 3]
});
block!(FiftySix {
    d: [f64; 6],
    s: u16,
    c: [Char; 3]
});
block!(SixtyFour {
    c: Char,
    l: i32,
    d: [f64; 5],
    o: u8,
    e: f64
});
block!(Hundred {
    c: Char,
    l: [f64; 15]
});
block!(Long {
    d: [f64; 8],
    c: Char
});

/// Guard octets before and after the room.
const MARGIN: usize = 40;

/// Memory of arbitrary initialised octets.
fn garbage(octets: usize) -> Vec<u64> {
    let word = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 0x0101_0101_0101_0101;
    (1..=octets.div_ceil(8) as u64).map(word).collect()
}

/// The expected contents of the room: each element ends where its padding begins, and padding
/// before it is zero.
fn model<T: FixedSize>(octets: &[u8]) -> Vec<u8> {
    let size = size_of::<T>();
    let mut room = vec![0; size - T::LAYOUT.end(0)];
    for (at, octet) in octets.iter().enumerate() {
        let is_padding = |(from, to): &(usize, usize)| (*from..*to).contains(&(at % size));
        let padding = T::LAYOUT.gaps().iter().any(is_padding);
        room.push(if padding { 0 } else { *octet });
    }
    room.truncate(octets.len());
    room
}

/// Elements are copied from memory full of garbage, their padding included, into
/// the middle of a buffer.
fn holds<T: FixedSize>() {
    assert!(T::LAYOUT.is_block() && !T::LAYOUT.gaps().is_empty());
    let size = size_of::<T>();
    let (counts, step) = if cfg!(miri) { (6, 13) } else { (70, 1) };
    let words = garbage((counts + 4) * size);
    let octets = &octets_of(&words)[..(counts + 4) * size];
    let all = cast::<T>(octets).unwrap();
    for count in 0..=counts {
        for place in (0..32).step_by(step) {
            let from = place % 4;
            let items = &all[from..from + count];
            let before = MARGIN + place;
            let mut buffer = vec![0xA5; before + count * size + MARGIN];
            let bits = copy_out(items, &mut buffer[before..][..count * size]);

            let mut expected = vec![0xA5; before];
            expected.extend(model::<T>(&octets[from * size..][..count * size]));
            expected.extend([0xA5; MARGIN]);
            assert_eq!(buffer, expected, "{count} elements at {place}");
            let chars = items.iter().fold(0, |bits, item| bits | item.char_bits());
            assert_eq!(bits, chars, "{count} elements at {place}");
        }
    }
}

#[test]
fn all_but_padding_is_copied() {
    holds::<Short>();
    holds::<Pair>();
    holds::<Six>();
    holds::<Twelve>();
    holds::<Bin>();
    holds::<Trailing>();
    holds::<Forty>();
    holds::<FiftySix>();
    holds::<SixtyFour>();
    holds::<Hundred>();
    holds::<Long>();
}

/// For each element alone, so that none is missed.
#[test]
fn the_chars_of_every_element_are_seen() {
    let quiet = Bin {
        s: -1,
        c: Char(0),
        l: -1,
        o: 0xFF,
        d: f64::from_bits(!0),
    };
    for count in [1, 4, 5, 9, 30] {
        for at in 0..count {
            let mut items = vec![quiet; count];
            items[at].c = Char(0x80);
            assert_eq!(copy_out(&items, &mut vec![0; count * 24]), 0x80);
        }
        assert_eq!(copy_out(&vec![quiet; count], &mut vec![0; count * 24]), 0);
    }
}
