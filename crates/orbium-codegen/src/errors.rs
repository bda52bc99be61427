// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error enums: the exceptions of a `raises` clause, and system exceptions.

use orbium_idl::model::{DefId, NameSet, Type};

use crate::emit::Emitter;
use crate::names;
use crate::plan::ErrorEnum;

impl Emitter<'_, '_> {
    pub(crate) fn error_enum(&mut self, error: &ErrorEnum) {
        let name = &error.name;
        let mut taken = NameSet::default();
        taken.insert("System");
        let mut variants = Vec::new();
        let mut sizes = Vec::new();
        for id in &error.exceptions {
            let variant = names::fresh(&self.plan.place_of(*id).name, &mut taken);
            variants.push((variant, self.plan.path_to(&self.module, *id), *id));
            sizes.push(self.plan.memory(&Type::Named(*id)));
        }
        for size in &sizes {
            if *size > 100 {
                self.allows.insert("clippy::result_large_err");
            }
        }
        sizes.push(12);
        self.note_sizes(&sizes);
        self.text.blank();
        let listed = error
            .exceptions
            .iter()
            .map(|id| format!("`{}`", (self.plan.model[*id].path).join("::")))
            .collect::<Vec<_>>()
            .join(", ");
        self.text
            .raw(&format!("/// What operations raise that declare {listed}."));
        self.text.line("#[derive(Clone, PartialEq)]");
        self.text.open(format!("pub enum {name} {{"));
        for (variant, path, id) in &variants {
            self.text.raw(&format!(
                "/// IDL exception `{}`.",
                (self.plan.model[*id].path).join("::")
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
        for (variant, path, _) in variants {
            self.conversion(name, variant, path);
        }
        self.conversion(name, "System", "orb::SystemException");
        // For `?` where a servant or a client reads an any.
        for error in ["orb::AnyError", "orb::CdrError"] {
            self.text.blank();
            self.text.open(format!("impl $From<{error}> for {name} {{"));
            self.text
                .open(format!("fn from(error: {error}) -> Self {{"));
            self.text.line("Self::System($From::from(error))");
            self.text.close("}");
            self.text.close("}");
        }
    }

    fn conversion(&mut self, name: &str, variant: &str, path: &str) {
        self.text.blank();
        self.text.open(format!("impl $From<{path}> for {name} {{"));
        self.text
            .open(format!("fn from(exception: {path}) -> Self {{"));
        self.text.line(format!("Self::{variant}(exception)"));
        self.text.close("}");
        self.text.close("}");
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
        let mut patterns = variants
            .iter()
            .map(|(variant, ..)| format!("Self::{variant}(exception)"))
            .collect::<Vec<_>>();
        patterns.push("Self::System(exception)".to_owned());
        for pattern in &patterns {
            self.text
                .match_arm(pattern, "::core::fmt::Display::fmt(exception, f)");
        }
        self.text.close("}");
        self.text.close("}");
        self.text.close("}");
        self.text.blank();
        self.text
            .raw("/// The words of `Display`, which `main` prints that returns the error.");
        self.text
            .open(format!("impl ::core::fmt::Debug for {name} {{"));
        self.text
            .signature("fn fmt", &parameters, " -> ::core::fmt::Result {");
        self.text.line("::core::fmt::Display::fmt(self, f)");
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
