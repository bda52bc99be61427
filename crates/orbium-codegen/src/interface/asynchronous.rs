// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations: `op_async`, where requested.
//!
//! A request may be sent again after its caller has continued, so arguments that the synchronous
//! stub borrows are copied here, and `inout` parameters are returned with the results.

use orbium_idl_model::{Annotation, DefId, Definition, DefinitionKind, InterfaceKind};

use crate::ami::{said, said_of};
use crate::emit::{AsynchronousStub, Emitter};
use crate::interface::operations::Function;
use crate::names::{self, NameSet};
use crate::plan::Plan;

/// The name of the asynchronous form of a stub.
pub(crate) fn asynchronous_name(method: &str, taken: &mut NameSet) -> String {
    names::fresh(&format!("{}_async", names::stem(method)), taken)
}

impl Plan<'_> {
    /// Whether an annotation has an effect: `@ami` on or around a feature with an asynchronous
    /// form. Ineffective `@idempotent`, `@borrow` and `@deferred` were reported by the compiler of
    /// IDL.
    pub(crate) fn takes_effect(&self, annotation: &Annotation, of: &Definition) -> bool {
        if matches!(
            annotation.name.as_str(),
            "idempotent" | "borrow" | "deferred" | "rt" | "calls" | "qos"
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

    /// Whether an asynchronous form is requested: the innermost annotation decides, and the options
    /// if there is none.
    pub(crate) fn is_asked_for(&self, feature: DefId) -> bool {
        let owner = self.model[feature].parent;
        if owner.is_some_and(|it| self.reply_handlers.contains(it)) {
            return true;
        }
        said_of(self.model, feature).unwrap_or_else(|| self.options.is_asynchronous())
    }

    /// Names the structs for asynchronous results, after all other names.
    pub(crate) fn name_asynchronous(&mut self, definition: &Definition) {
        self.name_all_outputs(
            definition,
            "Async",
            |plan, function| plan.is_asked_for(function.feature),
            |plan| &mut plan.asynchronous_results,
        );
    }
}

impl Emitter<'_, '_> {
    /// The functions with an asynchronous form that an interface itself declares.
    pub(crate) fn asynchronous_functions(&self, definition: &Definition) -> Vec<Function> {
        let mut functions = self.own_functions(definition);
        functions.retain(|it| self.has_asynchronous_form(it));
        functions
    }

    /// Whether the stub of a function has an asynchronous form.
    pub(crate) fn has_asynchronous_form(&self, function: &Function) -> bool {
        !function.oneway && self.plan.is_asked_for(function.feature)
    }

    /// The structs of the results of asynchronous calls of the interface's own operations, if the
    /// synchronous ones return less.
    pub(crate) fn asynchronous_results(&mut self, definition: &Definition) {
        self.all_outputs_structs(
            definition,
            |plan| &plan.asynchronous_results,
            |operation| {
                format!("The results of an asynchronous call of the IDL operation `{operation}`.")
            },
        );
    }

    /// `async name_async,`: the asynchronous form of a stub, if it has one, and its results if they
    /// are more than those of the other one.
    pub(crate) fn asynchronous_form(
        &mut self,
        function: &Function,
        method: &str,
        taken: &mut NameSet,
    ) -> String {
        if !self.has_asynchronous_form(function) {
            return String::new();
        }
        let name = asynchronous_name(method, taken);
        self.asynchronous_stubs.push(AsynchronousStub {
            name: name.clone(),
            in_context: None,
        });
        let outputs = function.outputs();
        if !outputs.iter().any(|output| output.inout) {
            return format!("async {name},");
        }
        let named = &self.plan.asynchronous_results;
        let one = Plan::marshalled;
        let value = self.plan.all_outputs(named, function, &self.module, one);
        format!("async {name} -> {value},")
    }
}
