// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs of several outputs.

use orbium_idl::model::{Definition, DefinitionKind, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::operations::Function;

impl Emitter<'_, '_> {
    /// The structs of several outputs of the interface's own operations.
    pub(crate) fn results(&mut self, definition: &Definition) {
        for id in self.plan.model.contents(definition.id) {
            if !self.plan.is_mapped(*id) {
                continue;
            }
            for function in &Function::of(self.plan, &self.plan.model[*id]) {
                let Some(name) = &function.results else {
                    continue;
                };
                let doc = format!("What the IDL operation `{}` gives.", function.wire);
                self.results_struct(name, &doc, function, false);
            }
        }
    }

    /// A struct with a field for each output, or each but `inout` parameters.
    pub(crate) fn results_struct(
        &mut self,
        name: &str,
        doc: &str,
        function: &Function,
        inouts: bool,
    ) {
        let outputs = function.outputs();
        let mut outputs: Vec<_> = outputs.iter().collect();
        outputs.retain(|output| inouts || !output.inout);
        self.text.blank();
        let owner = self.plan.interface_kind(function.owner);
        if owner.is_some_and(|kind| kind != InterfaceKind::Local) {
            self.text.open("orb::idl_results! {");
            self.text.raw(&format!("/// {doc}"));
            let mut fields = Vec::new();
            for output in outputs {
                let ty = self.plan.marshalled(&output.ty, &self.module);
                fields.push(format!("pub {}: {ty},", output.name));
            }
            let one = format!("pub struct {name} {{ {} }}", fields.join(" ")).replace(", }", " }");
            if self.text.fits(&one) {
                self.text.line(one);
            } else {
                self.text.open(format!("pub struct {name} {{"));
                self.text.listed(&fields);
                self.text.close("}");
            }
            return self.text.close("}");
        }
        self.text.raw(&format!("/// {doc}"));
        let (mut local, mut native) = (false, false);
        for output in &outputs {
            if let Type::Named(id) = self.plan.model.resolve_alias(&output.ty) {
                let kind = &self.plan.model[*id].kind;
                local |= self.plan.interface_kind(*id) == Some(InterfaceKind::Local);
                native |= matches!(kind, DefinitionKind::Native);
            }
        }
        // Of a trait object nothing but that it can be shared is known, and of the
        // Rust type of a native one nothing at all.
        match (local, native) {
            (_, true) => {}
            (true, _) => self.text.line("#[derive(Clone)]"),
            _ => self.text.line("#[derive(Clone, Debug, PartialEq)]"),
        }
        self.text.open(format!("pub struct {name} {{"));
        for output in outputs {
            let ty = self.rust(&output.ty);
            self.text.line(format!("pub {}: {ty},", output.name));
        }
        self.text.close("}");
    }
}
