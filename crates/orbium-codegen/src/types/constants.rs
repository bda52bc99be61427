// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constants, with their evaluated values.

use orbium_idl_model::{ConstValue, Constant, Definition, Type};

use crate::docs;
use crate::emit::Emitter;
use crate::types::codec;
use crate::types::data::quoted;

impl Emitter<'_, '_> {
    pub(crate) fn constant(&mut self, definition: &Definition, constant: &Constant) {
        let name = self.name(definition);
        let written = self.rust(&constant.ty);
        let resolved = self.plan.model.resolve_alias(&constant.ty).clone();
        let (ty, value) = match &constant.value {
            ConstValue::Integer(value) => (written, codec::integer(*value)),
            ConstValue::Float(value) => (written, self.float(*value, &resolved)),
            ConstValue::Fixed(value) => {
                let scale = match resolved {
                    Type::Fixed { scale, .. } => scale,
                    _ => value.scale,
                };
                let more = 10i128.checked_pow(u32::from(scale.saturating_sub(value.scale)));
                let unscaled = value.unscaled.saturating_mul(more.unwrap_or(1));
                let value = format!(
                    "orb::Fixed::from_unscaled({}).unwrap()",
                    codec::integer(unscaled)
                );
                (written, value)
            }
            ConstValue::Char(octet) => (written, format!("orb::Char({octet})")),
            ConstValue::WChar(unit) => (written, format!("orb::WChar({unit})")),
            ConstValue::Boolean(value) => (written, value.to_string()),
            ConstValue::String(text) => ("&str".to_owned(), quoted(text)),
            ConstValue::WString(units) => match String::from_utf16(units) {
                Ok(text) => ("&str".to_owned(), quoted(&text)),
                Err(_) => {
                    // Text with an unpaired surrogate is not a string in Rust.
                    let units = units
                        .iter()
                        .map(|unit| format!("0x{unit:04x}"))
                        .collect::<Vec<_>>()
                        .join(", ");
                    ("&[u16]".to_owned(), format!("&[{units}]"))
                }
            },
            ConstValue::Enumerator { of, index } => (written, self.enumerator(*of, *index)),
        };
        self.text.blank();
        self.doc(&docs::of(definition, "constant"));
        self.text.assign(&format!("pub const {name}: {ty}"), &value);
    }

    fn float(&mut self, value: f64, ty: &Type) -> String {
        let (module, shown) = match ty {
            Type::LongDouble => return format!("orb::LongDouble({:?})", binary128(value)),
            Type::Float => ("f32", format!("{:?}", value as f32)),
            _ => ("f64", format!("{value:?}")),
        };
        match shown.as_str() {
            "inf" => return format!("{module}::INFINITY"),
            "-inf" => return format!("{module}::NEG_INFINITY"),
            "NaN" => return format!("{module}::NAN"),
            _ => {}
        }
        grouped_float(&shown)
    }
}

/// A floating literal with its digits grouped.
fn grouped_float(shown: &str) -> String {
    let (mantissa, exponent) = match shown.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
        None => (shown, String::new()),
    };
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    // Digits of a fraction are grouped from the point.
    let fraction = if fraction.len() < 6 {
        fraction.to_owned()
    } else {
        let mut grouped = String::new();
        for (i, digit) in fraction.char_indices() {
            if i > 0 && i.is_multiple_of(3) {
                grouped.push('_');
            }
            grouped.push(digit);
        }
        grouped
    };
    format!("{sign}{}{point}{fraction}{exponent}", codec::grouped(whole))
}

/// The sixteen octets, least significant first, of the binary128 that equals a double.
fn binary128(value: f64) -> [u8; 16] {
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    let exponent = u128::from((bits >> 52) & 0x7ff);
    let fraction = u128::from(bits & 0x000f_ffff_ffff_ffff);
    let wide = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => {
            // A subnormal double is normal in binary128: its leading one becomes the implied bit.
            let shift = fraction.leading_zeros() - 75;
            let exponent = u128::from(16383 - 1022 - shift);
            (exponent << 112) | (((fraction << shift) & 0x000f_ffff_ffff_ffff) << 60)
        }
        (0x7ff, _) => (0x7fff << 112) | (fraction << 60),
        _ => ((exponent + 16383 - 1023) << 112) | (fraction << 60),
    };
    (sign | wide).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_widen_exactly() {
        assert_eq!(binary128(1.0), (0x3fff_u128 << 112).to_le_bytes());
        assert_eq!(binary128(-2.0), (0xc000_u128 << 112).to_le_bytes());
        assert_eq!(binary128(0.0), [0; 16]);
        // The smallest subnormal is two to the power of -1074.
        assert_eq!(
            binary128(f64::from_bits(1)),
            (0x3bcd_u128 << 112).to_le_bytes()
        );
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(grouped_float("0.0015"), "0.0015");
        assert_eq!(grouped_float("-1234567.12345678"), "-1_234_567.123_456_78");
        assert_eq!(grouped_float("1e-10"), "1e-10");
        assert_eq!(codec::integer(-1_000_000), "-1_000_000");
    }
}
