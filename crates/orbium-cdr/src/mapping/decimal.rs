// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fixed-point decimals (CORBA 3.3 Part 2, clause 9.3.2.8).

use core::fmt;
use core::str::FromStr;

use crate::{CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Encode, Type, Typed};

/// Maximum number of digits of a decimal.
const MAX_DIGITS: u16 = 31;

/// The base of the halves of a factor, for which products of halves fit.
const HALF: u128 = 10u128.pow(16);

/// An IDL `fixed<D, S>`: an exact decimal of `D` digits (at most 31), `S` of them after the point.
///
/// ```
/// use orbium_cdr::Fixed;
///
/// let price: Fixed<7, 2> = "1234.50".parse().unwrap();
/// let sum = price.checked_add("0.75".parse().unwrap()).unwrap();
/// assert_eq!(sum.to_string(), "1235.25");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fixed<const D: u16, const S: u16> {
    /// The value times 10^S; its magnitude is below 10^D.
    unscaled: i128,
}

/// Error of converting text or a number into a decimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum FixedError {
    /// The text is not a decimal number.
    Syntax,
    /// There are more digits before the point than the type has.
    Overflow,
    /// There are more digits after the point than the type has.
    Inexact,
}

impl fmt::Display for FixedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "not a decimal number",
            Self::Overflow => "too many digits before the decimal point",
            Self::Inexact => "too many digits behind the decimal point",
        })
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for FixedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for FixedError {}

impl<const D: u16, const S: u16> Fixed<D, S> {
    const LIMIT: i128 = {
        assert!(D >= 1 && D <= MAX_DIGITS, "a fixed has 1 to 31 digits");
        assert!(S <= D, "the scale of a fixed cannot exceed its digits");
        10i128.pow(D as u32)
    };

    /// The greatest value; its negative is the least one.
    pub const MAX: Self = Self {
        unscaled: Self::LIMIT - 1,
    };

    /// The decimal with the value `unscaled` divided by 10^S.
    #[must_use]
    pub const fn from_unscaled(unscaled: i128) -> Option<Self> {
        if unscaled > -Self::LIMIT && unscaled < Self::LIMIT {
            Some(Self { unscaled })
        } else {
            None
        }
    }

    /// The value times 10^S.
    #[must_use]
    pub const fn unscaled(self) -> i128 {
        self.unscaled
    }

    /// The decimal nearest to `value`, if it is in range.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() || value.abs() >= 1e32 {
            return None;
        }
        // Formatting a float rounds correctly at any number of places.
        format!("{value:.*}", usize::from(S)).parse().ok()
    }

    /// The double nearest to the value.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The integer part.
    #[must_use]
    pub const fn trunc(self) -> i128 {
        self.unscaled / 10i128.pow(S as u32)
    }

    /// The sum, if it has no more than `D` digits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Self::from_unscaled(self.unscaled + other.unscaled)
    }

    /// The difference, if it has no more than `D` digits.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        Self::from_unscaled(self.unscaled - other.unscaled)
    }

    /// The product, truncated to the scale of the result; `None` if it has more digits than the
    /// result type.
    #[must_use]
    pub fn checked_mul<const D2: u16, const S2: u16, const D3: u16, const S3: u16>(
        self,
        other: Fixed<D2, S2>,
    ) -> Option<Fixed<D3, S3>> {
        let digits = product_digits(self.unscaled.unsigned_abs(), other.unscaled.unsigned_abs());
        let cut = usize::from(S + S2).saturating_sub(usize::from(S3));
        let zeros = usize::from(S3).saturating_sub(usize::from(S + S2));
        let kept = digits[..digits.len() - cut.min(digits.len())]
            .iter()
            .copied();
        let magnitude = collect(kept.chain(core::iter::repeat_n(0, zeros)))?;
        signed(magnitude, (self.unscaled < 0) != (other.unscaled < 0))
    }

    /// The quotient, truncated to the scale of the result; `None` if the divisor is zero or the
    /// result type has too few digits.
    #[must_use]
    pub fn checked_div<const D2: u16, const S2: u16, const D3: u16, const S3: u16>(
        self,
        other: Fixed<D2, S2>,
    ) -> Option<Fixed<D3, S3>> {
        let divisor = other.unscaled.unsigned_abs();
        if divisor == 0 {
            return None;
        }
        // The quotient has the scale S - S2, so S3 - (S - S2) digits are missing; if that is
        // negative, as many are truncated.
        let missing = i32::from(S3) - i32::from(S) + i32::from(S2);
        let dividend = self.unscaled.unsigned_abs().to_string();
        let digits = dividend.bytes().map(|digit| digit - b'0');
        let zeros = core::iter::repeat_n(0, missing.max(0) as usize);
        let mut quotient = Vec::new();
        let mut rest = 0u128;
        for digit in digits.chain(zeros) {
            rest = rest * 10 + u128::from(digit);
            quotient.push((rest / divisor) as u8);
            rest %= divisor;
        }
        quotient.truncate(quotient.len().saturating_sub((-missing).max(0) as usize));
        let magnitude = collect(quotient.into_iter())?;
        signed(magnitude, (self.unscaled < 0) != (other.unscaled < 0))
    }

    /// The same value in another type, if that can represent it exactly.
    ///
    /// # Errors
    /// [`FixedError::Overflow`], [`FixedError::Inexact`].
    pub fn rescale<const D2: u16, const S2: u16>(self) -> Result<Fixed<D2, S2>, FixedError> {
        let unscaled = if S2 >= S {
            self.unscaled
                .checked_mul(10i128.pow(u32::from(S2 - S)))
                .ok_or(FixedError::Overflow)?
        } else {
            let cut = 10i128.pow(u32::from(S - S2));
            if self.unscaled % cut != 0 {
                return Err(FixedError::Inexact);
            }
            self.unscaled / cut
        };
        Fixed::from_unscaled(unscaled).ok_or(FixedError::Overflow)
    }
}

fn signed<const D: u16, const S: u16>(magnitude: u128, negative: bool) -> Option<Fixed<D, S>> {
    let magnitude = i128::try_from(magnitude).ok()?;
    Fixed::from_unscaled(if negative { -magnitude } else { magnitude })
}

/// The number with these digits, if there are at most 31.
fn collect(digits: impl Iterator<Item = u8>) -> Option<u128> {
    let limit = 10u128.pow(u32::from(MAX_DIGITS));
    let mut number = 0u128;
    for digit in digits {
        number = number * 10 + u128::from(digit);
        if number >= limit {
            return None;
        }
    }
    Some(number)
}

/// All 64 digits of the product of two numbers below 10³².
fn product_digits(a: u128, b: u128) -> [u8; 64] {
    let (a1, a0, b1, b0) = (a / HALF, a % HALF, b / HALF, b % HALF);
    let low = a0 * b0;
    let middle = a1 * b0 + a0 * b1 + low / HALF;
    let high = a1 * b1 + middle / HALF;
    let mut digits = [0; 64];
    let quarters = [high / HALF, high % HALF, middle % HALF, low % HALF];
    for (quarter, digits) in quarters.into_iter().zip(digits.chunks_exact_mut(16)) {
        // Below 10¹⁶.
        let mut rest = quarter as u64;
        for digit in digits.iter_mut().rev() {
            *digit = (rest % 10) as u8;
            rest /= 10;
        }
    }
    digits
}

macro_rules! from_integers {
    ($($type:ty),*) => { $(
        impl<const D: u16, const S: u16> TryFrom<$type> for Fixed<D, S> {
            type Error = FixedError;
            fn try_from(value: $type) -> Result<Self, FixedError> {
                i128::try_from(value)
                    .ok()
                    .and_then(|value| value.checked_mul(10i128.pow(u32::from(S))))
                    .and_then(Self::from_unscaled)
                    .ok_or(FixedError::Overflow)
            }
        }
    )* };
}

from_integers!(i8, u8, i16, u16, i32, u32, i64, u64, i128, u128);

impl<const D: u16, const S: u16> core::ops::Neg for Fixed<D, S> {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            unscaled: -self.unscaled,
        }
    }
}

impl<const D: u16, const S: u16> FromStr for Fixed<D, S> {
    type Err = FixedError;

    /// Parses `-12.5`, and also the IDL literal `12.5d`. Trailing zeros that do not fit are
    /// ignored.
    fn from_str(text: &str) -> Result<Self, FixedError> {
        let text = text.strip_suffix(['d', 'D']).unwrap_or(text);
        let (negative, text) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = || whole.bytes().chain(fraction.bytes());
        if digits().next().is_none() || !digits().all(|digit| digit.is_ascii_digit()) {
            return Err(FixedError::Syntax);
        }
        let fraction = fraction.trim_end_matches('0');
        let Some(zeros) = usize::from(S).checked_sub(fraction.len()) else {
            return Err(FixedError::Inexact);
        };
        let digits = whole.bytes().chain(fraction.bytes()).map(|d| d - b'0');
        collect(digits.chain(core::iter::repeat_n(0, zeros)))
            .and_then(|magnitude| signed(magnitude, negative))
            .ok_or(FixedError::Overflow)
    }
}

impl<const D: u16, const S: u16> fmt::Display for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_decimal(self.unscaled.unsigned_abs(), S as i16, &mut text)?;
        f.pad_integral(self.unscaled >= 0, "", &text)
    }
}

impl<const D: u16, const S: u16> fmt::Debug for Fixed<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes digits with a point before the last `scale` of them.
pub(crate) fn write_decimal(magnitude: u128, scale: i16, f: &mut impl fmt::Write) -> fmt::Result {
    // A scale from a peer may be arbitrary; no decimal has more places than this.
    let places = u32::from(scale.unsigned_abs().min(MAX_DIGITS));
    let power = 10u128.pow(places);
    match scale {
        0 => write!(f, "{magnitude}"),
        1.. => {
            let places = places as usize;
            write!(f, "{}.{:0places$}", magnitude / power, magnitude % power)
        }
        _ => write!(f, "{magnitude}e{places}"),
    }
}

/// Reads the packed digits of a `fixed`: its unscaled value.
pub(crate) fn read_packed(reader: &mut CdrReader<'_>, digits: u16) -> Result<i128, CdrError> {
    let bad = |reader: &CdrReader<'_>| reader.error(CdrErrorKind::BadFixed);
    if digits > MAX_DIGITS {
        return Err(bad(reader));
    }
    // The sign nibble ends the value: JacORB writes no leading zeros, so there may be fewer octets
    // than the type allows.
    let mut magnitude = 0i128;
    for _ in 0..=digits / 2 {
        let octet = reader.read_u8()?;
        let (high, low) = (octet >> 4, octet & 15);
        if high > 9 {
            return Err(bad(reader));
        }
        magnitude = magnitude * 10 + i128::from(high);
        let negative = match low {
            0..=9 => {
                magnitude = magnitude * 10 + i128::from(low);
                continue;
            }
            // Some packed-decimal hardware writes F for values without a sign.
            0xC | 0xF => false,
            0xD => true,
            _ => return Err(bad(reader)),
        };
        // An even number of digits is preceded by a nibble of 0.
        if magnitude >= 10i128.pow(u32::from(digits)) {
            return Err(bad(reader));
        }
        return Ok(if negative { -magnitude } else { magnitude });
    }
    Err(bad(reader))
}

/// Writes a `fixed` with a number of digits that is known only at run time: the value times ten to
/// the power of its scale. Records [`CdrErrorKind::BadFixed`] for more digits than the type has.
pub fn write_packed_decimal(writer: &mut CdrWriter<'_>, unscaled: i128, digits: u16) {
    if digits > MAX_DIGITS || unscaled.unsigned_abs() >= 10u128.pow(u32::from(digits)) {
        return writer.fail(CdrErrorKind::BadFixed);
    }
    write_packed(writer, unscaled, digits);
}

/// Writes the packed digits of a `fixed`.
pub(crate) fn write_packed(writer: &mut CdrWriter<'_>, unscaled: i128, digits: u16) {
    let size = usize::from(digits.min(MAX_DIGITS)) / 2 + 1;
    let mut octets = [0u8; 16];
    let mut rest = unscaled.unsigned_abs();
    octets[size - 1] = if unscaled < 0 { 0xD } else { 0xC };
    // The last octet has one digit, above the sign.
    octets[size - 1] |= ((rest % 10) as u8) << 4;
    rest /= 10;
    for octet in octets[..size - 1].iter_mut().rev() {
        *octet = (rest % 10) as u8 | ((rest / 10 % 10) as u8) << 4;
        rest /= 100;
    }
    writer.write_raw(&octets[..size]);
}

impl<const D: u16, const S: u16> Encode for Fixed<D, S> {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        write_packed(writer, self.unscaled, D);
    }
}

impl<const D: u16, const S: u16> Decode for Fixed<D, S> {
    /// Without leading zeros: see `read_packed`.
    const MIN_SIZE: usize = 1;
    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let unscaled = read_packed(reader, D)?;
        Self::from_unscaled(unscaled).ok_or_else(|| reader.error(CdrErrorKind::BadFixed))
    }
}

impl<const D: u16, const S: u16> Typed for Fixed<D, S> {
    const TYPE: &'static Type = &Type::fixed(D, S as i16);
}
