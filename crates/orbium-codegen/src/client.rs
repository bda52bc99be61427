// SPDX-License-Identifier: MIT OR Apache-2.0
//! References: what a caller holds.

use orbium_idl::model::{Definition, Direction, Interface, NameSet};

use crate::data::quoted;
use crate::emit::Emitter;
use crate::operations::{Function, Output, Parameter};
use crate::results::literal;
use crate::text::{Argument, Text};
use crate::{docs, names};

impl Emitter<'_, '_> {
    pub(crate) fn interface(&mut self, definition: &Definition, interface: &Interface) {
        let name = self.name(definition);
        self.text.blank();
        let what = docs::of(definition, "interface");
        self.doc(&format!(
            "{what}\n\nAny call may return a system exception."
        ));
        self.text.line("#[derive(Clone)]");
        self.text
            .line(format!("pub struct {name}(orb::ObjectRef);"));
        let bases = self.plan.model.all_bases(definition.id);
        let ids = bases
            .iter()
            .map(|base| quoted(&self.plan.model[*base].repository_id))
            .collect::<Vec<_>>();
        self.text.blank();
        let named = if name == definition.name {
            name.clone()
        } else {
            format!("{name} = {}", quoted(&definition.name))
        };
        self.interface_macro(&named, &quoted(&definition.repository_id), &ids);
        for &base in &bases {
            let path = self.plan.path_to(&self.module, base);
            self.text.blank();
            self.text.open(format!("impl $From<{name}> for {path} {{"));
            self.text
                .open(format!("fn from(derived: {name}) -> Self {{"));
            self.text
                .line("orb::Interface::from_object($From::from(derived))");
            self.text.close("}");
            self.text.close("}");
        }
        if interface.forward_only {
            return;
        }
        let mut functions = Vec::new();
        for &feature in &self.plan.features(definition.id) {
            functions.append(&mut Function::of(self.plan, feature));
        }
        self.note_lints(&functions);
        self.results(definition);
        self.asynchronous_results(definition);
        self.replies(definition);
        self.stubs(&name, &functions);
        self.servant(definition, &functions);
    }

    fn interface_macro(&mut self, name: &str, id: &str, bases: &[String]) {
        let array = format!("[{}]", bases.join(", "));
        let one = format!("{name}, {id}, {array}");
        if one.len() <= 60 {
            return self.text.line(format!("orb::interface!({one});"));
        }
        self.text.open("orb::interface!(");
        self.text.line(format!("{name},"));
        self.text.line(format!("{id},"));
        if array.len() <= 62 {
            self.text.line(array);
        } else {
            self.text.open("[");
            for base in bases {
                self.text.line(format!("{base},"));
            }
            self.text.close("]");
        }
        self.text.close(");");
    }

    /// Lints that names and numbers given in IDL cannot help to trip.
    pub(crate) fn note_lints(&mut self, functions: &[Function]) {
        // Said of all of them on the type.
        if !functions.is_empty() {
            self.allows.insert("clippy::missing_errors_doc");
        }
        for function in functions {
            if function.parameters.len() > 5 {
                self.allows.insert("clippy::too_many_arguments");
            }
            let mut single = 0;
            for parameter in &function.parameters {
                single += usize::from(parameter.name.len() == 1);
            }
            if single > 4 {
                self.allows.insert("clippy::many_single_char_names");
            }
            let name = function.name.as_str();
            self.note_conversion(name);
            if name == "new" {
                self.allows.insert("clippy::new_ret_no_self");
                self.allows.insert("clippy::wrong_self_convention");
            }
            let lint = match name {
                "len" => "clippy::len_without_is_empty",
                "iter" => "clippy::iter_not_returning_iterator",
                "add" | "sub" | "mul" | "div" | "rem" | "neg" | "not" | "next" | "eq" | "cmp"
                | "clone" | "default" | "hash" | "drop" | "index" | "deref" | "borrow"
                | "as_ref" | "from_str" | "shl" | "shr" | "bitand" | "bitor" | "bitxor"
                | "from_iter" | "into_iter" => "clippy::should_implement_trait",
                _ => continue,
            };
            self.allows.insert(lint);
        }
    }

    /// The lint that a name like `from_us` of a method trips.
    pub(crate) fn note_conversion(&mut self, name: &str) {
        let conversions = ["as_", "from_", "into_", "is_", "to_"];
        if conversions.iter().any(|prefix| name.starts_with(prefix)) {
            self.allows.insert("clippy::wrong_self_convention");
        }
    }

    fn stubs(&mut self, name: &str, functions: &[Function]) {
        if functions.is_empty() {
            return;
        }
        let mut taken = NameSet::default();
        for function in functions {
            taken.insert(&function.name);
        }
        // Two bases may have brought the same name in different case.
        let mut seen = NameSet::default();
        self.text.blank();
        self.text.open(format!("impl {name} {{"));
        for function in functions {
            let method = if seen.insert(&function.name) {
                function.name.clone()
            } else {
                names::fresh(&function.name, &mut taken)
            };
            self.functions.hidden_by = function.taken();
            self.stub(function, &method);
            let reusable = function
                .only_output()
                .filter(|ty| self.plan.owns_memory(ty));
            if reusable.is_some() && !function.wire.starts_with("_get_") {
                let bare = names::stem(&method);
                let into = names::fresh(&format!("{bare}_into"), &mut taken);
                self.stub_into(function, &into);
            }
            self.stub_async(function, &method, &mut taken);
        }
        self.functions.hidden_by = NameSet::default();
        self.text.close("}");
    }

    fn stub_parameters(&self, function: &Function) -> Vec<String> {
        let mut parameters = vec!["&self".to_owned()];
        for parameter in &function.sent() {
            let ty = match parameter.direction {
                Direction::InOut => format!("&mut {}", self.rust(&parameter.ty)),
                _ => self.plan.argument(&parameter.ty, &self.module),
            };
            parameters.push(format!("{}: {ty}", parameter.name));
        }
        parameters
    }

    /// How the function of a stub begins: with the lifetime of references of any type.
    pub(crate) fn stub_head(&self, function: &Function, method: &str, inouts: bool) -> String {
        let sent = function.sent();
        let mut objects = sent.iter().filter(|it| self.takes_any(it, inouts));
        let lifetime = objects.next().map_or("", |_| "<'r>");
        format!("pub fn {method}{lifetime}")
    }

    /// Whether a parameter takes a reference of any type; `inout` ones do where they are
    /// passed as if they were `in`.
    fn takes_any(&self, parameter: &Parameter, inouts: bool) -> bool {
        let is_given = inouts || parameter.direction == Direction::In;
        is_given && self.plan.is_object(&parameter.ty)
    }

    /// Takes the untyped references out of those of any type.
    pub(crate) fn untyped(&mut self, sent: &[&Parameter], inouts: bool) {
        for parameter in sent {
            if self.takes_any(parameter, inouts) {
                let name = &parameter.name;
                let line = format!("let {name} = orb::AnyReference::into_object({name});");
                self.text.line(line);
            }
        }
    }

    fn stub(&mut self, function: &Function, method: &str) {
        self.text.blank();
        self.doc(&function.full_doc(self.plan));
        let value = function.value(self.plan, &self.module);
        let error = function.error(self.plan, &self.module);
        let tail = format!(" -> $Result<{value}, {error}> {{");
        let parameters = self.stub_parameters(function);
        let head = self.stub_head(function, method, false);
        self.text.signature(&head, &parameters, &tail);
        let interface = &self.plan.model[function.owner].repository_id;
        operation_static(&mut self.text, interface, function);
        self.untyped(&function.sent(), false);
        let outputs = function.outputs();
        if function.oneway {
            self.send(function);
        } else if outputs.iter().any(|output| output.inout) {
            self.call_with_inouts(function, &outputs, &error);
        } else {
            let arguments = self.arguments(function);
            let results = self.results_closure(function, &outputs, &value);
            self.invoke("orb::ObjectRef::call", arguments, results, "");
        }
        self.text.close("}");
    }

    fn invoke(&mut self, head: &str, arguments: Argument, results: Argument, tail: &str) {
        let all = [
            Argument::Plain("&self.0".to_owned()),
            Argument::Plain("&OP".to_owned()),
            arguments,
            results,
        ];
        self.text.call(head, &all, tail);
    }

    /// The lines that write what is sent.
    fn argument_lines(&mut self, function: &Function, writer: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for parameter in &function.sent() {
            let name = &parameter.name;
            let by_value =
                self.plan.by_value(&parameter.ty) || self.plan.is_reference(&parameter.ty);
            let value = match parameter.direction {
                Direction::InOut => format!("&*{name}"),
                _ if by_value => format!("&{name}"),
                _ => name.clone(),
            };
            lines.push(
                self.functions
                    .encode(self.plan, &parameter.ty, &value, writer),
            );
        }
        if function.context {
            // The context strings follow the arguments: there are none.
            lines.push(format!("{writer}.write_count(0)"));
        }
        lines
    }

    /// The closure that writes the arguments.
    fn arguments(&mut self, function: &Function) -> Argument {
        let writer = function.local("w");
        let lines = self.argument_lines(function, &writer);
        match lines.is_empty() {
            true => Argument::Plain("|_| {}".to_owned()),
            false => self.writing(format!("|{writer}|"), lines),
        }
    }

    /// A closure that writes: an expression if it is one and short.
    pub(crate) fn writing(&self, head: String, mut lines: Vec<String>) -> Argument {
        if let [only] = lines.as_slice()
            && self.text.fits(&format!("    {head} {only},"))
        {
            return Argument::Plain(format!("{head} {only}"));
        }
        for line in &mut lines {
            line.push(';');
        }
        Argument::Closure(head, lines)
    }

    /// The closure that reads what comes back when nothing is `inout`, or all is
    /// handed out: several values as the struct of that path.
    pub(crate) fn results_closure(
        &mut self,
        function: &Function,
        outputs: &[Output],
        path: &str,
    ) -> Argument {
        let reader = function.local("r");
        match outputs {
            [] => Argument::Plain("|_| $Ok(())".to_owned()),
            [only] => {
                let call = self.functions.decode(self.plan, &only.ty, &reader);
                // A function that reads is its own closure.
                match call.strip_suffix(&format!("({reader})")) {
                    Some(function) => Argument::Plain(function.to_owned()),
                    None if call == format!("{reader}.read_wstring()") => {
                        // The method's lifetimes are too narrow for a closure.
                        Argument::Plain(self.functions.decode_wide())
                    }
                    None => Argument::Plain(format!("|{reader}| {call}")),
                }
            }
            several => {
                let mut lines = self.read_lines(several, &reader);
                let names = several
                    .iter()
                    .map(|output| output.name.clone())
                    .collect::<Vec<_>>();
                lines.append(&mut literal(path, &names, "$Ok(", ")"));
                Argument::Closure(format!("|{reader}|"), lines)
            }
        }
    }

    fn read_lines(&mut self, outputs: &[Output], reader: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for output in outputs {
            let call = self.functions.decode(self.plan, &output.ty, reader);
            lines.push(format!("let {} = {call}?;", output.name));
        }
        lines
    }

    fn send(&mut self, function: &Function) {
        let writer = function.local("w");
        let lines = self.argument_lines(function, &writer);
        if lines.is_empty() {
            return self.text.line("orb::ObjectRef::send(&self.0, &OP, |_| {})");
        }
        self.text
            .open(format!("orb::ObjectRef::send(&self.0, &OP, |{writer}| {{"));
        for line in &lines {
            self.text.statement(&format!("{line};"));
        }
        self.text.close("})");
    }

    /// The values of `inout` parameters are written back once the call is over:
    /// until then the argument closure borrows them.
    fn call_with_inouts(&mut self, function: &Function, outputs: &[Output], error: &str) {
        let arguments = self.arguments(function);
        let mut taken = function.taken();
        for output in outputs {
            taken.insert(&output.name);
        }
        let reader = names::fresh("r", &mut taken);
        let outcome = names::fresh("outcome", &mut taken);
        let results = names::fresh("results", &mut taken);
        let mut inouts: Vec<(String, String)> = Vec::new();
        let mut values = Vec::new();
        let mut read = Vec::new();
        for output in outputs {
            let bare = names::stem(&output.name);
            let name = if output.inout {
                let new = names::fresh(&format!("new_{bare}"), &mut taken);
                inouts.push((output.name.clone(), new.clone()));
                new
            } else {
                values.push(output.name.clone());
                output.name.clone()
            };
            read.push(Output {
                name,
                ty: output.ty.clone(),
                inout: false,
            });
        }
        let mut lines = self.read_lines(&read, &reader);
        let gives = match values.as_slice() {
            [] => "()",
            [only] => only,
            _ => &results,
        };
        let mut pattern = inouts
            .iter()
            .map(|(_, new)| new.clone())
            .collect::<Vec<_>>()
            .join(", ");
        if !values.is_empty() {
            pattern = format!("{gives}, {pattern}");
        }
        if pattern.find(',').is_some() {
            pattern = format!("({pattern})");
        }
        if values.len() > 1 {
            let path = function.value(self.plan, &self.module);
            let before = format!("let {results} = ");
            lines.append(&mut literal(&path, &values, &before, ";"));
        }
        lines.push(format!("$Ok({pattern})"));
        let closure = Argument::Closure(format!("|{reader}|"), lines);
        let head = format!("let {outcome}: $Result<_, {error}> =");
        let deeper = !self.text.fits(&format!("{head} orb::ObjectRef::call("));
        if deeper {
            self.text.open(head);
            self.invoke("orb::ObjectRef::call", arguments, closure, ";");
            self.text.outwards();
        } else {
            self.invoke(
                &format!("{head} orb::ObjectRef::call"),
                arguments,
                closure,
                ";",
            );
        }
        self.text.line(format!("let {pattern} = {outcome}?;"));
        for (inout, new) in &inouts {
            self.text.line(format!("*{inout} = {new};"));
        }
        self.text.line(format!("$Ok({gives})"));
    }

    fn stub_into(&mut self, function: &Function, method: &str) {
        let Some(ty) = function.only_output() else {
            return;
        };
        let out = function.local("out");
        let reader = function.local("r");
        self.text.blank();
        let name = function.name.strip_prefix("r#").unwrap_or(&function.name);
        self.text.raw(&format!(
            "/// Like `{name}`, reading the result into a value that is there already."
        ));
        self.text
            .raw("/// After an error that value is unspecified.");
        // Few calls are made in this form: only programs that do compile it.
        self.text.raw("#[inline]");
        let error = function.error(self.plan, &self.module);
        let mut parameters = self.stub_parameters(function);
        parameters.push(format!("{out}: &mut {}", self.rust(&ty)));
        let tail = format!(" -> $Result<(), {error}> {{");
        let head = self.stub_head(function, method, false);
        self.text.signature(&head, &parameters, &tail);
        let interface = &self.plan.model[function.owner].repository_id;
        operation_static(&mut self.text, interface, function);
        self.untyped(&function.sent(), false);
        let arguments = self.arguments(function);
        let results = if self.plan.is_plain(&ty) {
            Argument::Plain(format!(
                "|{reader}| orb::Decode::decode_into({out}, {reader})"
            ))
        } else {
            let call = self.functions.decode(self.plan, &ty, &reader);
            let lines = vec![format!("*{out} = {call}?;"), "$Ok(())".to_owned()];
            Argument::Closure(format!("|{reader}|"), lines)
        };
        self.invoke("orb::ObjectRef::call", arguments, results, "");
        self.text.close("}");
    }
}

/// The static that names the operation of a stub, and the interface that declares
/// it: metrics are labelled with both.
pub(crate) fn operation_static(text: &mut Text, interface: &str, function: &Function) {
    let constructor = if function.oneway { "oneway_of" } else { "of" };
    let end = match function.idempotent {
        true => ".idempotent();",
        false => ";",
    };
    text.assign_call(
        "static OP: orb::Operation",
        &format!("orb::Operation::{constructor}"),
        &[quoted(interface), quoted(&function.wire)],
        end,
    );
}
