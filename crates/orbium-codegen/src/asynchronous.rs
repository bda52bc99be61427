// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations: `op_async`, where somebody asked for it.
//!
//! A request may be sent again after its caller has gone on, so what the
//! synchronous stub borrows is copied here, and `inout` parameters come back
//! with the results.

use orbium_idl::model::{
    Annotation, AnnotationValue, ConstValue, DefId, Definition, DefinitionKind, InterfaceKind,
};

use crate::emit::Emitter;
use crate::names::{self, NameSet};
use crate::operations::Function;
use crate::plan::Plan;

/// What an annotation `@ami` says: nothing if it is another one, or if its
/// argument makes no sense.
fn said(annotation: &Annotation) -> Option<bool> {
    if annotation.name != "ami" {
        return None;
    }
    match annotation.parameter("value") {
        None if annotation.parameters.is_empty() => Some(true),
        Some(AnnotationValue::Const(ConstValue::Boolean(wanted))) => Some(*wanted),
        _ => None,
    }
}

impl Plan<'_> {
    /// Whether an annotation has an effect where it stands: `@ami` of what has,
    /// or holds what has, an asynchronous form. Where `@idempotent`, `@borrow` and `@deferred` have
    /// none, the compiler of IDL has said so.
    pub(crate) fn takes_effect(&self, annotation: &Annotation, of: &Definition) -> bool {
        if matches!(
            annotation.name.as_str(),
            "idempotent" | "borrow" | "deferred" | "rt" | "calls"
        ) {
            return true;
        }
        if annotation.name == "view" {
            return self.view_takes_effect(annotation, of);
        }
        let remote = |id| self.interface_kind(id) == Some(InterfaceKind::Plain);
        let place = match &of.kind {
            DefinitionKind::Module(_) => true,
            DefinitionKind::Interface(interface) => interface.kind == InterfaceKind::Plain,
            DefinitionKind::Operation(operation) => !operation.oneway && remote(self.owner(of)),
            DefinitionKind::Attribute(_) => remote(self.owner(of)),
            _ => false,
        };
        place && said(annotation).is_some()
    }

    /// Whether an asynchronous form was asked for: the innermost annotation
    /// decides, and the options if there is none.
    fn is_asked_for(&self, feature: DefId) -> bool {
        let mut next = Some(feature);
        while let Some(id) = next {
            let definition = &self.model[id];
            let said = definition.annotations.iter().rev().find_map(said);
            if let Some(wanted) = said {
                return wanted;
            }
            next = definition.parent;
        }
        self.options.is_asynchronous()
    }

    /// Names the structs for asynchronous results, once all else has its name.
    pub(crate) fn name_asynchronous(&mut self, definition: &Definition) {
        let remote = self.interface_kind(definition.id) == Some(InterfaceKind::Plain);
        if !remote || !self.is_mapped(definition.id) {
            return;
        }
        let module = self.place_of(definition.id).module.clone();
        for &feature in &self.contents(self.model.contents(definition.id)) {
            for function in Function::of(self, feature) {
                let outputs = function.outputs();
                let inout = outputs.iter().any(|output| output.inout);
                if !inout || outputs.len() < 2 || !self.is_asked_for(feature.id) {
                    continue;
                }
                let interface = names::camel(&definition.name);
                let wanted = format!("{interface}{}AsyncResults", names::camel(&feature.name));
                let name = self.fresh(&module, &wanted);
                self.asynchronous_results.insert(feature.id, name);
            }
        }
    }

    /// The type of what an asynchronous call gives, seen from a module.
    fn asynchronous_value(&self, function: &Function, from: &[String]) -> String {
        if let Some(results) = self.asynchronous_results.get(function.feature) {
            return self.path(from, function.home(self), results);
        }
        match function.outputs().as_slice() {
            [only] => self.rust(&only.ty, from),
            _ => function.value(self, from),
        }
    }
}

impl Emitter<'_, '_> {
    /// The structs of what asynchronous calls of the interface's own operations
    /// give, where the synchronous ones return less.
    pub(crate) fn asynchronous_results(&mut self, definition: &Definition) {
        for id in self.plan.model.contents(definition.id) {
            let Some(name) = self.plan.asynchronous_results.get(*id) else {
                continue;
            };
            for function in &Function::of(self.plan, &self.plan.model[*id]) {
                let doc = format!(
                    "What an asynchronous call of the IDL operation `{}` gives.",
                    function.wire
                );
                self.results_struct(name, &doc, function, true);
            }
        }
    }

    /// `async name_async,`: the asynchronous form of a stub, if it has one, and what it
    /// gives where that is more than the other one returns.
    pub(crate) fn asynchronous_form(
        &self,
        function: &Function,
        method: &str,
        taken: &mut NameSet,
    ) -> String {
        if function.oneway || !self.plan.is_asked_for(function.feature) {
            return String::new();
        }
        let name = names::fresh(&format!("{}_async", names::stem(method)), taken);
        let outputs = function.outputs();
        if !outputs.iter().any(|output| output.inout) {
            return format!("async {name},");
        }
        let value = match outputs.as_slice() {
            [only] => self.plan.marshalled(&only.ty, &self.module),
            _ => self.plan.asynchronous_value(function, &self.module),
        };
        format!("async {name} -> {value},")
    }
}
