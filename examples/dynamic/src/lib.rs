// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object that stands before another one: it shows every call as JSON and passes it on.
//!
//! No code is generated. What it knows is IDL that is compiled when the program starts.
//! Clients see no difference: values of every type, exceptions and oneways pass.

use std::collections::HashMap;

use orbium::{Any, Completion, ExceptionKind, ObjectRef, SystemException, TCKind};
use orbium_dynamic::{
    Definitions, DynamicImplementation, JsonOptions, Request, RequestError, ServerRequest,
    Signature, to_json,
};

/// The servant of the object in front.
pub struct Front {
    behind: ObjectRef,
    /// By their names on the wire: `_get_a` for reading an attribute.
    operations: HashMap<String, Signature>,
    /// Gets a line for each call.
    show: Box<dyn Fn(String) + Send + Sync>,
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
            operations.insert(reads.wire_name.clone(), reads);
            // An attribute that may be written.
            if let Ok(writes) = definitions.signature(interface, name, true) {
                operations.insert(writes.wire_name.clone(), writes);
            }
        }
        Ok(Self {
            behind,
            operations,
            show: Box::new(show),
        })
    }

    /// `name: value, …`
    fn shown<'v>(values: impl Iterator<Item = (&'v str, &'v Any)>) -> String {
        let values = values.map(|(name, value)| format!("{name}: {}", json(value)));
        values.collect::<Vec<_>>().join(", ")
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

        let arguments = request.arguments(&signature.parameters)?.iter();
        let sent: Vec<_> = arguments.filter(|it| it.direction().is_sent()).collect();
        let called = Self::shown(sent.iter().map(|it| (it.name(), it.value())));
        let values: Vec<Any> = sent.iter().map(|it| it.value().clone()).collect();
        let mut call = Request::of(&self.behind, signature, values)?;
        if !signature.contexts.is_empty() {
            call.set_contexts(request.contexts()?)?;
        }
        if signature.oneway {
            (self.show)(format!("{operation}({called})"));
            return call.send_oneway();
        }

        if let Err(error) = call.invoke() {
            (self.show)(match &error {
                RequestError::User(exception) => {
                    let name = exception.type_code().id();
                    format!("{operation}({called}) raised {name} {}", json(exception))
                }
                other => format!("{operation}({called}) raised {other}"),
            });
            return match error {
                RequestError::User(exception) => request.set_exception(exception),
                other => Err(other.into()),
            };
        }
        let mut returned = Vec::new();
        if signature.returns.kind() != TCKind::Void {
            returned.push(("result", call.return_value()));
            request.set_result(call.return_value().clone())?;
        }
        for (index, argument) in call.arguments().iter().enumerate() {
            if argument.direction().is_returned() {
                returned.push((argument.name(), argument.value()));
                request.set_argument(index, argument.value().clone())?;
            }
        }
        let returned = Self::shown(returned.into_iter());
        (self.show)(format!("{operation}({called}) -> {returned}"));
        Ok(())
    }
}
