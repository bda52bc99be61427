// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous invocations: `op_async`, where somebody asked for it.
//!
//! A request may be sent again after its caller has gone on, so what the
//! synchronous stub borrows is copied here, and `inout` parameters come back
//! with the results.

use orbium_idl::model::{
    Annotation, AnnotationValue, ConstValue, DefId, Definition, DefinitionKind, InterfaceKind,
    NameSet, Type,
};

use crate::client::operation_static;
use crate::emit::Emitter;
use crate::names;
use crate::operations::{Function, Output, Parameter};
use crate::plan::Plan;
use crate::text::Argument;

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
    /// or holds what has, an asynchronous form. Where `@idempotent` and `@borrow` have
    /// none, the compiler of IDL has said so.
    pub(crate) fn takes_effect(&self, annotation: &Annotation, of: &Definition) -> bool {
        if matches!(annotation.name.as_str(), "idempotent" | "borrow") {
            return true;
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

    /// The value that a parameter is kept as until its request is answered.
    fn kept(&self, parameter: &Parameter) -> String {
        let (name, ty) = (&parameter.name, &parameter.ty);
        if self.by_value(ty) {
            return name.clone();
        }
        if self.is_reference(ty) {
            return format!("{name}.cloned()");
        }
        match self.model.resolve_alias(ty) {
            Type::String(_) | Type::WString(_) => format!("{name}.to_owned()"),
            Type::Sequence { .. } => format!("{name}.to_vec()"),
            _ if self.is_copy(ty) => format!("*{name}"),
            _ => format!("{name}.clone()"),
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

    /// The asynchronous form of a stub, if it has one.
    pub(crate) fn stub_async(&mut self, function: &Function, method: &str, taken: &mut NameSet) {
        if function.oneway || !self.plan.is_asked_for(function.feature) {
            return;
        }
        let bare = method.strip_prefix("r#").unwrap_or(method);
        let name = names::fresh(&format!("{}_async", names::stem(method)), taken);
        self.note_conversion(&name);
        let outputs = function.outputs();
        self.text.blank();
        self.text.raw(&format!(
            "/// Like `{bare}`, without waiting for the answer."
        ));
        if outputs.iter().any(|output| output.inout) {
            self.text.raw("///");
            self.text
                .raw("/// The new values of `inout` parameters are in the answer.");
        }
        let value = self.plan.asynchronous_value(function, &self.module);
        let error = match function.error(self.plan, &self.module) {
            default if default == "orb::SystemException" => String::new(),
            error => format!(", {error}"),
        };
        let mut parameters = vec!["&self".to_owned()];
        for parameter in &function.sent() {
            let ty = self.plan.argument(&parameter.ty, &self.module);
            parameters.push(format!("{}: {ty}", parameter.name));
        }
        let tail = format!(" -> orb::Asynchronous<{value}{error}> {{");
        let head = self.stub_head(function, &name, true);
        self.text.signature(&head, &parameters, &tail);
        let interface = &self.plan.model[function.owner].repository_id;
        operation_static(&mut self.text, interface, function);
        self.untyped(&function.sent(), true);
        self.begin(function, &outputs, &value);
        self.text.close("}");
    }

    fn begin(&mut self, function: &Function, outputs: &[Output], value: &str) {
        let sent = function.sent();
        let kept = sent
            .iter()
            .map(|parameter| self.plan.kept(parameter))
            .collect::<Vec<_>>();
        let arguments = match kept.as_slice() {
            [only] => format!("({only},)"),
            several => format!("({})", several.join(", ")),
        };
        let write = self.writer(function, &sent);
        let read = self.results_closure(function, outputs, value);
        let all = [
            Argument::Plain("&self.0".to_owned()),
            Argument::Plain("&OP".to_owned()),
            Argument::Plain(arguments),
            write,
            read,
        ];
        self.text.call("orb::ObjectRef::call_async", &all, "");
    }

    /// The closure that writes what was kept. It captures nothing, so that it is
    /// a plain function.
    fn writer(&mut self, function: &Function, sent: &[&Parameter]) -> Argument {
        let writer = function.local("w");
        let names = sent
            .iter()
            .map(|parameter| parameter.name.clone())
            .collect::<Vec<_>>();
        let pattern = match names.as_slice() {
            [only] => format!("({only},)"),
            several => format!("({})", several.join(", ")),
        };
        // A pattern that would have to be broken is harder to read than numbers.
        let by_name = self.text.fits(&format!("    |{pattern}, {writer}| {{"));
        let all = function.local("sent");
        let mut lines = Vec::new();
        for (place, parameter) in sent.iter().enumerate() {
            let value = match by_name {
                true => parameter.name.clone(),
                false => format!("&{all}.{place}"),
            };
            let functions = &mut self.functions;
            lines.push(functions.encode(self.plan, &parameter.ty, &value, &writer));
        }
        if function.context {
            // The context strings follow the arguments: there are none.
            lines.push(format!("{writer}.write_count(0)"));
        }
        let head = match (by_name, lines.is_empty()) {
            (_, true) => return Argument::Plain("|(), _| {}".to_owned()),
            (true, _) => format!("|{pattern}, {writer}|"),
            (false, _) => format!("|{all}, {writer}|"),
        };
        self.writing(head, lines)
    }
}
