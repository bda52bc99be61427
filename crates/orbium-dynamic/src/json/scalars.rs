// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers and enumerators.

use orbium_cdr::{LongDouble, TCKind, TypeRef, write_packed_decimal};

use super::parser::{Parsed, Parser};
use super::{float, integer, numbers};

impl Parser<'_> {
    pub(super) fn nothing(&self, text: &str) -> Parsed {
        match text {
            "null" => Ok(()),
            _ => Err(self.mismatch("null", text)),
        }
    }

    pub(super) fn integer(
        &mut self,
        kind: TCKind,
        (least, greatest): (i128, i128),
        text: &str,
    ) -> Parsed {
        let value = self.whole(kind, text)?;
        if value < least || value > greatest {
            let wanted = kind.keyword();
            return Err(self.error(format!(
                "{value} is out of range for {wanted}: {least} to {greatest}"
            )));
        }
        // In range, so the low bits are the value.
        match kind {
            TCKind::Octet => self.writer.write_u8(value as u8),
            TCKind::Short | TCKind::UShort => self.writer.write_u16(value as u16),
            TCKind::Long | TCKind::ULong => self.writer.write_u32(value as u32),
            _ => self.writer.write_u64(value as u64),
        }
        Ok(())
    }

    pub(super) fn float(&mut self, kind: TCKind, text: &str) -> Parsed {
        let wanted = kind.keyword();
        let size = match kind {
            TCKind::Float => 4,
            TCKind::Double => 8,
            _ => 16,
        };
        if let Some((key, value)) = self.special(text)? {
            let bits = match key.as_str() {
                "$bits" => self.string("hexadecimal digits", value.get())?,
                _ => return Err(self.mismatch(wanted, text)),
            };
            let Some(bits) = float::parse_bits(&bits, size) else {
                let digits = size * 2;
                return Err(self.mismatch(&format!("0x and {digits} hexadecimal digits"), &bits));
            };
            match kind {
                TCKind::Float => self.writer.write_u32(bits as u32),
                TCKind::Double => self.writer.write_u64(bits as u64),
                _ => self.writer.write_fixed(&LongDouble(bits.to_le_bytes())),
            }
            return Ok(());
        }
        let number = if text.starts_with('"') {
            self.string(wanted, text)?
        } else {
            text.to_owned()
        };
        let written = match kind {
            TCKind::Float => {
                float::parse_float(&number).map(|value| self.writer.write_u32(value.to_bits()))
            }
            TCKind::Double => {
                float::parse_double(&number).map(|value| self.writer.write_u64(value.to_bits()))
            }
            _ => float::parse_long_double(&number).map(|value| self.writer.write_fixed(&value)),
        };
        written.ok_or_else(|| self.mismatch(wanted, text))
    }

    pub(super) fn fixed(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let number = if text.starts_with('"') {
            self.string("fixed", text)?
        } else {
            text.to_owned()
        };
        let unscaled = numbers::parse_decimal(&number, code.digits(), code.scale());
        let unscaled = unscaled.map_err(|reason| self.error(reason))?;
        write_packed_decimal(&mut self.writer, unscaled, code.digits());
        Ok(())
    }

    pub(super) fn enumerator(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let ordinal = self.ordinal(code, text)?;
        self.writer.write_u32(ordinal);
        Ok(())
    }

    /// The number of an enumerator that is given by name, scoped name or number.
    pub(super) fn ordinal(&mut self, code: TypeRef<'_>, text: &str) -> Parsed<u32> {
        let wanted = || format!("an enumerator of {}", code.name());
        let index = if text.starts_with('"') {
            let name = self.string("an enumerator", text)?;
            let simple = name.rsplit("::").next().unwrap_or(&name);
            self.tables.find(code, simple).map(|it| it.index)
        } else {
            integer::parse(text)
                .and_then(|ordinal| usize::try_from(ordinal).ok())
                .filter(|ordinal| *ordinal < code.member_count())
        };
        let index = index.ok_or_else(|| self.mismatch(&wanted(), text))?;
        u32::try_from(index).map_err(|_| self.mismatch(&wanted(), text))
    }
}
