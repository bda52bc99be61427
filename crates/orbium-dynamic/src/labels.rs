// SPDX-License-Identifier: MIT OR Apache-2.0
//! Discriminators of unions as numbers.

use orbium_cdr::{Any, CdrError, CdrWriter, MemberRef, TCKind, TypeRef, WChar};

use crate::json::integer;

/// The least non-negative value that is not a label; `None` if the labels use all.
pub(crate) fn unused_label(code: TypeRef<'_>, discriminator: TypeRef<'_>) -> Option<i64> {
    let used: std::collections::HashSet<i64> =
        code.members().filter_map(MemberRef::label).collect();
    let greatest = match discriminator.kind() {
        TCKind::Boolean => 1,
        TCKind::Char => 0xff,
        TCKind::WChar => 0xffff,
        TCKind::Enum => i64::try_from(discriminator.member_count()).ok()? - 1,
        kind => i64::try_from(integer::range(kind)?.1).unwrap_or(i64::MAX),
    };
    // Of that many values one is unused.
    let tried = i64::try_from(used.len()).unwrap_or(i64::MAX).min(greatest);
    (0..=tried).find(|label| !used.contains(label))
}

/// Writes a discriminator of a type without aliases.
pub(crate) fn write_label(discriminator: TypeRef<'_>, label: i64, writer: &mut CdrWriter<'_>) {
    match discriminator.kind() {
        TCKind::Boolean | TCKind::Char | TCKind::Octet => writer.write_u8(label as u8),
        TCKind::WChar => writer.write_wchar(WChar(label as u16)),
        TCKind::Short | TCKind::UShort => writer.write_u16(label as u16),
        TCKind::LongLong | TCKind::ULongLong => writer.write_u64(label as u64),
        _ => writer.write_u32(label as u32),
    }
}

/// The label of a discriminator, an `unsigned long long` as the number with the same bits.
pub(crate) fn label_of(discriminator: &Any) -> Result<i64, CdrError> {
    let kind = discriminator.type_code().as_ref().unaliased().kind();
    discriminator.read_with(|reader| {
        Ok(match kind {
            TCKind::Boolean | TCKind::Char | TCKind::Octet => i64::from(reader.read_u8()?),
            TCKind::WChar => i64::from(reader.read_wchar()?.0),
            TCKind::Short => i64::from(reader.read_u16()?.cast_signed()),
            TCKind::UShort => i64::from(reader.read_u16()?),
            TCKind::Long => i64::from(reader.read_u32()?.cast_signed()),
            TCKind::LongLong | TCKind::ULongLong => reader.read_u64()?.cast_signed(),
            _ => i64::from(reader.read_u32()?),
        })
    })
}
