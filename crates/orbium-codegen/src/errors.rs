// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error enums: the exceptions of a `raises` clause, and system exceptions.

use std::collections::HashSet;

use orbium_idl::model::{DefId, Type};

use crate::emit::Emitter;
use crate::names;
use crate::plan::ErrorEnum;

impl Emitter<'_, '_> {
    pub(crate) fn error_enum(&mut self, error: &ErrorEnum) {
        let name = &error.name;
        let mut taken = HashSet::from(["System".to_owned()]);
        let variants: Vec<(String, String, DefId)> = error
            .exceptions
            .iter()
            .map(|id| {
                let variant = names::fresh(&self.plan.place_of(*id).name, &mut taken);
                (variant, self.plan.path_to(&self.module, *id), *id)
            })
            .collect();
        let sizes: Vec<u64> = variants
            .iter()
            .map(|(.., id)| self.plan.memory(&Type::Named(*id)))
            .collect();
        if sizes.iter().any(|size| *size > 100) {
            self.allows.insert("clippy::result_large_err");
        }
        self.note_sizes(sizes.into_iter().chain([12]));
        self.text.blank();
        let listed: Vec<String> = variants
            .iter()
            .map(|(_, _, id)| format!("`{}`", self.plan.model[*id].path.join("::")))
            .collect();
        self.text.raw(&format!(
            "/// What operations raise that declare {}.",
            listed.join(", ")
        ));
        self.text.line("#[derive(Clone, Debug, PartialEq)]");
        self.text.open(format!("pub enum {name} {{"));
        for (variant, path, id) in &variants {
            self.text.raw(&format!(
                "/// IDL exception `{}`.",
                self.plan.model[*id].path.join("::")
            ));
            self.text.line(format!("{variant}({path}),"));
        }
        self.text
            .raw("/// Any operation may raise a system exception.");
        self.text.line("System(orb::SystemException),");
        self.text.close("}");
        self.conversions(name, &variants);
        self.error_traits(name, &variants);
        self.raises(name, &variants);
    }

    fn conversions(&mut self, name: &str, variants: &[(String, String, DefId)]) {
        let system = ("System".to_owned(), "orb::SystemException".to_owned());
        let all = variants.iter().map(|(variant, path, _)| (variant, path));
        for (variant, path) in all.chain([(&system.0, &system.1)]) {
            self.text.blank();
            self.text.open(format!("impl $From<{path}> for {name} {{"));
            self.text
                .open(format!("fn from(exception: {path}) -> Self {{"));
            self.text.line(format!("Self::{variant}(exception)"));
            self.text.close("}");
            self.text.close("}");
        }
    }

    fn error_traits(&mut self, name: &str, variants: &[(String, String, DefId)]) {
        self.text.blank();
        self.text
            .open(format!("impl ::core::fmt::Display for {name} {{"));
        let parameters = [
            "&self".to_owned(),
            "f: &mut ::core::fmt::Formatter<'_>".to_owned(),
        ];
        self.text
            .signature("fn fmt", &parameters, " -> ::core::fmt::Result {");
        self.text.open("match self {");
        let names = variants
            .iter()
            .map(|(variant, ..)| variant.as_str())
            .chain(["System"]);
        for variant in names {
            let pattern = format!("Self::{variant}(exception)");
            self.text
                .match_arm(&pattern, "::core::fmt::Display::fmt(exception, f)");
        }
        self.text.close("}");
        self.text.close("}");
        self.text.close("}");
        self.text.blank();
        self.text
            .line(format!("impl ::core::error::Error for {name} {{}}"));
    }

    fn raises(&mut self, name: &str, variants: &[(String, String, DefId)]) {
        self.text.blank();
        self.text.open(format!("impl orb::Raises for {name} {{"));
        let parameters = [
            "id: &str".to_owned(),
            "reader: &mut orb::CdrReader<'_>".to_owned(),
        ];
        let tail = " -> $Option<$Result<Self, orb::CdrError>> {";
        self.text.signature("fn decode_raised", &parameters, tail);
        for (variant, path, _) in variants {
            let known = format!("<{path} as orb::UserException>::REPOSITORY_ID");
            self.text.assign("let known", &known);
            self.text.open("if id == known {");
            self.text.line("let members = orb::Decode::decode(reader);");
            self.text
                .line(format!("return $Some(members.map(Self::{variant}));"));
            self.text.close("}");
        }
        self.text.line("$None");
        self.text.close("}");
        self.text.blank();
        self.text.open("fn raised(&self) -> orb::Raised<'_> {");
        self.text.open("match self {");
        for (variant, path, _) in variants {
            self.text.open(format!("Self::{variant}(exception) => {{"));
            let id = format!("<{path} as orb::UserException>::REPOSITORY_ID");
            self.text.assign("let id", &id);
            self.text.line("orb::Raised::User(id, exception)");
            self.text.close("}");
        }
        self.text
            .line("Self::System(exception) => orb::Raised::System(*exception),");
        self.text.close("}");
        self.text.close("}");
        self.text.close("}");
    }
}
