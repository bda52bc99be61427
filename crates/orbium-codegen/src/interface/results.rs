// SPDX-License-Identifier: MIT OR Apache-2.0
//! Structs of several outputs.

use orbium_idl_model::{DefMap, Definition, DefinitionKind, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::interface::operations::Function;
use crate::names;
use crate::plan::Plan;

impl Plan<'_> {
    /// Names the structs with all outputs, `inout` parameters too, of those operations that are
    /// `wanted`; `kind` is part of the names, which are inserted `into` a map.
    pub(crate) fn name_all_outputs(
        &mut self,
        definition: &Definition,
        kind: &str,
        wanted: impl Fn(&Self, &Function) -> bool,
        into: fn(&mut Self) -> &mut DefMap<String>,
    ) {
        let remote = self.interface_kind(definition.id) == Some(InterfaceKind::Plain);
        if !remote || !self.is_mapped(definition.id) {
            return;
        }
        let module = self.place_of(definition.id).module.clone();
        for &feature in &self.contents(self.model.contents(definition.id)) {
            for function in Function::of(self, feature) {
                let outputs = function.outputs();
                let inout = outputs.iter().any(|output| output.inout);
                if !inout || outputs.len() < 2 || !wanted(self, &function) {
                    continue;
                }
                let interface = names::camel(&definition.name);
                let operation = names::camel(&feature.name);
                let name = self.fresh(&module, &format!("{interface}{operation}{kind}Results"));
                into(self).insert(feature.id, name);
            }
        }
    }

    /// The type of all outputs, from a module: the struct of that name if there is one; a single
    /// output is named by `one`.
    pub(crate) fn all_outputs(
        &self,
        named: &DefMap<String>,
        function: &Function,
        from: &[String],
        one: fn(&Self, &Type, &[String]) -> String,
    ) -> String {
        if let Some(results) = named.get(function.feature) {
            return self.path(from, function.home(self), results);
        }
        match function.outputs().as_slice() {
            [only] => one(self, &only.ty, from),
            _ => function.value(self, from),
        }
    }
}

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
                let doc = format!("The results of the IDL operation `{}`.", function.wire);
                self.results_struct(name, &doc, function, false);
            }
        }
    }

    /// The structs with all outputs of the interface's own operations that have a name; `doc` is
    /// derived from the name of the operation.
    pub(crate) fn all_outputs_structs(
        &mut self,
        definition: &Definition,
        named: for<'p> fn(&'p Plan<'_>) -> &'p DefMap<String>,
        doc: fn(&str) -> String,
    ) {
        for id in self.plan.model.contents(definition.id) {
            let Some(name) = named(self.plan).get(*id) else {
                continue;
            };
            for function in &Function::of(self.plan, &self.plan.model[*id]) {
                self.results_struct(name, &doc(&function.wire), function, true);
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
                fields.push(format!("pub {}: {ty}", output.name));
            }
            self.text
                .braced(&format!("pub struct {name}"), &fields, "}");
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
        // A trait object only guarantees that it can be shared, and the Rust type of a native one
        // guarantees nothing.
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
