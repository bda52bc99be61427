// SPDX-License-Identifier: MIT OR Apache-2.0
//! Characters and extended floats: primitives that Rust has no exact type for.

use core::fmt;

/// An IDL `char`: one octet, an ISO 8859-1 character.
///
/// Every octet is a value, so that no data from the wire are lost.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Char(pub u8);

/// An IDL `wchar`: one UTF-16 code unit; a lone surrogate is representable.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct WChar(pub u16);

/// An IDL `long double`: IEEE 754 binary128, stored as its sixteen octets with the least
/// significant first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct LongDouble(pub [u8; 16]);

/// A `char` that has no image in the IDL character type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CharOutOfRange(pub char);

impl fmt::Display for CharOutOfRange {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} does not fit the IDL character type", self.0)
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for CharOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for CharOutOfRange {}

impl From<Char> for char {
    fn from(value: Char) -> Self {
        Self::from(value.0)
    }
}

impl From<u8> for Char {
    fn from(value: u8) -> Self {
        Self(value)
    }
}

impl TryFrom<char> for Char {
    type Error = CharOutOfRange;
    fn try_from(value: char) -> Result<Self, CharOutOfRange> {
        u8::try_from(value)
            .map(Self)
            .map_err(|_| CharOutOfRange(value))
    }
}

impl TryFrom<char> for WChar {
    type Error = CharOutOfRange;
    fn try_from(value: char) -> Result<Self, CharOutOfRange> {
        u16::try_from(u32::from(value))
            .map(Self)
            .map_err(|_| CharOutOfRange(value))
    }
}

impl TryFrom<WChar> for char {
    type Error = WChar;
    /// Fails for a lone surrogate, which is not a character.
    fn try_from(value: WChar) -> Result<Self, WChar> {
        Self::from_u32(u32::from(value.0)).ok_or(value)
    }
}

impl fmt::Debug for Char {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&char::from(*self), f)
    }
}

impl fmt::Display for Char {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&char::from(*self), f)
    }
}

impl fmt::Debug for WChar {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match char::try_from(*self) {
            Ok(c) => fmt::Debug::fmt(&c, f),
            Err(unit) => write!(f, "'\\u{{{:x}}}'", unit.0),
        }
    }
}

impl From<f64> for LongDouble {
    /// Exact: every double is a binary128.
    fn from(value: f64) -> Self {
        let bits = value.to_bits();
        let sign = u128::from(bits >> 63) << 127;
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = u128::from(bits & 0x000f_ffff_ffff_ffff);
        let wide = match (exponent, fraction) {
            (0, 0) => 0,
            (0, _) => {
                // A subnormal double is normal in binary128.
                let shift = fraction.leading_zeros() - (128 - 53);
                let normal = (fraction << shift) & 0x000f_ffff_ffff_ffff;
                (u128::from(16383 - 1022 - shift) << 112) | (normal << 60)
            }
            (0x7ff, _) => (0x7fff << 112) | (fraction << 60),
            _ => (u128::from(exponent + 16383 - 1023) << 112) | (fraction << 60),
        };
        Self((sign | wide).to_le_bytes())
    }
}

impl From<LongDouble> for f64 {
    /// Rounds toward zero if a double has fewer bits; out of range becomes infinity or zero.
    fn from(value: LongDouble) -> Self {
        let bits = u128::from_le_bytes(value.0);
        let sign = ((bits >> 127) as u64) << 63;
        let exponent = ((bits >> 112) & 0x7fff) as i32;
        let fraction = ((bits >> 60) & 0x000f_ffff_ffff_ffff) as u64;
        let magnitude = match exponent {
            0x7fff if bits << 16 == 0 => 0x7ff << 52,
            0x7fff => (0x7ff << 52) | fraction | (1 << 51),
            _ => match exponent - 16383 + 1023 {
                e if e >= 0x7ff => 0x7ff << 52,
                e if e > 0 => ((e as u64) << 52) | fraction,
                e if e > -52 => (fraction | (1 << 52)) >> (1 - e),
                _ => 0,
            },
        };
        Self::from_bits(sign | magnitude)
    }
}

impl fmt::Debug for LongDouble {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&f64::from(*self), f)
    }
}
