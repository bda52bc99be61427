// SPDX-License-Identifier: MIT OR Apache-2.0
//! Characters, text and octets.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use orbium_cdr::{Char, TCKind, TypeRef, WChar};

use super::parser::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn char(&self, text: &str) -> Parsed<Char> {
        if let Some((key, value)) = self.special(text)? {
            let octet = match key.as_str() {
                "$octet" => self.whole(TCKind::Octet, value.get())?,
                _ => return Err(self.mismatch("char", text)),
            };
            let octet = u8::try_from(octet);
            return octet.map(Char).map_err(|_| self.mismatch("octet", text));
        }
        let c = self.single("char", text)?;
        let octet = Char::try_from(c);
        octet.map_err(|_| self.error(format!("{c:?} is not a char, which is one of ISO 8859-1")))
    }

    pub(super) fn wchar(&self, text: &str) -> Parsed<WChar> {
        if let Some((key, value)) = self.special(text)? {
            let units = match key.as_str() {
                "$utf16" => self.read::<Vec<u16>>("code units", value.get())?,
                _ => return Err(self.mismatch("wchar", text)),
            };
            return match units[..] {
                [unit] => Ok(WChar(unit)),
                _ => Err(self.mismatch("one code unit", value.get())),
            };
        }
        let c = self.single("wchar", text)?;
        let unit = WChar::try_from(c);
        unit.map_err(|_| self.error(format!("{c:?} is not a wchar, which is one unit of UTF-16")))
    }

    /// A string of one character.
    pub(super) fn single(&self, wanted: &str, text: &str) -> Parsed<char> {
        let string = self.string(wanted, text)?;
        let mut chars = string.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => Err(self.mismatch(&format!("{wanted}, a string of one character"), text)),
        }
    }

    pub(super) fn text(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let string = match self.special(text)? {
            Some((key, value)) if key == "$base64" => {
                let octets = self.base64(value.get())?;
                String::from_utf8(octets).map_err(|_| self.error("the octets are not UTF-8"))?
            }
            Some(_) => return Err(self.mismatch("string", text)),
            None => self.string("string", text)?,
        };
        self.check_text(code, &string, string.chars().count(), "characters")?;
        self.writer.write_name(&string);
        Ok(())
    }

    pub(super) fn wide_text(&mut self, code: TypeRef<'_>, text: &str) -> Parsed {
        let string = match self.special(text)? {
            Some((key, value)) if key == "$utf16" => {
                let units: Vec<u16> = self.read("code units", value.get())?;
                let string = String::from_utf16(&units);
                string.map_err(|_| self.error("the code units are not UTF-16"))?
            }
            Some(_) => return Err(self.mismatch("wstring", text)),
            None => self.string("wstring", text)?,
        };
        self.check_text(code, &string, string.encode_utf16().count(), "code units")?;
        self.writer.write_wstr(&string);
        Ok(())
    }

    fn check_text(&self, code: TypeRef<'_>, text: &str, length: usize, unit: &str) -> Parsed {
        if text.contains('\0') {
            Err(self.error("a string cannot contain U+0000"))
        } else {
            self.check_bound(code, length, unit)
        }
    }

    /// Octets in one of their representations.
    pub(super) fn octets(&self, text: &str) -> Parsed<Vec<u8>> {
        let Some((key, value)) = self.special(text)? else {
            return self.base64(text);
        };
        let value = value.get();
        match key.as_str() {
            "$hex" => {
                let digits = self.string("hexadecimal digits", value)?;
                hex(&digits).ok_or_else(|| self.mismatch("pairs of hexadecimal digits", value))
            }
            "$utf8" => Ok(self.string("text", value)?.into_bytes()),
            "$base64" => self.base64(value),
            _ => Err(self.mismatch("octets", text)),
        }
    }

    pub(super) fn base64(&self, text: &str) -> Parsed<Vec<u8>> {
        let wanted = "octets in base64";
        let string = self.string(wanted, text)?;
        let decoded = STANDARD.decode(&string);
        let decoded = decoded.or_else(|_| URL_SAFE.decode(&string));
        decoded.map_err(|error| self.error(format!("expected {wanted}: {error}")))
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |octet: &u8| char::from(*octet).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let octet = |[high, low]: &[u8; 2]| Some((digit(high)? * 16 + digit(low)?) as u8);
    rest.is_empty().then(|| pairs.iter().map(octet).collect())?
}
