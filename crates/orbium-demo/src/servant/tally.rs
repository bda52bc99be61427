// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksum of a flood: the wrapping 64-bit sum of its elements.
//!
//! A flood is compared with sockets that do not read the data, so each sum consists of blocks with
//! an inner loop that the compiler vectorises: elements are summed in no more bits than a block
//! needs.

use orbium::Char;

use crate::ttcp::{BinStruct, Tally};

/// Elements summed before the sum is widened.
const BLOCK: usize = 4096;

/// The element type of a flood.
pub(crate) trait Element: Sized {
    /// The sum over all elements: integers sign-extended, doubles by
    /// their bits, structs by their members.
    fn sum(elements: &[Self]) -> u64;
}

/// Adds one send to a tally.
pub(crate) fn add<E: Element>(tally: &mut Tally, elements: &[E]) {
    tally.calls += 1;
    tally.elements += elements.len() as u64;
    tally.checksum = tally.checksum.wrapping_add(E::sum(elements));
}

/// Sums blocks, each by `block`.
fn sum_blocks<E>(elements: &[E], block: impl Fn(&[E]) -> i64) -> u64 {
    let blocks = elements.chunks(BLOCK).map(block);
    blocks.fold(0, |sum, block| sum.wrapping_add(block.cast_unsigned()))
}

/// Sums octets by pairs in sixteen lanes of 16 bits: the contribution of the upper octets to the
/// sum of the pairs is subtracted at the end, which saves splitting each pair. A block contributes
/// 128 pairs to each lane, so that the sum of either half fits.
fn sum_octets<E>(block: &[E], octet: impl Fn(&E) -> u8) -> i64 {
    let (rows, rest) = block.as_chunks::<32>();
    let (mut pairs, mut upper) = ([0_u16; 16], [0_u16; 16]);
    for row in rows {
        let (row, _) = row.as_chunks::<2>();
        for ((pairs, upper), [low, high]) in pairs.iter_mut().zip(&mut upper).zip(row) {
            let pair = u16::from_le_bytes([octet(low), octet(high)]);
            *pairs = pairs.wrapping_add(pair);
            *upper = upper.wrapping_add(pair >> 8);
        }
    }
    let rest: i64 = rest.iter().map(|element| i64::from(octet(element))).sum();
    let lanes = pairs.into_iter().zip(upper);
    rest + lanes
        .map(|(pairs, upper)| {
            let lower = pairs.wrapping_sub(upper << 8);
            i64::from(lower) + i64::from(upper)
        })
        .sum::<i64>()
}

impl Element for u8 {
    fn sum(elements: &[Self]) -> u64 {
        sum_blocks(elements, |block| sum_octets(block, |v| *v))
    }
}

impl Element for Char {
    fn sum(elements: &[Self]) -> u64 {
        sum_blocks(elements, |block| sum_octets(block, |v| v.0))
    }
}

impl Element for i16 {
    fn sum(elements: &[Self]) -> u64 {
        sum_blocks(elements, |block| {
            i64::from(block.iter().map(|v| i32::from(*v)).sum::<i32>())
        })
    }
}

impl Element for i32 {
    /// By halves, which takes half the time of widening each.
    fn sum(elements: &[Self]) -> u64 {
        sum_blocks(elements, |block| {
            let (mut high, mut low) = (0_i32, 0_u32);
            for v in block {
                high += v >> 16;
                low += v.cast_unsigned() & 0xFFFF;
            }
            (i64::from(high) << 16) + i64::from(low)
        })
    }
}

impl Element for f64 {
    fn sum(elements: &[Self]) -> u64 {
        let bits = elements.iter().map(|v| v.to_bits());
        bits.fold(0, u64::wrapping_add)
    }
}

impl Element for BinStruct {
    /// In four sums: no addition depends on the previous one.
    fn sum(elements: &[Self]) -> u64 {
        let value = |v: &Self| {
            let narrow = i32::from(v.s) + i32::from(v.c.0) + i32::from(v.o);
            let integers = i64::from(v.l) + i64::from(narrow);
            v.d.to_bits().wrapping_add(integers.cast_unsigned())
        };
        let (rows, rest) = elements.as_chunks::<4>();
        let mut sums = [0_u64; 4];
        for row in rows {
            for (sum, v) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(value(v));
            }
        }
        let rest = rest.iter().map(value);
        sums.into_iter().chain(rest).fold(0, u64::wrapping_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_double_counts() {
        assert_eq!(f64::sum(&[0.1]), 0.1_f64.to_bits());
        let twice = 0.1_f64.to_bits().wrapping_add((-7.9_f64).to_bits());
        assert_eq!(f64::sum(&[0.1, -7.9]), twice);
        assert_ne!(f64::sum(&[0.1]), f64::sum(&[0.1_f64.next_up()]));
        assert_eq!(f64::sum(&[f64::NAN]), f64::NAN.to_bits());
    }

    #[test]
    fn negative_elements_are_sign_extended() {
        assert_eq!(i16::sum(&[-1, -1]), u64::MAX - 1);
        assert_eq!(i32::sum(&[i32::MIN; 3]), (3 * i64::from(i32::MIN)) as u64);
        for v in [i32::MIN, -1, i32::MAX] {
            let sum = 10_000 * i64::from(v);
            assert_eq!(i32::sum(&vec![v; 10_000]), sum as u64);
        }
        assert_eq!(
            i16::sum(&vec![i16::MIN; 100_000]),
            (-3_276_800_000_i64) as u64
        );
    }

    #[test]
    fn octets_and_chars_are_not_signed() {
        assert_eq!(u8::sum(&vec![255; 10_001]), 2_550_255);
        assert_eq!(Char::sum(&[Char(0xE5)]), 0xE5);
        assert_eq!(Char::sum(&vec![Char(0xFF); 4096]), 4096 * 255);
    }

    #[test]
    fn a_struct_counts_as_the_sum_of_its_members() {
        let v = BinStruct {
            s: -5,
            c: Char(b'a'),
            l: i32::MIN,
            o: 200,
            d: -7.75,
        };
        let members = -5 + 97 + i64::from(i32::MIN) + 200;
        let each = members.cast_unsigned().wrapping_add((-7.75_f64).to_bits());
        for count in 0..20 {
            let sum = each.wrapping_mul(count);
            assert_eq!(BinStruct::sum(&vec![v; count as usize]), sum);
        }
    }
}
