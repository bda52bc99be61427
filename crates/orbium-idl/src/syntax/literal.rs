// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of literals (CORBA 3.3 Part 1, 7.2.6).

use crate::model::Fixed;

/// Error in a literal: the rule and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

fn malformed<T>(code: &'static str, message: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed {
        code,
        message: message.into(),
    })
}

/// The value of a numeric literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(u64),
    /// With the exact value: that of a fixed-point literal without its suffix, if it has no
    /// exponent.
    Float(f64, Option<Fixed>),
    Fixed(Fixed),
}

/// A decimal, octal or hexadecimal integer. None if it is invalid or exceeds 64 bits.
pub(crate) fn integer(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    whole(digits, radix)
}

/// Digits of a radix. None if there are none or invalid ones, or the value exceeds 64 bits.
pub(crate) fn whole(digits: &str, radix: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    for digit in digits.chars() {
        let digit = u64::from(digit.to_digit(radix)?);
        value = value.checked_mul(radix.into())?.checked_add(digit)?;
    }
    Some(value)
}

/// Whether all octets are decimal digits; true for an empty text.
fn is_digits(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

/// Any numeric literal.
pub(crate) fn number(text: &str) -> Result<Number, Malformed> {
    if let Some(value) = integer(text) {
        return Ok(Number::Integer(value));
    }
    let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if hexadecimal || is_digits(text) {
        return integer_problem(text, hexadecimal);
    }
    if let Some(digits) = text.strip_suffix(['d', 'D']) {
        return fixed(text, digits);
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        ),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    let good_exponent = exponent.is_none_or(|e| !e.is_empty() && is_digits(e));
    if !has_digits || !is_digits(whole) || !is_digits(fraction) || !good_exponent {
        return malformed("malformed-number", format!("`{text}` is no valid number"));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Float(value, decimal(text))),
        _ => malformed(
            "number-too-large",
            format!(
                "the floating point literal `{text}` is too large: constants, also those of \
                 `long double`, have the range of `double`"
            ),
        ),
    }
}

fn integer_problem(text: &str, hexadecimal: bool) -> Result<Number, Malformed> {
    let octal = !hexadecimal && text.starts_with('0');
    let valid = if hexadecimal {
        text.len() > 2 && text[2..].chars().all(|c| c.is_ascii_hexdigit())
    } else {
        !octal || text.chars().all(|c| c.is_digit(8))
    };
    if valid {
        malformed(
            "number-too-large",
            format!("the integer literal `{text}` is too large: it must fit 64 bits"),
        )
    } else if octal {
        malformed(
            "malformed-number",
            format!("`{text}` is no valid octal number: a leading 0 means octal"),
        )
    } else {
        malformed("malformed-number", format!("`{text}` is no valid number"))
    }
}

/// The value of a floating-point literal that could be a fixed-point one.
fn decimal(text: &str) -> Option<Fixed> {
    match fixed(text, text) {
        Ok(Number::Fixed(value)) => Some(value),
        _ => None,
    }
}

fn fixed(text: &str, digits: &str) -> Result<Number, Malformed> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = is_digits(whole) && is_digits(fraction);
    if !all_digits || (whole.is_empty() && fraction.is_empty()) {
        return malformed("malformed-number", format!("`{text}` is no valid number"));
    }
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    if whole.len() + fraction.len() > 31 {
        return malformed(
            "number-too-large",
            format!("the fixed point literal `{text}` has more than 31 digits"),
        );
    }
    let mut unscaled = 0;
    for digit in format!("{whole}{fraction}").bytes() {
        unscaled = unscaled * 10 + i128::from(digit - b'0');
    }
    let scale = fraction.len() as u8;
    Ok(Number::Fixed(Fixed { unscaled, scale }))
}

/// The value of a character literal, quotes (and `L`) included in the text.
pub(crate) fn character(text: &str, wide: bool) -> Result<u16, Malformed> {
    let units = units(text, '\'', wide)?;
    match units.as_slice() {
        [unit] => Ok(*unit),
        [] => malformed("malformed-character", "this character literal is empty"),
        _ => malformed(
            "malformed-character",
            "this character literal is too long: it must hold one character",
        ),
    }
}

/// The value of a string literal as UTF-16, quotes (and `L`) included in the text.
pub(crate) fn string(text: &str, wide: bool) -> Result<Vec<u16>, Malformed> {
    let units = units(text, '"', wide)?;
    if units.contains(&0) {
        malformed("nul-in-string", "a string cannot contain NUL (`\\0`)")
    } else {
        Ok(units)
    }
}

fn units(text: &str, quote: char, wide: bool) -> Result<Vec<u16>, Malformed> {
    let inner = text.strip_prefix('L').unwrap_or(text);
    let inner = inner.strip_prefix(quote).unwrap_or(inner);
    let mut chars = inner
        .strip_suffix(quote)
        .unwrap_or(inner)
        .chars()
        .peekable();
    let mut units = Vec::new();
    while let Some(c) = chars.next() {
        if c == '\\' {
            units.push(escape(&mut chars, wide)?);
            continue;
        }
        if quote == '\'' && !wide && u32::from(c) > 0xff {
            return malformed(
                "malformed-character",
                format!("`{c}` is not in ISO 8859-1, so it is no char"),
            );
        }
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    Ok(units)
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The character of an escape sequence. An unknown escape stands for its character.
fn escape(chars: &mut Chars<'_>, wide: bool) -> Result<u16, Malformed> {
    let Some(c) = chars.next() else {
        return malformed("malformed-escape", "this escape sequence has no character");
    };
    Ok(match c {
        'n' => 10,
        't' => 9,
        'v' => 11,
        'b' => 8,
        'r' => 13,
        'f' => 12,
        'a' => 7,
        '0'..='7' => {
            let mut value = c.to_digit(8).unwrap_or(0);
            value = digits(chars, 8, 2, value).0;
            if value > 0xff {
                return malformed(
                    "malformed-escape",
                    format!("the octal escape `\\{value:o}` is too large: the limit is \\377"),
                );
            }
            narrow(value)
        }
        'x' => match digits(chars, 16, 2, 0) {
            (_, 0) => {
                return malformed(
                    "malformed-escape",
                    "`\\x` needs one or two hexadecimal digits",
                );
            }
            (value, _) => narrow(value),
        },
        'u' if !wide => {
            return malformed(
                "malformed-escape",
                "`\\u` is allowed in wide literals only (`L'…'`, `L\"…\"`)",
            );
        }
        'u' => match digits(chars, 16, 4, 0) {
            (_, 0) => {
                return malformed(
                    "malformed-escape",
                    "`\\u` needs one to four hexadecimal digits",
                );
            }
            (value, _) => narrow(value),
        },
        other => narrow(u32::from(other)),
    })
}

fn digits(chars: &mut Chars<'_>, radix: u32, most: usize, start: u32) -> (u32, usize) {
    let mut value = start;
    let mut count = 0;
    while count < most
        && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
    {
        chars.next();
        value = value * radix + digit;
        count += 1;
    }
    (value, count)
}

fn narrow(value: u32) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_form() {
        assert_eq!(number("010"), Ok(Number::Integer(8)));
        assert_eq!(number("0xFf"), Ok(Number::Integer(255)));
        assert_eq!(number("0"), Ok(Number::Integer(0)));
        let half = Fixed {
            unscaled: 5,
            scale: 1,
        };
        assert_eq!(number(".5"), Ok(Number::Float(0.5, Some(half))));
        let five = Fixed {
            unscaled: 5,
            scale: 0,
        };
        assert_eq!(number("5."), Ok(Number::Float(5.0, Some(five))));
        assert_eq!(number("1e3"), Ok(Number::Float(1000.0, None)));
        assert_eq!(
            number("0012.500d"),
            Ok(Number::Fixed(Fixed {
                unscaled: 125,
                scale: 1
            }))
        );
        assert_eq!(
            number(".5D"),
            Ok(Number::Fixed(Fixed {
                unscaled: 5,
                scale: 1
            }))
        );
        assert_eq!(
            number("18446744073709551615"),
            Ok(Number::Integer(u64::MAX))
        );
        for wrong in [
            "18446744073709551616",
            "09",
            "0x",
            "1e",
            "1.2.3",
            "12abc",
            "1e999",
        ] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn escapes_end_where_they_must() {
        assert_eq!(
            string(r#""\x41B\1012\n""#, false),
            Ok(vec![0x41, 0x42, 0x41, 0x32, 10])
        );
        assert_eq!(character(r"L'\u20ac'", true), Ok(0x20ac));
        assert_eq!(character(r"'\0'", false), Ok(0));
        assert!(character(r"'\777'", false).is_err());
        assert!(string(r#""a\0b""#, false).is_err());
    }
}
