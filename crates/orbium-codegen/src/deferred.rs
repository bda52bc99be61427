// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply tokens: how servants answer after they have returned.

use orbium_idl::model::{Definition, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::names;
use crate::operations::Function;
use crate::plan::Plan;

impl Plan<'_> {
    /// Whether the servant of an operation, or of an attribute, gets a reply token: its
    /// annotation decides, and the options if there is none.
    pub(crate) fn is_deferred(&self, definition: &Definition) -> bool {
        let owner = self.interface_kind(self.owner(definition));
        if owner != Some(InterfaceKind::Plain) {
            return false;
        }
        let wanted = definition.asks_for("deferred");
        wanted.unwrap_or_else(|| self.options.defers(&definition.path))
    }

    /// Names the structs of results with `inout` parameters, once all else has its name.
    pub(crate) fn name_deferred(&mut self, definition: &Definition) {
        let remote = self.interface_kind(definition.id) == Some(InterfaceKind::Plain);
        if !remote || !self.is_mapped(definition.id) {
            return;
        }
        let module = self.place_of(definition.id).module.clone();
        for &feature in &self.contents(self.model.contents(definition.id)) {
            for function in Function::of(self, feature) {
                let outputs = function.outputs();
                let inout = outputs.iter().any(|output| output.inout);
                if !function.deferred || function.slot || !inout || outputs.len() < 2 {
                    continue;
                }
                let interface = names::camel(&definition.name);
                let wanted = format!("{interface}{}DeferredResults", names::camel(&feature.name));
                let name = self.fresh(&module, &wanted);
                self.deferred_results.insert(feature.id, name);
            }
        }
    }

    /// The type of what a token sends, seen from a module; one value is named by `one`.
    pub(crate) fn deferred_value(
        &self,
        function: &Function,
        from: &[String],
        one: fn(&Self, &Type, &[String]) -> String,
    ) -> String {
        if let Some(results) = self.deferred_results.get(function.feature) {
            return self.path(from, function.home(self), results);
        }
        match function.outputs().as_slice() {
            [only] => one(self, &only.ty, from),
            _ => function.value(self, from),
        }
    }
}

impl Emitter<'_, '_> {
    /// The structs of what tokens of the interface's own operations send, where servants
    /// without one would return less.
    pub(crate) fn deferred_results(&mut self, definition: &Definition) {
        for id in self.plan.model.contents(definition.id) {
            let Some(name) = self.plan.deferred_results.get(*id) else {
                continue;
            };
            for function in &Function::of(self.plan, &self.plan.model[*id]) {
                let doc = format!(
                    "What the reply token of the IDL operation `{}` sends.",
                    function.wire
                );
                self.results_struct(name, &doc, function, true);
            }
        }
    }
}
