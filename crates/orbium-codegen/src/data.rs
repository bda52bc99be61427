// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs, exceptions, enums and typedefs.

use orbium_idl::model::{Alias, DefId, Definition, Enum, Exception, Member, Struct, Type};

use crate::emit::Emitter;
use crate::text::Argument;
use crate::{codec, docs, names};

impl Emitter<'_, '_> {
    pub(crate) fn structure(&mut self, definition: &Definition, structure: &Struct) {
        let name = self.name(definition);
        let own = Type::Named(definition.id);
        let fields = names::fields(&structure.members);
        let fixed = self.plan.is_fixed(&own);
        let mut derives = String::from("Clone");
        if self.plan.is_copy(&own) {
            derives.push_str(", Copy");
        }
        derives.push_str(", Debug");
        if self.plan.has_default(&own) {
            derives.push_str(", Default");
        }
        derives.push_str(", PartialEq");
        self.text.blank();
        self.doc(&docs::of(definition, "struct"));
        self.text.line(format!("#[derive({derives})]"));
        if fixed {
            self.text.line("#[repr(C)]");
        }
        self.fields(&name, &structure.members, &fields);
        if fixed {
            self.text.blank();
            let mut wanted = Vec::new();
            for (member, field) in structure.members.iter().zip(&fields) {
                wanted.push(format!("{field}: {}", self.rust(&member.ty)));
            }
            self.text
                .literal(&format!("orb::fixed_struct!({name}"), &wanted, ");");
        } else {
            self.member_codec(&name, definition.id, &structure.members, &fields);
        }
        self.struct_type(definition, "structure", &structure.members);
    }

    pub(crate) fn exception(&mut self, definition: &Definition, exception: &Exception) {
        let name = self.name(definition);
        let fields = names::fields(&exception.members);
        let default = self.plan.have_default(&exception.members);
        let derives = if default {
            "Clone, Debug, Default, PartialEq"
        } else {
            "Clone, Debug, PartialEq"
        };
        self.text.blank();
        self.doc(&docs::of(definition, "exception"));
        self.text.line(format!("#[derive({derives})]"));
        self.fields(&name, &exception.members, &fields);
        self.text.blank();
        let mut parts = vec![name.clone(), quoted(&definition.repository_id)];
        if exception.members.is_empty() {
            parts.push(quoted(&definition.path.join("::")));
        }
        self.text
            .call("orb::exception!", &Argument::plain(&parts), ";");
        self.member_codec(&name, definition.id, &exception.members, &fields);
        self.struct_type(definition, "exception", &exception.members);
    }

    fn fields(&mut self, name: &str, members: &[Member], fields: &[String]) {
        if members.is_empty() {
            return self.text.line(format!("pub struct {name} {{}}"));
        }
        let mut bools = 0;
        for member in members {
            bools += usize::from(*self.plan.model.resolve_alias(&member.ty) == Type::Boolean);
        }
        if bools > 3 {
            self.allows.insert("clippy::struct_excessive_bools");
        }
        if share_an_end(fields) {
            self.allows.insert("clippy::struct_field_names");
        }
        self.text.open(format!("pub struct {name} {{"));
        for (i, field) in fields.iter().enumerate() {
            let member = &members[i];
            self.doc(&docs::member(member));
            let ty = self.rust(&member.ty);
            self.text.line(format!("pub {field}: {ty},"));
        }
        self.text.close("}");
    }

    /// Encode and Decode, member by member.
    fn member_codec(&mut self, name: &str, id: DefId, members: &[Member], fields: &[String]) {
        let recursive = self.plan.is_recursive(id);
        self.text.blank();
        self.text.open(format!("impl orb::Encode for {name} {{"));
        if members.is_empty() {
            self.text
                .line("fn encode<'a>(&'a self, _: &mut orb::CdrWriter<'a>) {}");
        } else {
            self.text
                .open("fn encode<'a>(&'a self, writer: &mut orb::CdrWriter<'a>) {");
            for (member, field) in members.iter().zip(fields) {
                let value = format!("&self.{field}");
                let call = self
                    .functions
                    .encode(self.plan, &member.ty, &value, "writer");
                self.text.statement(&format!("{call};"));
            }
            self.text.close("}");
        }
        self.text.close("}");
        self.text.blank();
        self.text.open(format!("impl orb::Decode for {name} {{"));
        let least = codec::number(self.plan.min_members(members));
        self.text.line(format!("const MIN_SIZE: usize = {least};"));
        self.text.blank();
        let reader = if members.is_empty() { "_" } else { "reader" };
        let parameters = [format!("{reader}: &mut orb::CdrReader<'_>")];
        self.text.signature(
            "fn decode",
            &parameters,
            " -> $Result<Self, orb::CdrError> {",
        );
        if members.is_empty() {
            self.text.line("$Ok(Self {})");
        } else {
            if recursive {
                self.text.open("reader.nested(|reader| {");
            }
            self.text.open("$Ok(Self {");
            for (member, field) in members.iter().zip(fields) {
                let call = self.functions.decode(self.plan, &member.ty, "reader");
                self.text.line(format!("{field}: {call}?,"));
            }
            self.text.close("})");
            if recursive {
                self.text.close("})");
            }
        }
        self.text.close("}");
        if self.plan.owns_memory(&Type::Named(id)) && !recursive && !members.is_empty() {
            self.decode_into(members, fields);
        }
        self.text.close("}");
    }

    /// Reads into a value that is there, reusing the memory of its members.
    fn decode_into(&mut self, members: &[Member], fields: &[String]) {
        self.text.blank();
        let parameters = [
            "&mut self".to_owned(),
            "reader: &mut orb::CdrReader<'_>".to_owned(),
        ];
        self.text.signature(
            "fn decode_into",
            &parameters,
            " -> $Result<(), orb::CdrError> {",
        );
        for (member, field) in members.iter().zip(fields) {
            if self.plan.is_plain(&member.ty) {
                self.text.statement(&format!(
                    "orb::Decode::decode_into(&mut self.{field}, reader)?;"
                ));
            } else {
                let call = self.functions.decode(self.plan, &member.ty, "reader");
                self.text
                    .assign(&format!("self.{field}"), &format!("{call}?"));
            }
        }
        self.text.line("$Ok(())");
        self.text.close("}");
    }

    pub(crate) fn enumeration(&mut self, definition: &Definition, enumeration: &Enum) {
        let name = self.name(definition);
        let variants = names::variants(enumeration);
        self.text.blank();
        self.doc(&docs::of(definition, "enum"));
        if share_an_end(&variants)
            || variants
                .iter()
                .any(|v| v.starts_with(&name) || v.ends_with(&name))
        {
            self.allows.insert("clippy::enum_variant_names");
        }
        self.text
            .line("#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]");
        self.text.line("#[repr(u32)]");
        self.text.open(format!("pub enum {name} {{"));
        for (index, (enumerator, variant)) in
            enumeration.enumerators.iter().zip(&variants).enumerate()
        {
            self.doc(&docs::enumerator(
                &enumerator.name,
                enumerator.doc.as_deref(),
            ));
            if index == 0 {
                self.text.line("#[default]");
            }
            self.text
                .line(format!("{variant} = {},", codec::number(index as u64)));
        }
        self.text.close("}");
        let mut numbered = Vec::new();
        for (index, variant) in variants.iter().enumerate() {
            numbered.push(format!("{variant}: {}", codec::number(index as u64)));
        }
        self.text.blank();
        self.text
            .literal(&format!("orb::enumeration!({name}"), &numbered, ");");
        self.enum_type(definition, enumeration);
    }

    pub(crate) fn alias(&mut self, definition: &Definition, alias: &Alias) {
        let name = self.name(definition);
        let ty = self.rust(&alias.ty);
        self.text.blank();
        self.doc(&docs::of(definition, "typedef"));
        self.text.assign(&format!("pub type {name}"), &ty);
        self.alias_type(definition, alias);
    }
}

/// Whether three or more names begin or end alike, which a lint dislikes.
fn share_an_end(names: &[String]) -> bool {
    let (mut starts, mut ends) = (true, true);
    let mut before: Option<String> = None;
    for name in names {
        let name = names::snake(name);
        if let Some(before) = &before {
            starts &= name.split('_').next() == before.split('_').next();
            ends &= name.rsplit('_').next() == before.rsplit('_').next();
        }
        before = Some(name);
    }
    names.len() >= 3 && (starts || ends)
}

/// A string literal.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // A dollar sign means something to the writer of lines.
            '$' => out.push_str("\\u{24}"),
            letter if letter.is_control() || !letter.is_ascii() && !letter.is_alphanumeric() => {
                out.push_str(&letter.escape_unicode().to_string());
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
