// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs, exceptions, enums and typedefs: a declaration for a macro of the runtime for each.

use orbium_idl_model::{Alias, Definition, Enum, Exception, Member, Struct, Type};

use crate::emit::Emitter;
use crate::types::codec;
use crate::{docs, names};

impl Emitter<'_, '_> {
    pub(crate) fn structure(&mut self, definition: &Definition, structure: &Struct) {
        let own = Type::Named(definition.id);
        let mut derives = String::from("Clone");
        if self.plan.is_copy(&own) {
            derives.push_str(", Copy");
        }
        derives.push_str(", Debug");
        let derives_default = self.plan.derive_default(&structure.members);
        if derives_default && self.plan.has_default(&own) {
            derives.push_str(", Default");
        }
        derives.push_str(", PartialEq");
        let macro_name = if self.plan.is_fixed(&own) {
            "idl_fixed_struct"
        } else {
            "idl_struct"
        };
        let recursive = if self.plan.is_recursive(definition.id) {
            ", recursive"
        } else {
            ""
        };
        self.begin(definition, macro_name, "struct");
        self.text.line(format!("#[derive({derives})]"));
        self.members(definition, &structure.members, recursive);
        self.text.close("}");
        if !derives_default && self.plan.has_default(&own) {
            self.default_of(&self.name(definition), &structure.members);
        }
        self.struct_view(definition, structure);
    }

    /// `Default` for a struct with arrays for which Rust has none.
    fn default_of(&mut self, name: &str, members: &[Member]) {
        self.text.blank();
        self.text.open(format!("impl $Default for {name} {{"));
        self.text.open("fn default() -> Self {");
        self.initial_members("Self {", None, members);
        self.text.close("}");
        self.text.close("}");
    }

    /// A struct of initial values: that of the base, then those of the members.
    pub(crate) fn initial_members(&mut self, open: &str, base: Option<&str>, members: &[Member]) {
        self.text.open(open);
        if let Some(base) = base {
            self.text.line(format!("{base}: $Default::default(),"));
        }
        for (member, field) in members.iter().zip(names::fields(members)) {
            let initial = self.plan.initial(&member.ty);
            self.text.line(format!("{field}: {initial},"));
        }
        self.text.close("}");
    }

    pub(crate) fn exception(&mut self, definition: &Definition, exception: &Exception) {
        self.begin(definition, "idl_exception", "exception");
        self.text.line(
            if self.plan.have_default(&exception.members)
                && self.plan.derive_default(&exception.members)
            {
                "#[derive(Clone, Debug, Default, PartialEq)]"
            } else {
                "#[derive(Clone, Debug, PartialEq)]"
            },
        );
        let shown = if exception.members.is_empty() {
            format!(", shown {}", quoted(&definition.path.join("::")))
        } else {
            String::new()
        };
        self.members(definition, &exception.members, &shown);
        self.text.close("}");
    }

    /// Opens a macro and documents its declaration.
    pub(crate) fn begin(&mut self, definition: &Definition, macro_name: &str, noun: &str) {
        self.text.blank();
        self.text.open(format!("orb::{macro_name}! {{"));
        self.doc(&docs::of(definition, noun));
    }

    /// `Name("name"): NAME_TYPE = "IDL:…"`: the head of a type's declaration.
    pub(crate) fn declared(&self, definition: &Definition) -> String {
        let name = self.named(&self.name(definition), &definition.name);
        let described = self.plan.type_code(definition.id);
        format!(
            "{name}: {described} = {}",
            quoted(&definition.repository_id)
        )
    }

    /// A Rust name, followed by the IDL name if it differs.
    pub(crate) fn named(&self, rust: &str, idl: &str) -> String {
        if rust == idl {
            rust.to_owned()
        } else {
            format!("{rust}({})", quoted(idl))
        }
    }

    fn members(&mut self, definition: &Definition, members: &[Member], more: &str) {
        let head = format!("pub struct {}{more}", self.declared(definition));
        if members.is_empty() {
            return self.text.line(format!("{head} {{}}"));
        }
        let recursive = self.plan.is_recursive(definition.id);
        self.text.open(format!("{head} {{"));
        for (member, field) in members.iter().zip(names::fields(members)) {
            self.comment(member.doc.as_deref());
            let name = self.named(&field, &member.name);
            let ty = self.member_type(&member.ty, recursive);
            self.text.line(format!("pub {name}: {ty},"));
        }
        self.text.close("}");
    }

    /// The comment of the IDL, if any.
    pub(crate) fn comment(&mut self, doc: Option<&str>) {
        if let Some(doc) = docs::comment(doc) {
            self.doc(&doc);
        }
    }

    /// `String as orb::BoundedString<8> = &CODE_TYPE`: the Rust type of a member, its codec and its
    /// described type, unless they are implied.
    pub(crate) fn member_type(&self, ty: &Type, recursive: bool) -> String {
        let mut all = self.plan.marshalled(ty, &self.module);
        if !self.follows(ty, recursive) {
            all.push_str(&format!(" = {}", self.described_type(ty)));
        }
        all
    }

    pub(crate) fn enumeration(&mut self, definition: &Definition, enumeration: &Enum) {
        let variants = names::variants(enumeration);
        self.begin(definition, "idl_enum", "enum");
        self.text
            .open(format!("pub enum {} {{", self.declared(definition)));
        let mut all = Vec::new();
        let documented = enumeration.enumerators.iter().any(|it| it.doc.is_some());
        for (index, (enumerator, variant)) in
            enumeration.enumerators.iter().zip(&variants).enumerate()
        {
            let value = codec::number(index as u64);
            let one = format!("{variant}({}) = {value}", quoted(&enumerator.name));
            if documented {
                self.comment(enumerator.doc.as_deref());
                self.text.line(format!("{one},"));
            }
            all.push(format!("{one},"));
        }
        if !documented {
            self.text.listed(&all);
        }
        self.text.close("}");
        self.text.close("}");
    }

    pub(crate) fn alias(&mut self, definition: &Definition, alias: &Alias) {
        let rust = self.rust(&alias.ty);
        let original = self.described_type(&alias.ty);
        self.begin(definition, "idl_typedef", "typedef");
        self.text.filled(&[
            format!("pub type {},", self.declared(definition)),
            format!("{rust},"),
            format!("{original};"),
        ]);
        self.text.close("}");
    }
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
            // The dollar sign is a mark of the writer of lines.
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
