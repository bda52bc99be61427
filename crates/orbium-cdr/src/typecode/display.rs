// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes for people.

use core::fmt;

use super::kind::TCKind;
use super::{MemberRef, TypeCode, TypeRef};

/// Depth to which types without names are expanded.
const MAX_DEPTH: u32 = 16;

/// Maximum characters of the name of a type where another one refers to it: a peer may have many
/// members refer to one type.
const MAX_SHOWN_NAME: usize = 128;

impl fmt::Display for TypeCode {
    /// IDL-like text: the type in full, the named types in it by name.
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_ref(), f)
    }
}

impl fmt::Debug for TypeCode {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeCode({self})")
    }
}

impl fmt::Debug for TypeRef<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeCode({self})")
    }
}

impl fmt::Debug for MemberRef<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({} {:?})", self.name(), self.type_code())
    }
}

impl fmt::Display for TypeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            TCKind::Alias => {
                f.write_str("typedef ")?;
                if let Some(original) = self.content() {
                    write_name(original, f, MAX_DEPTH)?;
                }
                write!(f, " {}", shown_name(*self))
            }
            TCKind::ValueBox => {
                write!(f, "valuetype {} ", shown_name(*self))?;
                self.content()
                    .map_or(Ok(()), |boxed| write_name(boxed, f, MAX_DEPTH))
            }
            TCKind::Enum => {
                write!(f, "enum {} {{", shown_name(*self))?;
                for (index, member) in self.members().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma} {}", member.name())?;
                }
                f.write_str(" }")
            }
            TCKind::Struct | TCKind::Except => {
                write!(f, "{} {} {{", self.kind().keyword(), shown_name(*self))?;
                self.members()
                    .try_for_each(|member| write_member(member, f))?;
                f.write_str(" }")
            }
            TCKind::Union => write_union(*self, f),
            TCKind::Value | TCKind::Event => write_value(*self, f),
            kind if kind.has_id() => write!(f, "{} {}", kind.keyword(), shown_name(*self)),
            _ => write_name(*self, f, MAX_DEPTH),
        }
    }
}

fn write_union(code: TypeRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "union {} switch (", shown_name(code))?;
    let discriminator = code.content();
    if let Some(discriminator) = discriminator {
        write_name(discriminator, f, MAX_DEPTH)?;
    }
    f.write_str(") {")?;
    let enumerators = discriminator.map(TypeRef::unaliased);
    for member in code.members() {
        match member.label() {
            None => f.write_str(" default:")?,
            Some(label) => {
                f.write_str(" case ")?;
                match enumerators.map(|d| (d.kind(), d)) {
                    Some((TCKind::Enum, d)) if d.member(label as usize).is_some() => {
                        f.write_str(d.member(label as usize).map_or("", MemberRef::name))?;
                    }
                    Some((TCKind::Boolean, _)) => {
                        f.write_str(if label == 0 { "FALSE" } else { "TRUE" })?;
                    }
                    Some((TCKind::Char | TCKind::WChar, _)) => {
                        let c = char::from_u32(label as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                        write!(f, "{c:?}")?;
                    }
                    Some((TCKind::ULongLong, _)) => write!(f, "{}", label as u64)?,
                    _ => write!(f, "{label}")?,
                }
                f.write_str(":")?;
            }
        }
        write_member(member, f)?;
    }
    f.write_str(" }")
}

fn write_value(code: TypeRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(match code.value_modifier() {
        1 => "custom ",
        2 => "abstract ",
        _ => "",
    })?;
    write!(f, "{} {}", code.kind().keyword(), shown_name(code))?;
    if let Some(base) = code.content() {
        let truncatable = if code.value_modifier() == 3 {
            "truncatable "
        } else {
            ""
        };
        write!(f, " : {truncatable}")?;
        write_name(base, f, MAX_DEPTH)?;
    }
    f.write_str(" {")?;
    for member in code.members() {
        f.write_str(if member.is_public() {
            " public"
        } else {
            " private"
        })?;
        write_member(member, f)?;
    }
    f.write_str(" }")
}

/// A member as it is declared: array dimensions follow the name.
fn write_member(member: MemberRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(" ")?;
    let mut element = member.type_code();
    let mut dimensions = String::new();
    while let Some(array) = element.filter(|code| code.kind() == TCKind::Array)
        && dimensions.len() < 256
    {
        dimensions.push_str(&format!("[{}]", array.length()));
        element = array.content();
    }
    if let Some(element) = element {
        write_name(element, f, MAX_DEPTH)?;
    }
    write!(f, " {}{dimensions};", member.name())
}

/// A type as it is referred to.
#[inline]
pub(crate) fn write_type_name(code: TypeRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_name(code, f, MAX_DEPTH)
}

fn write_name(code: TypeRef<'_>, f: &mut fmt::Formatter<'_>, depth: u32) -> fmt::Result {
    if depth == 0 {
        return f.write_str("…");
    }
    let kind = code.kind();
    match kind {
        TCKind::String | TCKind::WString if code.length() > 0 => {
            write!(f, "{}<{}>", kind.keyword(), code.length())
        }
        TCKind::Fixed => write!(f, "fixed<{},{}>", code.digits(), code.scale()),
        TCKind::Sequence => {
            f.write_str("sequence<")?;
            if let Some(element) = code.content() {
                write_name(element, f, depth - 1)?;
            }
            match code.length() {
                0 => f.write_str(">"),
                bound => write!(f, ",{bound}>"),
            }
        }
        TCKind::Array => {
            if let Some(element) = code.content() {
                write_name(element, f, depth - 1)?;
            }
            write!(f, "[{}]", code.length())
        }
        _ if kind.has_id() => write_shortened(shown_name(code), f),
        _ => f.write_str(kind.keyword()),
    }
}

/// A name, cut off if it is long.
fn write_shortened(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match name.char_indices().nth(MAX_SHOWN_NAME) {
        Some((end, _)) => write!(f, "{}…", &name[..end]),
        None => f.write_str(name),
    }
}

/// The name; if it was omitted, the last part of the repository id.
fn shown_name<'t>(code: TypeRef<'t>) -> &'t str {
    if !code.name().is_empty() {
        return code.name();
    }
    let id = code.id();
    let id = id.strip_prefix("IDL:").unwrap_or(id);
    let id = id.rsplit_once(':').map_or(id, |(scoped, _)| scoped);
    let name = id.rsplit('/').next().unwrap_or(id);
    if name.is_empty() {
        code.kind().keyword()
    } else {
        name
    }
}
