// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply handlers as objects: the call-back model of CORBA Messaging (CORBA 3.3 Part 1, 17.10).

use orbium_idl_model::{DefId, Definition, Type};

use crate::emit::{AsynchronousStub, Emitter};
use crate::implied::HandlerOperations;
use crate::interface::asynchronous::asynchronous_name;
use crate::interface::client::context_parameter;
use crate::interface::operations::Function;
use crate::interface::pollers::sending_name;
use crate::names::{self, NameSet};
use crate::plan::Plan;
use crate::types::data::quoted;

impl Plan<'_> {
    /// The operations of the reply handler for a function.
    fn handler_operations(&self, function: &Function) -> Option<HandlerOperations> {
        let of_feature = self.reply_handlers.operations(function.feature);
        of_feature.get(usize::from(function.is_setter())).copied()
    }

    /// An argument for a parameter of an operation of a handler: a result owned by the caller.
    fn handed_on(&self, place: &str, ty: &Type) -> String {
        if self.is_reference(ty) {
            return format!("{place}.as_ref()");
        }
        if self.by_value(ty) {
            place.to_owned()
        } else {
            format!("&{place}")
        }
    }
}

impl Emitter<'_, '_> {
    /// `sendc_op` of an interface with a reply handler, for functions with their asynchronous
    /// stubs; `taken` are the names of stubs.
    pub(crate) fn handled_stubs(
        &mut self,
        definition: &Definition,
        functions: &[(Function, AsynchronousStub)],
        taken: &mut NameSet,
    ) {
        let Some(handler) = self.plan.reply_handlers.of(definition.id) else {
            return;
        };
        if functions.is_empty() || !self.plan.is_mapped(handler) {
            return;
        }
        let calls = self.calls_of_handler(handler);
        let path = self.plan.path_to(&self.module, handler);
        let name = self.name(definition);
        self.text.blank();
        self.text.open("orb::idl_sendc! {");
        self.text.line(format!("{name} to {path};"));
        self.text.blank();
        for (function, stub) in functions {
            let Some(operations) = self.plan.handler_operations(function) else {
                continue;
            };
            let call = |id| calls.iter().find(|(known, _)| *known == id);
            let (Some((_, reply)), Some((_, exception))) =
                (call(operations.reply), call(operations.exception))
            else {
                continue;
            };
            let (pattern, arguments) = self.handed_on(function);
            let handed_on = [
                format!("= {} {{", quoted(&function.wire)),
                format!("{pattern} => {reply}({arguments}),"),
                format!("{exception} }}"),
            ];
            let send = sending_name("sendc_", function, taken);
            let mut pieces = self.declared_parameters(function, &send);
            pieces.push(format!("by {}", stub.name));
            pieces.extend_from_slice(&handed_on);
            self.text.filled(&pieces);
            if let Some(stub) = &stub.in_context {
                let send = names::fresh(&format!("{}_in_context", names::stem(&send)), taken);
                let mut pieces = self.declared_parameters(function, &send);
                pieces.push(format!("in {} by {stub}", context_parameter(function)));
                pieces.extend_from_slice(&handed_on);
                self.text.filled(&pieces);
            }
        }
        self.text.close("}");
    }

    /// The pattern for the results of a function, and the arguments built from them.
    fn handed_on(&self, function: &Function) -> (&'static str, String) {
        let outputs = function.outputs();
        let arguments = match outputs.as_slice() {
            [] => return ("_", String::new()),
            [only] => vec![self.plan.handed_on("it", &only.ty)],
            several => {
                let field = |name: &str| format!("it.{name}");
                let one = several.iter();
                one.map(|it| self.plan.handed_on(&field(&it.name), &it.ty))
                    .collect()
            }
        };
        ("it", arguments.join(", "))
    }

    /// The asynchronous stubs of the operations that a handler itself declares.
    fn calls_of_handler(&self, handler: DefId) -> Vec<(DefId, String)> {
        let mut taken = NameSet::new();
        for feature in self.plan.features(handler) {
            for function in Function::of(self.plan, feature) {
                taken.insert(function.name);
            }
        }
        let own = self.own_functions(&self.plan.model[handler]);
        own.iter()
            .map(|it| (it.feature, asynchronous_name(&it.name, &mut taken)))
            .collect()
    }
}
