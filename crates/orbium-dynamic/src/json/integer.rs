// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole numbers.

use orbium_cdr::TCKind;

/// Least and greatest value of a kind of integer.
pub(crate) fn range(kind: TCKind) -> Option<(i128, i128)> {
    Some(match kind {
        TCKind::Octet => (0, i128::from(u8::MAX)),
        TCKind::Short => (i128::from(i16::MIN), i128::from(i16::MAX)),
        TCKind::UShort => (0, i128::from(u16::MAX)),
        TCKind::Long => (i128::from(i32::MIN), i128::from(i32::MAX)),
        TCKind::ULong => (0, i128::from(u32::MAX)),
        TCKind::LongLong => (i128::from(i64::MIN), i128::from(i64::MAX)),
        TCKind::ULongLong => (0, i128::from(u64::MAX)),
        _ => return None,
    })
}

/// The number that text is: decimal, or with `0x` before it.
pub(super) fn parse(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((digits, 10), |digits| (digits, 16));
    // A sign is not a digit.
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}
