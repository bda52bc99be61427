// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `native` data representation: elements of sequences at their stride in memory.

use std::borrow::Cow;

use orbium_cdr::{
    CdrErrorKind, CdrReader, CdrWriter, Char, Decode, Encode, FixedSize, Format, fixed_struct,
};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Many {
    o: u8,
    l: i32,
    s: i16,
}
fixed_struct!(Many {
    o: u8,
    l: i32,
    s: i16
});

/// With padding of its own, and of a member's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Nest {
    c: Char,
    m: Many,
    d: f64,
    t: Many,
    o: u8,
}
fixed_struct!(Nest {
    c: Char,
    m: Many,
    d: f64,
    t: Many,
    o: u8
});

/// Not every bit pattern is a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Flagged {
    flag: bool,
    l: i32,
    s: i16,
}
fixed_struct!(Flagged {
    flag: bool,
    l: i32,
    s: i16
});

fn natural() -> Format {
    Format::native().with_natural_elements(true)
}

fn many(i: i32) -> Many {
    Many {
        o: i as u8,
        l: i * 77777,
        s: i as i16 - 9,
    }
}

fn nest(i: i32) -> Nest {
    Nest {
        c: Char(b'a' + (i % 26) as u8),
        m: many(i),
        d: f64::from(i) * 1.5,
        t: many(-i),
        o: i as u8 ^ 0x55,
    }
}

fn flagged(i: i32) -> Flagged {
    Flagged {
        flag: i % 3 == 0,
        l: i,
        s: i as i16,
    }
}

fn written(format: Format, place: usize, value: &impl Encode) -> Vec<u8> {
    // What was in the buffer before must not be seen.
    let mut writer = CdrWriter::reuse(vec![0xEE; 8192], format);
    for _ in 0..place {
        writer.write_u8(7);
    }
    value.encode(&mut writer);
    writer.write_u8(0x42);
    writer.finish().unwrap()
}

fn round<T: FixedSize + Encode + Decode + PartialEq + std::fmt::Debug>(items: &[T], place: usize) {
    let octets = written(natural(), place, &items);
    let mut owned = octets.clone();
    let mut reader = CdrReader::new(&mut owned, natural());
    reader.take(place).unwrap();
    assert_eq!(Vec::<T>::decode(&mut reader).unwrap(), items);
    assert_eq!((reader.read_u8().unwrap(), reader.remaining()), (0x42, 0));
    let mut lent = octets.clone();
    let mut reader = CdrReader::new(&mut lent, natural());
    reader.take(place).unwrap();
    assert_eq!(reader.read_fixed_slice::<T>().unwrap(), items);
    assert_eq!((reader.read_u8().unwrap(), reader.remaining()), (0x42, 0));
    // Every octet less is too few, and none is a panic.
    for len in place..octets.len() - 1 {
        let mut short = octets[..len].to_vec();
        let mut reader = CdrReader::new(&mut short, natural());
        reader.take(place).unwrap();
        let error = Vec::<T>::decode(&mut reader).unwrap_err();
        assert!(matches!(
            error.kind,
            CdrErrorKind::Truncated | CdrErrorKind::CountTooLarge
        ));
    }
}

#[test]
fn sequences_come_back_from_any_place_and_of_any_length() {
    // Miri takes long for each.
    let (places, counts): (_, &[i32]) = if cfg!(miri) {
        (3..5, &[0, 1, 3])
    } else {
        (0..9, &[0, 1, 2, 3, 8, 31, 70])
    };
    for place in places {
        for &count in counts {
            round::<Many>(&(0..count).map(many).collect::<Vec<_>>(), place);
            round::<Nest>(&(0..count).map(nest).collect::<Vec<_>>(), place);
            round::<Flagged>(&(0..count).map(flagged).collect::<Vec<_>>(), place);
        }
    }
}

/// Padding in memory is whatever was there before; on the wire it is zero.
#[test]
fn elements_lie_as_in_memory_and_padding_is_zero() {
    let octets = written(natural(), 0, &vec![many(1), many(-1)]);
    let expected = [
        &2_u32.to_ne_bytes()[..],
        &[1, 0, 0, 0],
        &77777_i32.to_ne_bytes(),
        &(-8_i16).to_ne_bytes(),
        &[0, 0, 0xFF, 0, 0, 0],
        &(-77777_i32).to_ne_bytes(),
        &(-10_i16).to_ne_bytes(),
        &[0, 0, 0x42],
    ]
    .concat();
    assert_eq!(octets, expected);
}

/// What may not be copied as it lies, single structs, arrays and sequences of arrays are
/// as in CDR, so that whatever reads them need not know.
#[test]
fn all_else_is_as_in_cdr() {
    fn same(value: &impl Encode) {
        for place in 0..9 {
            let natural = written(natural(), place, value);
            assert_eq!(natural, written(Format::native(), place, value));
        }
    }
    same(&vec![flagged(1), flagged(2)]);
    same(&many(5));
    same(&[many(5), many(6)]);
    same(&vec![[many(5), many(6)], [many(7), many(8)]]);
    same(&vec![1_i32, 2]);
    same(&vec!["text".to_owned()]);
    same(&Cow::Borrowed("text"));
    assert!(!Flagged::LAYOUT.is_plain() && Many::LAYOUT.has_natural());
    assert!(Nest::LAYOUT.has_natural() && !<[Many; 2]>::LAYOUT.is_plain());
}

/// The octets lay in a vector of octets once, which is aligned for eight only by chance, as
/// Miri showed.
#[test]
fn aligned_elements_are_borrowed_from_the_message() {
    let items: Vec<Nest> = (0..9).map(nest).collect();
    let octets = written(natural(), 8, &items);
    for (shift, borrowed) in [(0, true), (1, false)] {
        let mut memory = vec![0; octets.len() + 16];
        let from = memory.as_ptr().align_offset(8) + shift;
        let message = &mut memory[from..][..octets.len()];
        message.copy_from_slice(&octets);
        let mut reader = CdrReader::new(message, natural());
        reader.take(8).unwrap();
        let read = reader.read_fixed_slice::<Nest>().unwrap();
        assert_eq!(matches!(read, Cow::Borrowed(_)), borrowed, "{shift}");
        assert_eq!(read, items);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 16 } else { 256 }))]

    /// Whatever comes is read or refused; counts reserve no more than there are octets.
    #[test]
    fn any_octets_are_read_or_refused(octets in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut copy = octets.clone();
        let mut reader = CdrReader::new(&mut copy, natural());
        if let Ok(items) = Vec::<Nest>::decode(&mut reader) {
            prop_assert!(items.capacity() * size_of::<Nest>() <= octets.len() + 64);
        }
        let mut copy = octets.clone();
        let _ = CdrReader::new(&mut copy, natural()).read_fixed_slice::<Many>();
        let mut copy = octets;
        let _ = Vec::<Flagged>::decode(&mut CdrReader::new(&mut copy, natural()));
    }
}
