// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of constant expressions.

use std::fmt;

use crate::DefId;

/// The value of a constant, a union label or an annotation's argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstValue {
    /// Any integer type, and `octet`. In the range of the constant's type.
    Integer(i128),
    /// Any floating type. `long double` constants have the precision of a `double`.
    Float(f64),
    /// A fixed-point value, exact.
    Fixed(Fixed),
    /// A `char`: one octet of ISO 8859-1.
    Char(u8),
    /// A `wchar`: one UTF-16 code unit.
    WChar(u16),
    /// `TRUE` or `FALSE`
    Boolean(bool),
    /// A `string`, escapes resolved (`\xE9` is U+00E9). Never contains NUL.
    String(String),
    /// A `wstring` in UTF-16, escapes resolved. Never contains NUL.
    WString(Vec<u16>),
    /// An enumerator: its enum and its index in it.
    Enumerator {
        /// The enum's definition.
        of: DefId,
        /// Index into [`crate::Enum::enumerators`], which is the marshalled value.
        index: u32,
    },
}

impl ConstValue {
    /// The number of a value as a discriminator: that of an integer, a character's code, an
    /// enumerator's index. None for values of other types.
    pub fn ordinal(&self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Char(value) => Some(i128::from(*value)),
            Self::WChar(value) => Some(i128::from(*value)),
            Self::Boolean(value) => Some(i128::from(*value)),
            Self::Enumerator { index, .. } => Some(i128::from(*index)),
            Self::Float(_) | Self::Fixed(_) | Self::String(_) | Self::WString(_) => None,
        }
    }
}

/// An exact decimal number of at most 31 digits: `unscaled` divided by ten to the power `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fixed {
    /// The digits as an integer, with the sign.
    pub unscaled: i128,
    /// Digits after the decimal point, at most 31.
    pub scale: u8,
}

impl Fixed {
    /// The number of digits of the value as `fixed<digits, scale>`: at least 1 and at least
    /// `scale`.
    pub fn digits(&self) -> u8 {
        let mut rest = self.unscaled.unsigned_abs();
        let mut digits = 0u8;
        while rest > 0 {
            rest /= 10;
            digits += 1;
        }
        digits.max(self.scale).max(1)
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.unsigned_abs().to_string();
        let scale = usize::from(self.scale);
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        if self.unscaled < 0 {
            f.write_str("-")?;
        }
        f.write_str(whole)?;
        if scale > 0 {
            write!(f, ".{fraction}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Fixed;

    #[test]
    fn fixed_values_print_with_their_scale() {
        let show = |unscaled, scale| Fixed { unscaled, scale }.to_string();
        assert_eq!(show(12345, 2), "123.45");
        assert_eq!(show(-5, 3), "-0.005");
        assert_eq!(show(7, 0), "7");
        assert_eq!(
            Fixed {
                unscaled: 5,
                scale: 3
            }
            .digits(),
            3
        );
        assert_eq!(
            Fixed {
                unscaled: 0,
                scale: 0
            }
            .digits(),
            1
        );
    }
}
