// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error enums: the exceptions of a `raises` clause, and system exceptions.

use orbium_idl_model::{Definition, DefinitionKind};

use crate::emit::Emitter;
use crate::interface::operations::Function;
use crate::names::{self, NameSet};
use crate::plan::{ErrorEnum, OperationError, Plan};

impl Plan<'_> {
    /// Names the error types of an interface's own operations: such a name stays when `raises`
    /// gets a further exception, after which the enum has another.
    pub(crate) fn name_operation_errors(&mut self, definition: &Definition) {
        let is_interface = matches!(definition.kind, DefinitionKind::Interface(_));
        if !is_interface || !self.is_mapped(definition.id) {
            return;
        }
        let module = self.place_of(definition.id).module.clone();
        for &feature in &self.contents(self.model.contents(definition.id)) {
            for function in Function::of(self, feature) {
                let set = if function.is_setter() { "Set" } else { "" };
                let interface = names::camel(&definition.name);
                let operation = names::camel(&feature.name);
                let wanted = format!("{interface}{set}{operation}Error");
                let Some(error) = self.error_enum(&module, &function.raises) else {
                    continue;
                };
                if error.name == wanted {
                    continue;
                }
                let operation = OperationError {
                    name: self.fresh(&module, &wanted),
                    operation: function.wire,
                };
                if let Some(error) = self.error_enum_mut(&module, &function.raises) {
                    error.operations.push(operation);
                }
            }
        }
    }
}

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
        for OperationError {
            name: own,
            operation,
        } in &error.operations
        {
            self.doc(&format!("What `{operation}` raises."));
            self.text.line(format!("pub type {own} = {name};"));
        }
    }
}
