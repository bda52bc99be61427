// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point decimals as text.

/// Maximum number of digits of a `fixed`, and of trailing zeros that are written.
const MAX_DIGITS: u32 = 31;

/// A decimal with exactly `scale` digits after the point; `None` for a scale that no IDL type has.
pub(super) fn decimal(unscaled: i128, scale: i16) -> Option<String> {
    let places = u32::from(scale.unsigned_abs());
    if places > MAX_DIGITS {
        return None;
    }
    let sign = if unscaled < 0 { "-" } else { "" };
    let magnitude = unscaled.unsigned_abs();
    if magnitude == 0 && scale < 0 {
        return Some("0".to_owned());
    }
    if scale <= 0 {
        let zeros = places as usize;
        return Some(format!("{sign}{magnitude}{:0<zeros$}", ""));
    }
    let power = 10u128.pow(places);
    let places = places as usize;
    let (whole, fraction) = (magnitude / power, magnitude % power);
    Some(format!("{sign}{whole}.{fraction:0places$}"))
}

/// The value of a decimal times ten to the power of `scale`.
///
/// # Errors
/// The error in the text.
pub(super) fn parse_decimal(text: &str, digits: u16, scale: i16) -> Result<i128, String> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        None => (unsigned, ""),
        Some(_) => return Err(not_decimal(digits, scale, text)),
    };
    let all_digits = whole
        .bytes()
        .chain(fraction.bytes())
        .all(|it| it.is_ascii_digit());
    if whole.is_empty() || !all_digits {
        return Err(not_decimal(digits, scale, text));
    }
    let places = usize::try_from(scale.max(0)).unwrap_or(0);
    if fraction.len() > places {
        return Err(format!(
            "{text} has {} digits behind the point, fixed<{digits},{scale}> has {places}",
            fraction.len()
        ));
    }
    let too_many = || format!("{text} has more digits than fixed<{digits},{scale}>");
    let mut unscaled: u128 = 0;
    let zeros = std::iter::repeat_n(b'0', places - fraction.len());
    for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
        let next = unscaled.checked_mul(10);
        let next = next.and_then(|it| it.checked_add(u128::from(digit - b'0')));
        unscaled = next.ok_or_else(too_many)?;
    }
    if scale < 0 {
        let power = 10u128.checked_pow(u32::from(scale.unsigned_abs()));
        let divided = power.filter(|power| unscaled.is_multiple_of(*power));
        unscaled /= divided.ok_or_else(|| not_decimal(digits, scale, text))?;
    }
    if u32::from(digits) > MAX_DIGITS || unscaled >= 10u128.pow(u32::from(digits)) {
        return Err(too_many());
    }
    // Below 10³¹, so it fits.
    let unscaled = unscaled as i128;
    Ok(if negative { -unscaled } else { unscaled })
}

fn not_decimal(digits: u16, scale: i16, text: &str) -> String {
    let text = super::error::shown(text);
    format!("expected fixed<{digits},{scale}>, found {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_the_digits_of_their_scale() {
        assert_eq!(decimal(-5, 3).as_deref(), Some("-0.005"));
        assert_eq!(decimal(0, 2).as_deref(), Some("0.00"));
        assert_eq!(decimal(12, 0).as_deref(), Some("12"));
        assert_eq!(decimal(12, -3).as_deref(), Some("12000"));
        assert_eq!(decimal(1, 400), None);
    }

    #[test]
    fn decimals_are_never_rounded() {
        assert_eq!(parse_decimal("-0.005", 5, 3), Ok(-5));
        assert_eq!(parse_decimal("7", 5, 3), Ok(7000));
        assert_eq!(parse_decimal("12000", 2, -3), Ok(12));
        assert!(parse_decimal("0.0050", 5, 3).is_err());
        assert!(parse_decimal("100", 5, 3).is_err());
        assert!(parse_decimal("1.", 5, 3).is_err());
        assert!(parse_decimal("1e2", 5, 0).is_err());
        assert!(parse_decimal(&"9".repeat(60), 31, 0).is_err());
    }
}
