// SPDX-License-Identifier: MIT OR Apache-2.0
//! Error enums: the exceptions of a `raises` clause, and system exceptions.

use orbium_idl_model::{Definition, DefinitionKind};

use crate::emit::Emitter;
use crate::interface::operations::Function;
use crate::names::{self, NameSet};
use crate::plan::{ErrorEnum, OperationError, Plan};

impl Plan<'_> {
    /// Names the error types of an interface's own operations: such a name is stable when `raises`
    /// gets a further exception, with which the enum has another name.
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

    /// The variants of its exceptions, in their order.
    fn variants_of(&self, error: &ErrorEnum) -> Vec<String> {
        let mut taken = NameSet::new();
        taken.insert("System".to_owned());
        let ids = error.exceptions.iter();
        ids.map(|id| names::fresh(&self.place_of(*id).name, &mut taken))
            .collect()
    }
}

impl ErrorEnum {
    /// Whether the other has all of its exceptions, and more.
    fn is_part_of(&self, other: &Self) -> bool {
        let (own, others) = (&self.exceptions, &other.exceptions);
        own.len() < others.len() && own.iter().all(|id| others.contains(id))
    }
}

impl Emitter<'_, '_> {
    pub(crate) fn error_enum(&mut self, error: &ErrorEnum) {
        let mut variants = Vec::new();
        let mut shown = Vec::new();
        for (variant, id) in self.plan.variants_of(error).iter().zip(&error.exceptions) {
            let path = self.plan.path_to(&self.module, *id);
            variants.push(format!("{variant}({path})"));
            shown.push(format!("`{}`", self.plan.model[*id].path.join("::")));
        }
        self.text.blank();
        self.text.open("orb::idl_errors! {");
        let shown = shown.join(", ");
        self.text.raw(&format!(
            "/// The exceptions of operations that declare {shown}."
        ));
        let name = &error.name;
        self.text
            .braced(&format!("pub enum {name}"), &variants, "}");
        self.text.close("}");
        for OperationError {
            name: own,
            operation,
        } in &error.operations
        {
            self.doc(&format!("The exceptions of `{operation}`."));
            self.text.line(format!("pub type {own} = {name};"));
        }
        self.widenings(error);
    }

    /// Conversions for `?` from enums of the same module with fewer exceptions.
    fn widenings(&mut self, wider: &ErrorEnum) {
        let name = &wider.name;
        for narrower in self.plan.error_enums(&self.module) {
            if !narrower.is_part_of(wider) {
                continue;
            }
            let variants = self.plan.variants_of(narrower);
            let head = format!("orb::idl_widens!({} to {name}", narrower.name);
            self.text.braced(&head, &variants, "});");
        }
    }
}
