// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exact decimal arithmetic of fixed-point constants (CORBA 3.3 Part 1, 7.12.2): results are
//! computed exactly, then truncated to 31 digits by dropping the last digits of the fraction.

use std::cmp::Ordering;

use crate::model::Fixed;

/// Digits of a magnitude, least significant first, and the number of digits behind the point.
#[derive(Clone)]
struct Decimal {
    digits: Vec<u8>,
    scale: usize,
    negative: bool,
}

const MAX_DIGITS: usize = 31;

impl Decimal {
    fn new(value: Fixed) -> Self {
        let mut rest = value.unscaled.unsigned_abs();
        let mut digits = Vec::new();
        while rest > 0 {
            // The remainder is a single digit.
            digits.push((rest % 10) as u8);
            rest /= 10;
        }
        Decimal {
            digits,
            scale: usize::from(value.scale),
            negative: value.unscaled < 0,
        }
    }

    /// Appends zeros behind the point.
    fn widen(&mut self, scale: usize) {
        let missing = scale.saturating_sub(self.scale);
        self.digits.reverse();
        for _ in 0..missing {
            self.digits.push(0);
        }
        self.digits.reverse();
        self.scale += missing;
    }

    /// Removes insignificant zeros, then excess digits. None if the integer part alone has too
    /// many.
    fn finish(mut self) -> Option<Fixed> {
        trim(&mut self.digits);
        let mut dropped = 0;
        let mut zeros = 0;
        while zeros < self.scale && self.digits.get(zeros) == Some(&0) {
            zeros += 1;
        }
        if self.digits.is_empty() {
            dropped = self.scale;
        }
        dropped = dropped.max(zeros);
        let size = |dropped: usize| self.digits.len().max(self.scale).saturating_sub(dropped);
        while size(dropped) > MAX_DIGITS && dropped < self.scale {
            dropped += 1;
        }
        if size(dropped) > MAX_DIGITS {
            return None;
        }
        let kept = self
            .digits
            .get(dropped.min(self.digits.len())..)
            .unwrap_or(&[]);
        let mut magnitude = 0i128;
        for digit in kept.iter().rev() {
            magnitude = magnitude * 10 + i128::from(*digit);
        }
        let cut = Fixed {
            unscaled: if self.negative { -magnitude } else { magnitude },
            scale: u8::try_from(self.scale - dropped).ok()?,
        };
        Some(normalised(cut))
    }
}

/// Removes trailing zeros of the fraction.
pub(super) fn normalised(mut value: Fixed) -> Fixed {
    while value.scale > 0 && value.unscaled % 10 == 0 {
        value.unscaled /= 10;
        value.scale -= 1;
    }
    value
}

fn trim(digits: &mut Vec<u8>) {
    while digits.last() == Some(&0) {
        digits.pop();
    }
}

fn compare(a: &[u8], b: &[u8]) -> Ordering {
    a.len()
        .cmp(&b.len())
        .then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn add_digits(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let mut sum = Vec::with_capacity(a.len().max(b.len()) + 1);
    for place in 0..a.len().max(b.len()) + 1 {
        let digit = a.get(place).unwrap_or(&0) + b.get(place).unwrap_or(&0) + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    trim(&mut sum);
    sum
}

/// `a - b` where a ≥ b.
fn subtract_digits(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut borrow = 0;
    let mut difference = Vec::with_capacity(a.len());
    for (place, digit) in a.iter().enumerate() {
        let less = b.get(place).unwrap_or(&0) + borrow;
        borrow = u8::from(*digit < less);
        difference.push(digit + 10 * borrow - less);
    }
    trim(&mut difference);
    difference
}

/// The sum; None if it has too many digits.
pub(super) fn add(a: Fixed, b: Fixed) -> Option<Fixed> {
    let (mut a, mut b) = (Decimal::new(a), Decimal::new(b));
    a.widen(b.scale);
    b.widen(a.scale);
    trim(&mut a.digits);
    trim(&mut b.digits);
    if a.negative == b.negative {
        a.digits = add_digits(&a.digits, &b.digits);
        return a.finish();
    }
    let (larger, smaller) = match compare(&a.digits, &b.digits) {
        Ordering::Less => (b, a),
        _ => (a, b),
    };
    let digits = subtract_digits(&larger.digits, &smaller.digits);
    Decimal { digits, ..larger }.finish()
}

/// The difference; None if it has too many digits.
pub(super) fn subtract(a: Fixed, b: Fixed) -> Option<Fixed> {
    add(
        a,
        Fixed {
            unscaled: -b.unscaled,
            ..b
        },
    )
}

/// The product; None if it has too many digits.
pub(super) fn multiply(a: Fixed, b: Fixed) -> Option<Fixed> {
    let (a, b) = (Decimal::new(a), Decimal::new(b));
    let mut places: Vec<u32> = Vec::new();
    while places.len() < a.digits.len() + b.digits.len() + 1 {
        places.push(0);
    }
    for (i, x) in a.digits.iter().enumerate() {
        for (j, y) in b.digits.iter().enumerate() {
            places[i + j] += u32::from(x * y);
        }
    }
    let mut carry = 0;
    let mut digits = Vec::with_capacity(places.len());
    for place in &places {
        let value = place + carry;
        // The remainder is a single digit.
        digits.push((value % 10) as u8);
        carry = value / 10;
    }
    Decimal {
        digits,
        scale: a.scale + b.scale,
        negative: a.negative != b.negative,
    }
    .finish()
}

/// The quotient with as many digits behind the point as fit; None if it has too many before the
/// point. The divisor must not be zero.
pub(super) fn divide(a: Fixed, b: Fixed) -> Option<Fixed> {
    let (mut dividend, divisor) = (Decimal::new(a), Decimal::new(b));
    // Sufficient for 31 digits of quotient for any operands.
    dividend.widen(divisor.scale + 2 * MAX_DIGITS);
    let mut rest: Vec<u8> = Vec::new();
    let mut quotient = Vec::new();
    for digit in dividend.digits.iter().rev() {
        rest.insert(0, *digit);
        trim(&mut rest);
        let mut times = 0;
        while compare(&rest, &divisor.digits) != Ordering::Less {
            rest = subtract_digits(&rest, &divisor.digits);
            times += 1;
        }
        quotient.push(times);
    }
    quotient.reverse();
    let scale = dividend.scale - divisor.scale;
    Decimal {
        digits: quotient,
        scale,
        negative: dividend.negative != divisor.negative,
    }
    .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(unscaled: i128, scale: u8) -> Fixed {
        Fixed { unscaled, scale }
    }

    #[test]
    fn results_are_exact_up_to_31_digits() {
        let third = divide(fixed(10, 1), fixed(30, 1)).map(|f| f.to_string());
        assert_eq!(third.as_deref(), Some("0.3333333333333333333333333333333"));
        assert_eq!(add(fixed(15, 1), fixed(-25, 2)), Some(fixed(125, 2)));
        assert_eq!(subtract(fixed(1, 0), fixed(15, 1)), Some(fixed(-5, 1)));
        assert_eq!(multiply(fixed(-25, 1), fixed(4, 0)), Some(fixed(-10, 0)));
        assert_eq!(divide(fixed(1, 0), fixed(8, 0)), Some(fixed(125, 3)));
        assert_eq!(add(fixed(5, 1), fixed(-5, 1)), Some(fixed(0, 0)));
        let largest = fixed(10i128.pow(31) - 1, 0);
        assert_eq!(add(largest, fixed(1, 0)), None);
        assert_eq!(multiply(largest, largest), None);
        assert_eq!(add(largest, fixed(5, 1)), Some(largest));
    }
}
