// SPDX-License-Identifier: MIT OR Apache-2.0
//! Implementations of `FixedSize` by hand: honest ones work, others are wrong,
//! and that is all they are. Miri has nothing to say of these tests.
//!
//! Nothing here is unsafe, what `fixed_struct!` makes of it included.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::panic::catch_unwind;

use orbium_cdr::{
    CdrErrorKind, CdrReader, CdrWriter, FixedIn, FixedOut, FixedSize, Format, Layout, encode_fixed,
    fixed_struct,
};

/// A number that is even: not every bit pattern is a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
struct Even(u32);

impl FixedSize for Even {
    const LAYOUT: Layout<Self> = Layout::primitive(4, 4);
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        self.0.store(out);
    }
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        let value = u32::load(source);
        if !value.is_multiple_of(2) {
            source.flag_invalid();
        }
        Self(value & !1)
    }
}

encode_fixed!(Even);

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Sample {
    time: u32,
    level: Even,
}

fixed_struct!(Sample {
    time: u32,
    level: Even
});

fn numbers(numbers: &[u32]) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(numbers.len() as u32);
    writer.write_fixed_slice(numbers);
    writer.finish().unwrap()
}

fn slice<T: FixedSize>(mut octets: Vec<u8>) -> Result<Vec<T>, CdrErrorKind> {
    let mut reader = CdrReader::new(&mut octets, Format::native());
    match reader.read_fixed_slice::<T>() {
        Ok(Cow::Borrowed(_)) => panic!("octets taken for values"),
        Ok(Cow::Owned(values)) => Ok(values),
        Err(error) => Err(error.kind),
    }
}

/// Conformance: CDR - blocks: one copy, borrowed, turned in place; padding is zero
#[test]
fn types_made_by_hand_are_never_a_block() {
    assert!(!Even::LAYOUT.is_block());
    assert!(!<[Even; 4]>::LAYOUT.is_block());
    assert!(!Sample::LAYOUT.is_block());
    assert_eq!(slice::<Even>(numbers(&[2, 4])), Ok(vec![Even(2), Even(4)]));
    assert!(slice::<Even>(numbers(&[2, 5])).is_err());
    let mut octets = numbers(&[1, 6, 3, 8]);
    octets[..4].copy_from_slice(&2u32.to_ne_bytes());
    let sample = |time, level| Sample {
        time,
        level: Even(level),
    };
    assert_eq!(
        slice::<Sample>(octets.clone()),
        Ok(vec![sample(1, 6), sample(3, 8)])
    );
    octets[8..12].copy_from_slice(&7u32.to_ne_bytes());
    assert!(slice::<Sample>(octets).is_err());
}

/// Says less than it is, and more than it writes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Liar<const SAID: usize>(u64, bool);

impl<const SAID: usize> FixedSize for Liar<SAID> {
    const LAYOUT: Layout<Self> = Layout::primitive(SAID, 1);
    fn store<const SWAP: bool>(&self, out: &mut FixedOut<'_, SWAP>) {
        out.put([0xEE; 8], 1);
    }
    fn load<const SWAP: bool>(source: &mut FixedIn<'_, SWAP>) -> Self {
        Self(u64::from_ne_bytes(source.take(1)), true)
    }
}

fn lie<const SAID: usize>() -> Vec<u8> {
    let liars = [Liar::<SAID>(1, false), Liar(2, true)];
    let mut writer = CdrWriter::new(Format::native());
    writer.write_u32(2);
    writer.write_fixed_slice(&liars);
    writer.write_fixed(&liars[0]);
    writer.finish().unwrap()
}

/// Conformance: CDR - blocks: one copy, borrowed, turned in place; padding is zero
#[test]
fn lies_end_in_panics_or_wrong_values() {
    // Too little room: found by the slices that everything goes through.
    assert!(catch_unwind(lie::<2>).is_err());
    assert!(catch_unwind(|| slice::<Liar<2>>(vec![2, 0, 0, 0, 1, 2, 3, 4])).is_err());
    // Too much: what was not written is not read from anywhere else.
    let octets = lie::<12>();
    assert_eq!(octets.len(), 4 + 3 * 12);
    let read = slice::<Liar<12>>(octets).unwrap();
    assert_eq!(read, [Liar(u64::from_ne_bytes([0xEE; 8]), true); 2]);
}
