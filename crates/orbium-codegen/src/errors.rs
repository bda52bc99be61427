// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error enums: the exceptions of a `raises` clause, and system exceptions.

use orbium_idl::model::{NameSet, Type};

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
        let mut listed = Vec::new();
        for (variant, path, _) in &variants {
            listed.push(format!("{variant}: {path}"));
        }
        self.text.blank();
        self.text
            .literal(&format!("orb::error_enum!({name}"), &listed, ");");
    }
}
