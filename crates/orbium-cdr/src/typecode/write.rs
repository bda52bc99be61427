// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes to bytes.

use super::declare::NO_DEFAULT;
use super::kind::TCKind;
use super::known::Known;
use super::{INDIRECTION, MemberRef, TypeCode, TypeRef};
use crate::{CdrErrorKind, CdrWriter, Encode, MAX_NESTING, WChar};

impl Encode for TypeCode {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        self.as_ref().write(writer);
    }
}

impl TypeRef<'_> {
    /// Writes the type in CDR.
    #[inline]
    pub fn write(self, writer: &mut CdrWriter<'_>) {
        emit(self, writer);
    }
}

fn emit(code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
    Emitter::default().write(code, writer);
}

/// One top-level TypeCode being written.
#[derive(Default)]
struct Emitter {
    /// Offsets of the kinds of types that an indirection can name, from the start of the
    /// buffer: of all unfinished types, and of the finished ones among received types.
    ///
    /// A peer can describe a type of 2¹⁰⁰ parts in few octets by indirections, so types received
    /// with indirections are written with them. Types of this program use indirections for
    /// recursion only, which every ORB understands.
    places: Known,
    depth: u16,
}

impl Emitter {
    fn write(&mut self, code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
        let kind = code.kind();
        if kind.is_simple() {
            return writer.write_u32(kind.value());
        }
        match kind {
            TCKind::String | TCKind::WString => {
                writer.write_u32(kind.value());
                writer.write_u32(code.length());
            }
            TCKind::Fixed => {
                writer.write_u32(kind.value());
                writer.write_u16(code.digits());
                writer.write_u16(code.scale() as u16);
            }
            _ => self.write_complex(code, writer),
        }
    }

    fn write_complex(&mut self, code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
        writer.align(4);
        let at = writer.len();
        if let Some(place) = self.places.get(code.identity()) {
            writer.write_u32(INDIRECTION);
            // Relative to the offset itself, which follows.
            let back = (at + 4 - place) as i64;
            match i32::try_from(-back) {
                Ok(offset) => writer.write_u32(offset as u32),
                Err(_) => writer.fail(CdrErrorKind::BadTypeCode),
            }
            return;
        }
        if self.depth >= MAX_NESTING {
            return writer.fail(CdrErrorKind::TooDeep);
        }
        let noted = code.is_received() || code.kind().may_recur();
        if noted {
            self.places.insert(code.identity(), at);
        }
        writer.write_u32(code.kind().value());
        self.depth += 1;
        writer.encapsulation(|writer| self.parameters(code, writer));
        self.depth -= 1;
        if noted && !code.is_received() {
            self.places.remove(code.identity());
        }
    }

    fn parameters(&mut self, code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
        if code.kind().has_id() {
            writer.write_name(code.id());
            writer.write_name(code.name());
        }
        match code.kind() {
            TCKind::Sequence | TCKind::Array => {
                self.content(code, writer);
                writer.write_u32(code.length());
            }
            TCKind::Alias | TCKind::ValueBox => self.content(code, writer),
            TCKind::Struct | TCKind::Except => {
                writer.write_count(code.member_count());
                for member in code.members() {
                    self.member(member, writer);
                }
            }
            TCKind::Enum => {
                writer.write_count(code.member_count());
                for member in code.members() {
                    writer.write_name(member.name());
                }
            }
            TCKind::Union => self.union(code, writer),
            TCKind::Value | TCKind::Event => self.value(code, writer),
            _ => {}
        }
    }

    fn content(&mut self, code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
        match code.content() {
            Some(content) => self.write(content, writer),
            // A recursive reference to a type that was never completed.
            None => writer.fail(CdrErrorKind::IncompleteTypeCode),
        }
    }

    fn member(&mut self, member: MemberRef<'_>, writer: &mut CdrWriter<'_>) {
        writer.write_name(member.name());
        match member.type_code() {
            Some(code) => self.write(code, writer),
            None => writer.fail(CdrErrorKind::BadTypeCode),
        }
    }

    fn union(&mut self, code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
        let Some(discriminator) = code.discriminator_type() else {
            return writer.fail(CdrErrorKind::BadTypeCode);
        };
        let label_kind = discriminator.unaliased().kind();
        self.write(discriminator, writer);
        writer.write_u32(
            code.default_index()
                .map_or(NO_DEFAULT, |index| index as u32),
        );
        writer.write_count(code.member_count());
        for member in code.members() {
            write_label(label_kind, member.raw_label(), writer);
            self.member(member, writer);
        }
    }

    fn value(&mut self, code: TypeRef<'_>, writer: &mut CdrWriter<'_>) {
        writer.write_u16(code.value_modifier() as u16);
        match code.concrete_base_type() {
            Some(base) => self.write(base, writer),
            None => writer.write_u32(TCKind::Null.value()),
        }
        writer.write_count(code.member_count());
        for member in code.members() {
            self.member(member, writer);
            writer.write_u16(member.visibility() as u16);
        }
    }
}

/// Writes a label as a value of the discriminator type.
fn write_label(kind: TCKind, label: i64, writer: &mut CdrWriter<'_>) {
    match kind {
        TCKind::Boolean | TCKind::Char | TCKind::Octet => writer.write_u8(label as u8),
        TCKind::Short | TCKind::UShort => writer.write_u16(label as u16),
        TCKind::Long | TCKind::ULong | TCKind::Enum => writer.write_u32(label as u32),
        TCKind::LongLong | TCKind::ULongLong => writer.write_u64(label as u64),
        TCKind::WChar => writer.write_wchar(WChar(label as u16)),
        _ => writer.fail(CdrErrorKind::BadTypeCode),
    }
}
