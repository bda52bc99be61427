// SPDX-License-Identifier: MIT OR Apache-2.0
//! Characters and strings in the negotiated code sets (clauses 9.3.1.6, 9.3.2.7
//! and 13.10).

use std::borrow::Cow;

use crate::allocation;
use crate::block::ascii::{Scanned, scan};
use crate::writer::GATHER_FROM;
use crate::{CdrError, CdrErrorKind, CdrReader, CdrWriter, CharSet, WChar};

impl<'a> CdrWriter<'a> {
    /// Writes a string in the negotiated code set.
    ///
    /// A NUL inside, or a character that ISO 8859-1 does not have while that is the code set, is an
    /// error.
    #[inline]
    pub fn write_str(&mut self, value: &'a str) {
        let octets = value.as_bytes();
        let scanned = scan(octets);
        if scanned.has_nul {
            self.fail(CdrErrorKind::BadString);
        }
        if scanned.ascii.is_none() && self.format().char_set == CharSet::Latin1 {
            return self.write_latin1(value);
        }
        if octets.len() < GATHER_FROM {
            return self.write_terminated(octets);
        }
        self.write_count(octets.len() + 1);
        match self.format().char_set {
            CharSet::Latin1 => self.write_raw(octets),
            CharSet::Utf8 | CharSet::Utf8AndLatin1Char => self.write_raw_gathered(octets),
        }
        self.write_u8(0);
    }

    /// Writes a string that is never converted: a repository id, an operation
    /// or member name, a host name.
    pub fn write_name(&mut self, value: &str) {
        self.write_count(value.len() + 1);
        self.write_raw(value.as_bytes());
        self.write_u8(0);
    }

    #[cold]
    fn write_latin1(&mut self, value: &str) {
        self.write_count(value.chars().count() + 1);
        for c in value.chars() {
            match u8::try_from(c) {
                Ok(octet) => self.write_u8(octet),
                Err(_) => return self.fail(CdrErrorKind::CannotConvert),
            }
        }
        self.write_u8(0);
    }

    /// Records an error if `char`s with these bits have no image in the code set: in UTF-8 only
    /// ASCII fits the one octet of a `char`.
    #[inline]
    pub(crate) fn check_chars(&mut self, bits: u8) {
        self.check_chars_at(bits, self.position());
    }

    /// The same for chars that were written from `position` on.
    #[inline]
    pub(crate) fn check_chars_at(&mut self, bits: u8, position: usize) {
        if !bits.is_ascii() && self.format().char_set == CharSet::Utf8 {
            self.fail_at(CdrErrorKind::CannotConvert, position);
        }
    }

    fn wide_is_possible(&mut self) -> bool {
        if self.format().minor == 0 {
            self.fail(CdrErrorKind::WideInGiop10);
        } else if self.format().wide_set.is_none() {
            self.fail(CdrErrorKind::WideNotNegotiated);
        }
        self.error().is_none()
    }

    /// Writes a `wchar`: an aligned short in GIOP 1.1, a counted big-endian
    /// pair of octets from 1.2 on.
    pub fn write_wchar(&mut self, value: WChar) {
        if !self.wide_is_possible() {
            return;
        }
        if self.format().minor == 1 {
            self.write_u16(value.0);
        } else {
            let [high, low] = value.0.to_be_bytes();
            self.write_raw(&[2, high, low]);
        }
    }

    /// Writes a `wstring`: counted code units with a terminator in GIOP 1.1;
    /// counted octets, big-endian, without terminator or mark from 1.2 on.
    pub fn write_wstr(&mut self, value: &str) {
        if !self.wide_is_possible() {
            return;
        }
        if value.as_bytes().contains(&0) {
            self.fail(CdrErrorKind::BadString);
        }
        let units = value.encode_utf16().count();
        if self.format().minor == 1 {
            self.write_count(units + 1);
            for unit in value.encode_utf16() {
                self.write_u16(unit);
            }
            self.write_u16(0);
        } else {
            // A text that begins like a byte-order mark needs a byte-order mark before it: readers
            // remove the first one.
            let marked = value.starts_with(['\u{feff}', '\u{fffe}']);
            self.write_count((units + usize::from(marked)) * 2);
            if marked {
                self.write_raw(&[0xFE, 0xFF]);
            }
            for unit in value.encode_utf16() {
                self.write_raw(&unit.to_be_bytes());
            }
        }
    }
}

/// ISO 8859-1 text with letters beyond ASCII, which differs from UTF-8. Out
/// of line: it is rare.
#[cold]
fn latin1(octets: &[u8]) -> Option<String> {
    let beyond = octets.iter().filter(|octet| !octet.is_ascii()).count();
    let mut text = String::new();
    text.try_reserve_exact(octets.len() + beyond).ok()?;
    text.extend(octets.iter().copied().map(char::from));
    Some(text)
}

/// Text of UTF-16.
fn from_units(units: &[u16]) -> Result<String, CdrErrorKind> {
    if units.len() <= allocation::UNCHECKED_ALLOCATION {
        return String::from_utf16(units).map_err(|_| CdrErrorKind::CannotConvert);
    }
    from_many_units(units)
}

#[cold]
fn from_many_units(units: &[u16]) -> Result<String, CdrErrorKind> {
    let chars = || char::decode_utf16(units.iter().copied());
    let octets = chars().map(|c| c.map_or(0, char::len_utf8)).sum();
    let mut text = String::new();
    let reserved = text.try_reserve_exact(octets);
    reserved.map_err(|_| CdrErrorKind::NoMemory)?;
    for c in chars() {
        text.push(c.map_err(|_| CdrErrorKind::CannotConvert)?);
    }
    Ok(text)
}

impl<'a> CdrReader<'a> {
    /// Octets of a string without the terminator. A count of 0, as sent by old ORBs, is the empty
    /// string.
    #[inline]
    fn read_text(&mut self) -> Result<&'a [u8], CdrError> {
        let octets = self.read_octets()?;
        match octets.split_last() {
            None => Ok(&[]),
            Some((0, text)) => Ok(text),
            Some(_) => Err(self.error(CdrErrorKind::BadString)),
        }
    }

    /// Reads a string in the negotiated code set, borrowed if the octets are already UTF-8.
    ///
    /// # Errors
    /// [`CdrErrorKind::BadString`], [`CdrErrorKind::CannotConvert`],
    /// [`CdrErrorKind::CountTooLarge`], [`CdrErrorKind::Truncated`],
    /// [`CdrErrorKind::NoMemory`].
    #[inline]
    pub fn read_str(&mut self) -> Result<Cow<'a, str>, CdrError> {
        let octets = self.read_text()?;
        match scan(octets) {
            Scanned {
                has_nul: false,
                ascii: Some(text),
            } => Ok(Cow::Borrowed(text)),
            scanned => self.beyond_ascii(octets, scanned),
        }
    }

    /// As [`CdrReader::read_str`], copied.
    #[inline]
    pub(crate) fn read_string(&mut self) -> Result<String, CdrError> {
        let octets = self.read_text()?;
        match scan(octets) {
            Scanned {
                has_nul: false,
                ascii: Some(text),
            } if text.len() <= allocation::UNCHECKED_ALLOCATION => Ok(text.to_owned()),
            scanned => {
                let text = self.beyond_ascii(octets, scanned)?;
                allocation::owned(text).ok_or_else(|| self.no_memory())
            }
        }
    }

    /// The text of octets that are not all ASCII, or are many.
    fn beyond_ascii(
        &self,
        octets: &'a [u8],
        scanned: Scanned<'a>,
    ) -> Result<Cow<'a, str>, CdrError> {
        if scanned.has_nul {
            return Err(self.error(CdrErrorKind::BadString));
        }
        if let Some(text) = scanned.ascii {
            return Ok(Cow::Borrowed(text));
        }
        if self.format().char_set == CharSet::Latin1 {
            return match latin1(octets) {
                Some(text) => Ok(Cow::Owned(text)),
                None => Err(self.no_memory()),
            };
        }
        match core::str::from_utf8(octets) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(_) => Err(self.error(CdrErrorKind::CannotConvert)),
        }
    }

    #[cold]
    pub(crate) fn no_memory(&self) -> CdrError {
        self.error(CdrErrorKind::NoMemory)
    }

    /// Reads a string that is never converted: a repository id, an operation
    /// or member name, a host name.
    ///
    /// # Errors
    /// As [`CdrReader::read_str`].
    pub fn read_name(&mut self) -> Result<&'a str, CdrError> {
        let octets = self.read_text()?;
        core::str::from_utf8(octets).map_err(|_| self.error(CdrErrorKind::BadString))
    }

    /// As [`CdrReader::read_name`], copied.
    ///
    /// # Errors
    /// As [`CdrReader::read_name`]; [`CdrErrorKind::NoMemory`].
    pub fn read_owned_name(&mut self) -> Result<String, CdrError> {
        let name = self.read_name()?;
        allocation::copied(name).ok_or_else(|| self.error(CdrErrorKind::NoMemory))
    }

    fn require_wide(&self) -> Result<(), CdrError> {
        if self.format().minor == 0 {
            return Err(self.error(CdrErrorKind::WideInGiop10));
        }
        if self.format().wide_set.is_none() {
            return Err(self.error(CdrErrorKind::WideNotNegotiated));
        }
        Ok(())
    }

    /// Reads a `wchar`, also with a byte-order mark (sent by other ORBs).
    ///
    /// # Errors
    /// [`CdrErrorKind::WideInGiop10`], [`CdrErrorKind::WideNotNegotiated`],
    /// [`CdrErrorKind::CannotConvert`], [`CdrErrorKind::Truncated`].
    pub fn read_wchar(&mut self) -> Result<WChar, CdrError> {
        self.require_wide()?;
        if self.format().minor == 1 {
            return self.read_u16().map(WChar);
        }
        let count = usize::from(self.read_u8()?);
        let octets: &[u8] = self.take(count)?;
        match *octets {
            [high, low] | [0xFE, 0xFF, high, low] => Ok(WChar(u16::from_be_bytes([high, low]))),
            [0xFF, 0xFE, low, high] => Ok(WChar(u16::from_be_bytes([high, low]))),
            _ => Err(self.error(CdrErrorKind::CannotConvert)),
        }
    }

    /// Reads a `wstring`; big-endian if there is no byte-order mark.
    ///
    /// # Errors
    /// As [`CdrReader::read_wchar`]; [`CdrErrorKind::BadString`] for a missing
    /// terminator in GIOP 1.1, [`CdrErrorKind::CannotConvert`] for unpaired
    /// surrogates, [`CdrErrorKind::NoMemory`].
    pub fn read_wstring(&mut self) -> Result<String, CdrError> {
        self.require_wide()?;
        let converted = if self.format().minor == 1 {
            let count = self.read_count(2)?;
            let mut units = Vec::new();
            if !allocation::reserve(&mut units, count) {
                return Err(self.error(CdrErrorKind::NoMemory));
            }
            for _ in 0..count {
                units.push(self.read_u16()?);
            }
            if units.pop().is_some_and(|last| last != 0) {
                return Err(self.error(CdrErrorKind::BadString));
            }
            from_units(&units)
        } else {
            let octets: &[u8] = self.read_octets()?;
            if !octets.len().is_multiple_of(2) {
                return Err(self.error(CdrErrorKind::BadString));
            }
            let (octets, from_octets): (_, fn([u8; 2]) -> u16) = match octets {
                [0xFE, 0xFF, rest @ ..] => (rest, u16::from_be_bytes),
                [0xFF, 0xFE, rest @ ..] => (rest, u16::from_le_bytes),
                _ => (octets, u16::from_be_bytes),
            };
            let mut units = Vec::new();
            if !allocation::reserve(&mut units, octets.len() / 2) {
                return Err(self.error(CdrErrorKind::NoMemory));
            }
            for pair in octets.chunks_exact(2) {
                units.push(from_octets([pair[0], pair[1]]));
            }
            from_units(&units)
        };
        match converted {
            Ok(text) if !text.as_bytes().contains(&0) => Ok(text),
            Ok(_) => Err(self.error(CdrErrorKind::BadString)),
            Err(kind) => Err(self.error(kind)),
        }
    }
}
