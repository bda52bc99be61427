// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed pollers: the polling model of CORBA Messaging (CORBA 3.3 Part 1, 17.10).

use orbium_idl_model::{DefId, Definition, DefinitionKind, InterfaceKind};

use crate::emit::{AsynchronousStub, Emitter};
use crate::interface::client::context_parameter;
use crate::interface::operations::Function;
use crate::names::{self, NameSet};
use crate::plan::{Plan, is_feature};
use crate::types::data::quoted;

/// Methods of every poller.
const OF_EVERY_POLLER: [&str; 9] = [
    "clear_associated_handler",
    "has_associated_handler",
    "is_from_poller",
    "is_ready",
    "new",
    "operation_name",
    "operation_target",
    "response",
    "set_associated_handler",
];

impl Plan<'_> {
    /// Whether an interface has a poller: one of its own features has an asynchronous form.
    pub(crate) fn has_poller(&self, id: DefId) -> bool {
        let is_remote = self.interface_kind(id) == Some(InterfaceKind::Plain);
        if !self.options.has_pollers() || !is_remote || self.reply_handlers.contains(id) {
            return false;
        }
        let contents = self.contents(self.model.contents(id));
        contents.iter().any(|&feature| {
            let is_oneway = matches!(&feature.kind, DefinitionKind::Operation(it) if it.oneway);
            is_feature(feature) && !is_oneway && self.is_asked_for(feature.id)
        })
    }
}

/// `op`, `get_x`, `set_x`: the name of a function in the polling model.
fn polled_name(function: &Function) -> String {
    let name = names::snake(function.wire.trim_start_matches('_'));
    names::identifier(&name)
}

/// `sendp_op`, or `sendp_ami_op` if that is taken.
pub(crate) fn sending_name(sendp: &str, function: &Function, taken: &mut NameSet) -> String {
    let polled = polled_name(function);
    let mut prefix = sendp.to_owned();
    loop {
        let name = format!("{prefix}{}", names::stem(&polled));
        if taken.insert(name.clone()) {
            return name;
        }
        prefix.push_str("ami_");
    }
}

impl Emitter<'_, '_> {
    /// The poller of an interface, if it has one, and the functions that begin its calls, for
    /// functions with their asynchronous stubs; `taken` are the names of stubs.
    pub(crate) fn poller(
        &mut self,
        definition: &Definition,
        functions: &[(Function, AsynchronousStub)],
        taken: &mut NameSet,
    ) {
        let Some(poller) = self.plan.interface(definition.id).poller.clone() else {
            return;
        };
        let interface = self.name(definition);
        let mut methods: NameSet = OF_EVERY_POLLER.iter().map(ToString::to_string).collect();
        self.text.blank();
        self.text.open("orb::idl_poller! {");
        self.text.raw(&format!(
            "/// A call of [`{interface}`] under way; its reply is polled for."
        ));
        self.text
            .line(format!("pub struct {poller} of {interface};"));
        self.text.blank();
        for (function, stub) in functions {
            let send = sending_name("sendp_", function, taken);
            let method = names::fresh(&polled_name(function), &mut methods);
            let in_context = stub.in_context.as_ref().map(|stub| {
                let send = names::fresh(&format!("{}_in_context", names::stem(&send)), taken);
                format!("in {send}({}) by {stub}", context_parameter(function))
            });
            self.polled(function, (&send, &stub.name), &method, in_context);
        }
        self.text.close("}");
    }

    /// `sendp_op(a: i32) by op_async = "op" { op -> Result<i32> }`.
    /// The form that begins it in a context follows the outcome.
    fn polled(
        &mut self,
        function: &Function,
        (send, stub): (&str, &str),
        method: &str,
        in_context: Option<String>,
    ) {
        let mut pieces = self.declared_parameters(function, send);
        pieces.push(format!("by {stub}"));
        pieces.push(format!("= {} {{", quoted(&function.wire)));
        let named = &self.plan.asynchronous_results;
        let value = self
            .plan
            .all_outputs(named, function, &self.module, Plan::rust);
        let outcome = match function.error(self.plan, &self.module) {
            default if default == "orb::SystemException" => format!("Result<{value}>"),
            error => format!("Result<{value}, {error}>"),
        };
        match in_context {
            None => pieces.push(format!("{method} -> {outcome} }}")),
            Some(stub) => pieces.extend([format!("{method} -> {outcome},"), format!("{stub} }}")]),
        }
        self.text.filled(&pieces);
    }
}
