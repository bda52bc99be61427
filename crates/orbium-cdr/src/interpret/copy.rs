// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values from one format to another.

use super::blocks::Block;
use super::graphs::copy_graph;
use super::visitor::{Group, Leaf, Run, Visitor};
use super::walk;
use crate::mapping::decimal::write_packed;
use crate::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, CharSet, Format, Owner, TCKind, TypeRef,
};

/// The format in which an any stores its value. Only this interpreter and typed decoding read it,
/// so it supports all of Unicode in strings, and every octet as a `char`.
pub(crate) const CANONICAL: Format = Format {
    char_set: CharSet::Utf8AndLatin1Char,
    ..Format::native()
};

/// Copies one value of type `code` from `reader` to `writer`, each with any byte order, alignment,
/// code sets and GIOP version.
///
/// # Errors
/// As [`walk_value`](super::walk_value), and for data that the format of the writer cannot
/// represent; the writer then contains an unspecified part of the value.
pub fn copy_value(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    copy(code, reader, writer, false)
}

/// Copies a value between two encodings in the form of an [`Any`](crate::Any)'s octets.
///
/// # Errors
/// As [`copy_value`].
#[doc(hidden)]
pub fn copy_kept(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
) -> Result<(), CdrError> {
    copy(code, reader, writer, true)
}

/// Reads a value into the format in which an any stores it.
pub(crate) fn canonical_copy(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
) -> Result<Vec<u8>, CdrError> {
    let mut writer = CdrWriter::new(CANONICAL);
    copy_value(code, reader, &mut writer)?;
    writer.finish()
}

/// Writes a value from its canonical form.
#[inline]
pub(crate) fn restore(
    code: TypeRef<'_>,
    octets: &mut [u8],
    owner: Option<&Owner>,
    writer: &mut CdrWriter<'_>,
) {
    let mut reader = CdrReader::new(octets, Format::native()).with_owner(owner);
    if let Err(error) = copy(code, &mut reader, writer, false) {
        writer.fail(error.kind);
    }
}

/// Writes a value from its canonical form as a part of another in that form.
pub(crate) fn keep(code: TypeRef<'_>, octets: &mut [u8], writer: &mut CdrWriter<'_>) {
    let mut reader = CdrReader::new(octets, Format::native());
    if let Err(error) = copy(code, &mut reader, writer, true) {
        writer.fail(error.kind);
    }
}

fn copy(
    code: TypeRef<'_>,
    reader: &mut CdrReader<'_>,
    writer: &mut CdrWriter<'_>,
    canonical: bool,
) -> Result<(), CdrError> {
    let mut copier = Copier { writer, canonical };
    walk(code, reader, &mut copier)?;
    match copier.writer.error() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

struct Copier<'w, 'a> {
    writer: &'w mut CdrWriter<'a>,
    /// Whether any octet is valid as a `char`.
    canonical: bool,
}

impl Copier<'_, '_> {
    /// Reserves room for that many octets, and for counts and gaps around them.
    fn reserve(&mut self, octets: usize) -> Result<(), CdrError> {
        if self.writer.reserve(octets) {
            Ok(())
        } else {
            Err(CdrError::new(
                CdrErrorKind::NoMemory,
                self.writer.position(),
            ))
        }
    }

    #[inline]
    fn check_chars(&mut self, is_ascii: bool) {
        let utf8 = self.writer.format().char_set == CharSet::Utf8;
        if utf8 && !self.canonical && !is_ascii {
            self.writer.fail(CdrErrorKind::CannotConvert);
        }
    }

    fn string(&mut self, text: &str) {
        if self.writer.format().char_set.is_utf8() || text.is_ascii() {
            return self.writer.write_name(text);
        }
        self.writer.write_count(text.chars().count() + 1);
        for c in text.chars() {
            match u8::try_from(c) {
                Ok(octet) => self.writer.write_u8(octet),
                Err(_) => return self.writer.fail(CdrErrorKind::CannotConvert),
            }
        }
        self.writer.write_u8(0);
    }
}

impl Visitor for Copier<'_, '_> {
    type Error = CdrError;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), CdrError> {
        self.reserve(match &leaf {
            Leaf::Nothing => return Ok(()),
            // As UTF-8 or ISO 8859-1, and as UTF-16.
            Leaf::String(text) => text.len(),
            Leaf::WString(text) => text.len().saturating_mul(2),
            Leaf::Principal(octets) => octets.len(),
            _ => 0,
        })?;
        let writer = &mut *self.writer;
        match leaf {
            Leaf::Nothing => {}
            Leaf::Boolean(value) => writer.write_bool(value),
            Leaf::Octet(value) => writer.write_u8(value),
            Leaf::Char(value) => {
                self.check_chars(value.0.is_ascii());
                self.writer.write_u8(value.0);
            }
            Leaf::WChar(value) => writer.write_wchar(value),
            Leaf::Short(value) => writer.write_u16(value as u16),
            Leaf::UShort(value) => writer.write_u16(value),
            Leaf::Long(value) => writer.write_u32(value as u32),
            Leaf::ULong(value) | Leaf::Enum { ordinal: value, .. } => writer.write_u32(value),
            Leaf::LongLong(value) => writer.write_u64(value as u64),
            Leaf::ULongLong(value) => writer.write_u64(value),
            Leaf::Float(value) => writer.write_u32(value.to_bits()),
            Leaf::Double(value) => writer.write_u64(value.to_bits()),
            Leaf::LongDouble(value) => writer.write_fixed(&value),
            Leaf::Fixed {
                unscaled, digits, ..
            } => write_packed(writer, unscaled, digits),
            Leaf::String(text) => self.string(text),
            Leaf::WString(text) => writer.write_wstr(text),
            Leaf::TypeCode(code) => code.as_ref().write(writer),
            Leaf::Principal(octets) => writer.write_octets(octets),
            Leaf::Reference(reference) => {
                writer.write_name(reference.type_id);
                writer.write_count(reference.profiles.len());
                for profile in reference.profiles {
                    if !writer.reserve(profile.data.len()) {
                        writer.fail(CdrErrorKind::NoMemory);
                        break;
                    }
                    writer.write_u32(profile.tag);
                    writer.write_octets(profile.data);
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, group: Group<'_>) -> Result<(), CdrError> {
        match group {
            Group::Struct(_) | Group::Array(..) => {}
            Group::Exception(code) => self.writer.write_name(code.id()),
            Group::Union(_, discriminator) => self.leaf(discriminator)?,
            Group::Sequence(_, count) => self.writer.write_u32(count),
            Group::Any(code) => code.write(self.writer),
        }
        Ok(())
    }

    #[inline]
    fn member(&mut self, _: &str) -> Result<(), CdrError> {
        Ok(())
    }

    #[inline]
    fn end(&mut self, _: Group<'_>) -> Result<(), CdrError> {
        Ok(())
    }

    fn run(&mut self, run: Run<'_>) -> Result<(), CdrError> {
        if run.kind() == TCKind::Char {
            self.check_chars(run.octets().is_ascii());
        }
        if self.writer.order().is_foreign() && run.size > 1 {
            for leaf in run.leaves() {
                self.leaf(leaf)?;
            }
            return Ok(());
        }
        self.reserve(run.octets().len())?;
        // As the size is a multiple of the alignment, no gaps follow.
        self.writer.align(run.size.min(8));
        self.writer.write_raw(run.octets());
        Ok(())
    }

    fn takes_blocks(&self) -> bool {
        !self.writer.order().is_foreign()
    }

    fn block(&mut self, block: Block<'_>) -> Result<(), CdrError> {
        self.check_chars(block.is_ascii());
        self.reserve(block.octets().len())?;
        self.writer.write_raw(block.octets());
        Ok(())
    }

    fn value(&mut self, code: TypeRef<'_>, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        copy_graph(code, reader, self.writer)
    }
}
