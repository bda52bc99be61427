// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksum of a flood: the wrapping 64-bit sum of its elements.
//!
//! A flood is measured against sockets that look at nothing, so each sum is
//! made of blocks whose inner loop the compiler turns into vector code: elements
//! are summed in no more bits than a block needs.

use orbium::Char;

use crate::ttcp::{BinStruct, Tally};

/// Elements summed before the sum is widened.
const BLOCK: usize = 4096;

/// What a flood may consist of.
pub(crate) trait Element: Sized {
    /// The sum over all elements: integers sign-extended, doubles cut off
    /// towards zero, structs by their members.
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

/// Sums octets in sixteen lanes of 16 bits: a block gives each lane 256 of at
/// most 255.
fn sum_octets<E>(block: &[E], octet: impl Fn(&E) -> u8) -> i64 {
    let (rows, rest) = block.as_chunks::<16>();
    let mut lanes = [0_u16; 16];
    for row in rows {
        for (lane, element) in lanes.iter_mut().zip(row) {
            *lane = lane.wrapping_add(u16::from(octet(element)));
        }
    }
    let rest: i64 = rest.iter().map(|element| i64::from(octet(element))).sum();
    rest + lanes.iter().map(|lane| i64::from(*lane)).sum::<i64>()
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
        sum_blocks(elements, |block| {
            let (mut all_small, mut sum) = (true, 0_i64);
            for v in block {
                all_small &= is_small(*v);
                sum = sum.wrapping_add(truncate_small(*v));
            }
            if all_small {
                return sum;
            }
            block
                .iter()
                .map(|v| truncate(*v))
                .fold(0, i64::wrapping_add)
        })
    }
}

impl Element for BinStruct {
    fn sum(elements: &[Self]) -> u64 {
        sum_blocks(elements, |block| {
            let (mut narrow, mut long, mut double) = (0_i32, 0_i64, 0_i64);
            for v in block {
                narrow += i32::from(v.s) + i32::from(v.c.0) + i32::from(v.o);
                long += i64::from(v.l);
                double = double.wrapping_add(truncate(v.d));
            }
            double.wrapping_add(long + i64::from(narrow))
        })
    }
}

/// The integer part; what no integer of 64 bits can hold becomes the nearest
/// that can, and NaN becomes 0.
fn truncate(v: f64) -> i64 {
    v as i64
}

/// Whether [`truncate_small`] gives what [`truncate`] does.
fn is_small(v: f64) -> bool {
    v.abs() < 2_251_799_813_685_248.0 // 2⁵¹
}

/// [`truncate`] in operations that have vector forms everywhere. Adding 1.5·2⁵²
/// leaves the nearest integer in the low bits of the sum, which is then moved
/// towards zero if rounding went away from it.
fn truncate_small(v: f64) -> i64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let shifted = v + SHIFT;
    let nearest = shifted.to_bits().wrapping_sub(SHIFT.to_bits());
    let rounded = shifted - SHIFT;
    let too_far_up = i64::from((rounded > v) & (v > 0.0));
    let too_far_down = i64::from((rounded < v) & (v < 0.0));
    let nearest = nearest.cast_signed();
    nearest.wrapping_sub(too_far_up).wrapping_add(too_far_down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_cut_off_towards_zero() {
        let values = [
            0.0, -0.0, 0.49, 0.5, 0.51, 0.99, 1.0, 1.5, 2.5, 1e15, 123_456.75, 4.0,
        ];
        for v in values.into_iter().flat_map(|v| [v, -v]) {
            assert_eq!(truncate_small(v), v as i64, "{v}");
        }
    }

    #[test]
    fn doubles_beyond_integers_are_summed_too() {
        assert_eq!(f64::sum(&[1.0, 1e300]), (i64::MAX as u64).wrapping_add(1));
        assert_eq!(f64::sum(&[f64::NAN, 7.9, -2.9]), 5);
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
        let each = -5 + 97 + i64::from(i32::MIN) + 200 - 7;
        assert_eq!(BinStruct::sum(&[v, v]), (2 * each) as u64);
    }
}
