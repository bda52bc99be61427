// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply tokens, by which servants reply after they have returned.

use orbium_idl_model::{Definition, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::interface::operations::Function;
use crate::plan::Plan;

impl Plan<'_> {
    /// Whether the servant of an operation, or of an attribute, gets a reply token: its
    /// annotation decides, and the options if there is none.
    pub(crate) fn is_deferred(&self, definition: &Definition) -> bool {
        let owner = self.interface_kind(self.owner(definition));
        if owner != Some(InterfaceKind::Plain) {
            return false;
        }
        if self.has_async_servant(self.owner(definition)) {
            return true;
        }
        let wanted = definition.asks_for("deferred");
        wanted.unwrap_or_else(|| self.options.defers(&definition.path))
    }

    /// Names the structs of results with `inout` parameters, after all other names.
    pub(crate) fn name_deferred(&mut self, definition: &Definition) {
        self.name_all_outputs(
            definition,
            "Deferred",
            |_, function| function.deferred && !function.slot,
            |plan| &mut plan.deferred_results,
        );
    }

    /// The type of a token's value, from a module; one value is named by `one`.
    pub(crate) fn deferred_value(
        &self,
        function: &Function,
        from: &[String],
        one: fn(&Self, &Type, &[String]) -> String,
    ) -> String {
        self.all_outputs(&self.deferred_results, function, from, one)
    }
}

impl Emitter<'_, '_> {
    /// The structs of the values of reply tokens of the interface's own operations, if servants
    /// without one would return less.
    pub(crate) fn deferred_results(&mut self, definition: &Definition) {
        self.all_outputs_structs(
            definition,
            |plan| &plan.deferred_results,
            |operation| {
                format!(
                    "The results that the reply token of the IDL operation `{operation}` sends."
                )
            },
        );
    }
}
