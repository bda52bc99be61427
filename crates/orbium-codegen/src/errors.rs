// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error enums: the exceptions of a `raises` clause, and system exceptions.

use crate::emit::Emitter;
use crate::names::{self, NameSet};
use crate::plan::ErrorEnum;

impl Emitter<'_, '_> {
    pub(crate) fn error_enum(&mut self, error: &ErrorEnum) {
        let mut taken = NameSet::new();
        taken.insert("System".to_owned());
        let mut variants = Vec::new();
        let mut shown = Vec::new();
        for id in &error.exceptions {
            let variant = names::fresh(&self.plan.place_of(*id).name, &mut taken);
            let path = self.plan.path_to(&self.module, *id);
            variants.push(format!("{variant}({path}),"));
            shown.push(format!("`{}`", self.plan.model[*id].path.join("::")));
        }
        self.text.blank();
        self.text.open("orb::idl_errors! {");
        let shown = shown.join(", ");
        self.text
            .raw(&format!("/// What operations raise that declare {shown}."));
        let name = &error.name;
        let one = format!("pub enum {name} {{ {} }}", variants.join(" "));
        let one = one.replace(", }", " }");
        if self.text.fits(&one) {
            self.text.line(one);
        } else {
            self.text.open(format!("pub enum {name} {{"));
            self.text.listed(&variants);
            self.text.close("}");
        }
        self.text.close("}");
    }
}
