// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object that stands before another one: it shows every call as JSON and passes it on.
//!
//! No code is generated. What it knows is IDL that is compiled when the program starts.
//! Clients see no difference: values of every type, exceptions and oneways pass.

use std::collections::HashMap;
use std::sync::Arc;

use orbium::{Any, Completion, ExceptionKind, ObjectRef, SystemException, cdr::TCKind};
use orbium_dynamic::{
    Definitions, DynamicImplementation, JsonOptions, Request, RequestError, ServerRequest,
    Signature, to_json,
};

/// The servant of the object in front.
pub struct Front {
    behind: ObjectRef,
    /// By their names on the wire: `_get_a` for reading an attribute.
    operations: HashMap<String, Arc<Signature>>,
    /// Gets a line for each call.
    show: Arc<dyn Fn(String) + Send + Sync>,
}

impl Front {
    /// Before an object of an interface that is defined.
    ///
    /// # Errors
    /// Which interface is not defined, or which type is of no use.
    pub fn new(
        behind: ObjectRef,
        definitions: &Definitions,
        show: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let id = &behind.ior().type_id;
        let interface = definitions.interface(id);
        let interface = interface.ok_or_else(|| format!("{id} is not defined"))?;
        let mut operations = HashMap::new();
        for name in definitions.operation_names(interface) {
            let reads = definitions.signature(interface, name, false)?;
            operations.insert(reads.wire_name.clone(), Arc::new(reads));
            // An attribute that may be written.
            if let Ok(writes) = definitions.signature(interface, name, true) {
                operations.insert(writes.wire_name.clone(), Arc::new(writes));
            }
        }
        Ok(Self {
            behind,
            operations,
            show: Arc::new(show),
        })
    }
}

fn json(value: &Any) -> String {
    let json = to_json(value, &JsonOptions::default());
    json.unwrap_or_else(|error| format!("({error})"))
}

impl DynamicImplementation for Front {
    fn primary_interface(&self) -> String {
        self.behind.ior().type_id.clone()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.behind.is_a(repository_id).unwrap_or(false)
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        let operation = request.operation().into_owned();
        let unknown = || SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
        let signature = self.operations.get(&operation).ok_or_else(unknown)?;

        let arguments = request.arguments_of(signature)?.iter();
        let sent = arguments.filter(|it| it.direction().is_sent());
        let called = shown(sent.map(|it| (it.name(), it.value())));
        let called = format!("{operation}({called})");
        let mut call = Request::with_arguments(&self.behind, signature, request.received()?)?;
        if !signature.contexts.is_empty() {
            call.set_contexts(request.contexts()?)?;
        }
        if signature.oneway {
            (self.show)(called);
            return call.send_oneway();
        }

        // No thread waits for the object behind.
        let deferred = request.defer()?;
        let show = Arc::clone(&self.show);
        call.on_reply(move |call, outcome| {
            show(format!("{called} {}", came(&call, &outcome)));
            // The client has what cannot be passed on as an exception.
            let _ = deferred.answer_as(&call, outcome);
        })
    }
}

/// What came of a call.
fn came(call: &Request, outcome: &Result<(), RequestError>) -> String {
    match outcome {
        Ok(()) => {
            let returned = call.arguments().iter();
            let returned = returned.filter(|it| it.direction().is_returned());
            let returned = returned.map(|it| (it.name(), it.value()));
            let result = Some(("result", call.return_value()));
            let result = result.filter(|(_, value)| value.type_code().kind() != TCKind::Null);
            format!("-> {}", shown(result.into_iter().chain(returned)))
        }
        Err(RequestError::User(exception)) => {
            let name = exception.type_code().id();
            format!("raised {name} {}", json(exception))
        }
        Err(other) => format!("raised {other}"),
    }
}

/// `name: value, …`
fn shown<'v>(values: impl Iterator<Item = (&'v str, &'v Any)>) -> String {
    let values = values.map(|(name, value)| format!("{name}: {}", json(value)));
    values.collect::<Vec<_>>().join(", ")
}
