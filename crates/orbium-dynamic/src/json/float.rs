// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floating-point numbers: shortest text that reads back to the same bits.

use orbium_cdr::LongDouble;
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Quad;
use std::str::FromStr;

/// The representation of a floating-point value in JSON.
pub(super) enum Text {
    /// A number.
    Number(String),
    /// A string: `NaN`, `Infinity`, `-Infinity`.
    Special(&'static str),
    /// The bits of a NaN other than the usual one.
    Bits(String),
}

pub(super) fn float(value: f32) -> Text {
    let bits = value.to_bits();
    match special(
        value.is_infinite(),
        value.is_sign_negative(),
        bits == NAN_32,
    ) {
        Some(special) => Text::Special(special),
        None if value.is_nan() => Text::Bits(format!("0x{bits:08x}")),
        // `Debug` produces the shortest text that reads back, with an exponent if that is shorter.
        None => Text::Number(format!("{value:?}")),
    }
}

pub(super) fn double(value: f64) -> Text {
    let bits = value.to_bits();
    match special(
        value.is_infinite(),
        value.is_sign_negative(),
        bits == NAN_64,
    ) {
        Some(special) => Text::Special(special),
        None if value.is_nan() => Text::Bits(format!("0x{bits:016x}")),
        None => Text::Number(format!("{value:?}")),
    }
}

/// The bits of NaN in the string form.
const NAN_32: u32 = 0x7fc0_0000;
const NAN_64: u64 = 0x7ff8_0000_0000_0000;
const NAN_128: u128 = 0x7fff_8000_0000_0000_0000_0000_0000_0000;

fn special(infinite: bool, negative: bool, is_usual_nan: bool) -> Option<&'static str> {
    match (infinite, negative) {
        (true, false) => Some("Infinity"),
        (true, true) => Some("-Infinity"),
        _ if is_usual_nan => Some("NaN"),
        _ => None,
    }
}

/// A `long double`; a number as text, as few JSON readers preserve its digits.
pub(super) fn long_double(value: LongDouble) -> Text {
    let bits = u128::from_le_bytes(value.0);
    let number = Quad::from_bits(bits);
    let negative = number.is_negative();
    match special(number.is_infinite(), negative, bits == NAN_128) {
        Some(special) => Text::Special(special),
        None if number.is_nan() => Text::Bits(format!("0x{bits:032x}")),
        None => Text::Number(number.to_string()),
    }
}

/// Parses a number or a special value; `None` for other text, and for a number that is too large.
pub(super) fn parse_float(text: &str) -> Option<f32> {
    match text {
        "NaN" => Some(f32::from_bits(NAN_32)),
        "Infinity" => Some(f32::INFINITY),
        "-Infinity" => Some(f32::NEG_INFINITY),
        _ if !is_number(text) => None,
        _ => text.parse().ok().filter(|it: &f32| it.is_finite()),
    }
}

/// As [`parse_float`].
pub(super) fn parse_double(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::from_bits(NAN_64)),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ if !is_number(text) => None,
        _ => text.parse().ok().filter(|it: &f64| it.is_finite()),
    }
}

/// Maximum octets of a number that is read exactly: far more digits than are significant.
const MAX_NUMBER_LENGTH: usize = 20_000;

/// As [`parse_float`].
pub(super) fn parse_long_double(text: &str) -> Option<LongDouble> {
    let bits = match text {
        "NaN" => NAN_128,
        "Infinity" => Quad::INFINITY.to_bits(),
        "-Infinity" => (-Quad::INFINITY).to_bits(),
        _ if !is_number(text) || text.len() > MAX_NUMBER_LENGTH => return None,
        _ => {
            let number = Quad::from_str(text).ok()?;
            if !number.is_finite() {
                return None;
            }
            number.to_bits()
        }
    };
    Some(LongDouble(bits.to_le_bytes()))
}

/// The bits in `{"$bits": "0x…"}`.
pub(super) fn parse_bits(text: &str, size: usize) -> Option<u128> {
    let digits = text.strip_prefix("0x")?;
    let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if digits.len() != size * 2 || !all_hex {
        return None;
    }
    u128::from_str_radix(digits, 16).ok()
}

/// Whether text has the form of a decimal number of JSON, possibly with leading zeros.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        digits(unsigned) && unsigned.len() < 9
    });
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    exponent_fits && digits(whole) && fraction.is_none_or(digits)
}
