// SPDX-License-Identifier: MIT OR Apache-2.0
//! TypeCodes as JSON: a string for types without a name in IDL, or the id of a known type;
//! otherwise an object.

mod build;
mod spelling;
mod words;

use orbium_cdr::{MemberRef, TCKind, TypeCode, TypeRef};

use super::options::{MAX_DEPTH, TypesById, quoted};
use super::parser::{Parsed, Parser};

/// Maximum parts of a type that are written: a peer can describe a type of 2¹⁰⁰ parts in few
/// octets.
const MAX_PARTS: usize = 1 << 16;

/// A type as JSON; `None` for one that is too large, or would take more than `most` octets.
pub(super) fn printed(
    code: TypeRef<'_>,
    known: Option<&dyn TypesById>,
    most: usize,
) -> Option<String> {
    let mut printer = TypePrinter {
        out: String::new(),
        most,
        known,
        inside: Vec::new(),
        parts: 0,
    };
    printer.code(code)?;
    Some(printer.out)
}

/// Reads a type.
pub(super) fn parse(parser: &mut Parser<'_>, text: &str) -> Parsed<TypeCode> {
    build::code(parser, text)
}

struct TypePrinter<'k> {
    out: String,
    most: usize,
    known: Option<&'k dyn TypesById>,
    /// The ids of the types around.
    inside: Vec<String>,
    parts: usize,
}

impl TypePrinter<'_> {
    fn code(&mut self, code: TypeRef<'_>) -> Option<()> {
        self.parts += 1;
        let is_large = self.parts > MAX_PARTS || self.out.len() > self.most;
        if is_large || self.inside.len() >= MAX_DEPTH {
            return None;
        }
        if let Some(spelling) = spelling::of(code) {
            self.out.push_str(&quoted(&spelling));
            return Some(());
        }
        let id = code.id();
        if self.is_recursive(code) {
            self.out.push_str("{\"$rec\":");
            self.out.push_str(&quoted(id));
            self.out.push('}');
            return Some(());
        }
        let is_known = |known: &dyn TypesById| {
            known
                .type_with_id(id)
                .is_some_and(|known| known.as_ref().equal(code))
        };
        if !id.is_empty() && self.known.is_some_and(is_known) {
            self.out.push_str(&quoted(id));
            return Some(());
        }
        self.inside.push(id.to_owned());
        self.object(code)?;
        self.inside.pop();
        Some(())
    }

    /// Whether the type contains itself.
    fn is_recursive(&self, code: TypeRef<'_>) -> bool {
        let id = code.id();
        let may_be = matches!(
            code.kind(),
            TCKind::Struct | TCKind::Union | TCKind::Except | TCKind::Value | TCKind::Event
        );
        may_be && !id.is_empty() && self.inside.iter().any(|other| other == id)
    }

    fn object(&mut self, code: TypeRef<'_>) -> Option<()> {
        let kind = code.kind();
        self.out.push_str("{\"kind\":");
        self.out.push_str(&quoted(words::word(kind)?));
        if kind.has_id() {
            self.out.push_str(",\"id\":");
            self.out.push_str(&quoted(code.id()));
            self.out.push_str(",\"name\":");
            self.out.push_str(&quoted(code.name()));
        }
        match kind {
            TCKind::Struct | TCKind::Except => self.members(code)?,
            TCKind::Union => {
                self.out.push_str(",\"discriminator\":");
                self.code(code.discriminator_type()?)?;
                self.members(code)?;
            }
            TCKind::Enum => {
                let names: Vec<_> = code.members().map(|member| quoted(member.name())).collect();
                self.out
                    .push_str(&format!(",\"members\":[{}]", names.join(",")));
            }
            TCKind::Alias | TCKind::ValueBox => self.content(code)?,
            TCKind::Value | TCKind::Event => self.value_type(code)?,
            TCKind::Sequence => {
                self.content(code)?;
                self.out.push_str(&format!(",\"bound\":{}", code.length()));
            }
            TCKind::Array => {
                self.content(code)?;
                self.out.push_str(&format!(",\"length\":{}", code.length()));
            }
            _ => {}
        }
        self.out.push('}');
        Some(())
    }

    fn value_type(&mut self, code: TypeRef<'_>) -> Option<()> {
        let modifier = code.value_modifier();
        if let Some((word, _)) = words::MODIFIERS.iter().find(|(_, it)| *it == modifier) {
            self.out.push_str(",\"modifier\":");
            self.out.push_str(&quoted(word));
        }
        let base = code.concrete_base_type();
        if let Some(base) = base.filter(|base| base.kind() != TCKind::Null) {
            self.out.push_str(",\"base\":");
            self.code(base)?;
        }
        self.members(code)
    }

    fn content(&mut self, code: TypeRef<'_>) -> Option<()> {
        self.out.push_str(",\"type\":");
        self.code(code.content_type()?)
    }

    fn members(&mut self, code: TypeRef<'_>) -> Option<()> {
        self.out.push_str(",\"members\":[");
        for (index, member) in code.members().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.member(code, member)?;
        }
        self.out.push(']');
        Some(())
    }

    fn member(&mut self, owner: TypeRef<'_>, member: MemberRef<'_>) -> Option<()> {
        self.out.push_str("{\"name\":");
        self.out.push_str(&quoted(member.name()));
        self.out.push_str(",\"type\":");
        self.code(member.type_code()?)?;
        if matches!(owner.kind(), TCKind::Value | TCKind::Event) && !member.is_public() {
            self.out.push_str(",\"private\":true");
        }
        if owner.kind() == TCKind::Union {
            match member.label() {
                Some(label) => self.out.push_str(&format!(",\"label\":\"{label}\"")),
                None => self.out.push_str(",\"label\":\"default\""),
            }
        }
        self.out.push('}');
        Some(())
    }
}
