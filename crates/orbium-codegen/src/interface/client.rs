// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces: one declaration, from which a macro of the runtime generates the typed reference,
//! the trait of its servants and the skeleton.

use orbium_idl_model::{DefId, Definition, Direction, Interface};

use crate::emit::Emitter;
use crate::interface::operations::{Function, Parameter};
use crate::names::{self, NameSet};
use crate::plan::Plan;
use crate::plan::is_feature;
use crate::types::data::quoted;

/// A name for the context parameter of a call.
pub(crate) fn context_parameter(function: &Function) -> String {
    let mut parameters = NameSet::new();
    parameters.extend(function.sent().iter().map(|it| it.name.clone()));
    names::fresh("context", &mut parameters)
}

impl Emitter<'_, '_> {
    pub(crate) fn interface(&mut self, definition: &Definition, interface: &Interface) {
        self.results(definition);
        self.asynchronous_results(definition);
        self.replies(definition);
        self.deferred_results(definition);
        self.asynchronous_stubs.clear();
        let bases = self.plan.model.all_bases(definition.id);
        self.begin(definition, "idl_interface", "interface");
        self.reference(definition, &bases);
        let mut taken = NameSet::new();
        if !interface.forward_only {
            let mut inherited = Vec::new();
            for &base in &bases {
                inherited.append(&mut self.own_functions(&self.plan.model[base]));
            }
            let own = self.own_functions(definition);
            let wires: Vec<_> = inherited
                .iter()
                .chain(&own)
                .map(|it| it.wire.as_str())
                .collect();
            self.operation_table(&wires);
            self.servant_trait(definition);
            for function in inherited.iter().chain(&own) {
                taken.insert(function.name.clone());
            }
            if !own.is_empty() {
                self.text.blank();
            }
            for function in &own {
                self.operation(function, &function.name, &mut taken);
            }
        }
        self.text.close("}");
        if !interface.forward_only {
            let stubs = std::mem::take(&mut self.asynchronous_stubs);
            let functions = self.asynchronous_functions(definition).into_iter();
            let functions: Vec<_> = functions.zip(stubs).collect();
            self.poller(definition, &functions, &mut taken);
            self.handled_stubs(definition, &functions, &mut taken);
            self.further_stubs(definition, &bases);
            self.async_servant(definition);
        }
    }

    /// `pub struct Name: FirstBase = "IDL:…";` and the list of all bases.
    fn reference(&mut self, definition: &Definition, bases: &[DefId]) {
        let name = self.named(&self.name(definition), &definition.name);
        let first = match self.plan.model.bases(definition.id).first() {
            Some(first) => format!(": {}", self.plan.path_to(&self.module, *first)),
            None => String::new(),
        };
        let id = quoted(&definition.repository_id);
        self.text.line(format!("pub struct {name}{first} = {id};"));
        if !bases.is_empty() {
            let last = bases.len() - 1;
            let mut pieces = Vec::new();
            for (i, base) in bases.iter().enumerate() {
                let start = if i == 0 { "bases [" } else { "" };
                let end = if i == last { "];" } else { "," };
                let path = self.plan.path_to(&self.module, *base);
                pieces.push(format!("{start}{path}{end}"));
            }
            self.text.filled(&pieces);
        }
    }

    fn servant_trait(&mut self, definition: &Definition) {
        let servant = &self.plan.interface(definition.id).servant;
        let mut supertraits = Vec::new();
        for base in self.plan.model.bases(definition.id) {
            supertraits.push(self.servant_path(*base));
        }
        let supertraits = match supertraits.as_slice() {
            [] => String::new(),
            all => format!(": {}", all.join(", ")),
        };
        let bodies = if self.plan.options.has_default_bodies() {
            " = not_implemented"
        } else {
            ""
        };
        self.text
            .line(format!("pub trait {servant}{supertraits}{bodies};"));
    }

    /// The functions that an interface itself declares.
    pub(crate) fn own_functions(&self, definition: &Definition) -> Vec<Function> {
        let mut functions = Vec::new();
        let contents = self.plan.model.contents(definition.id);
        for &feature in &self.plan.contents(contents) {
            if is_feature(feature) {
                functions.append(&mut Function::of(self.plan, feature));
            }
        }
        functions
    }

    /// Stubs of operations that the first base does not have: those of further bases.
    fn further_stubs(&mut self, definition: &Definition, bases: &[DefId]) {
        let Some(&first) = self.plan.model.bases(definition.id).first() else {
            return;
        };
        let mut reached = self.plan.model.all_bases(first);
        reached.push(first);
        // Two bases may have the same name in different case.
        let (mut seen, mut taken) = (NameSet::new(), NameSet::new());
        for function in self.own_functions(definition) {
            seen.insert(function.name.clone());
        }
        for id in &reached {
            for function in self.own_functions(&self.plan.model[*id]) {
                seen.insert(function.name.clone());
            }
        }
        for &feature in &self.plan.features(definition.id) {
            for function in Function::of(self.plan, feature) {
                taken.insert(function.name.clone());
            }
        }
        for &base in bases {
            let functions = self.own_functions(&self.plan.model[base]);
            if reached.contains(&base) || functions.is_empty() {
                continue;
            }
            let name = self.name(definition);
            let id = quoted(&self.plan.model[base].repository_id);
            self.text.blank();
            self.text.open("orb::idl_stubs! {");
            self.text.line(format!("{name}: {id};"));
            for function in &functions {
                let method = if seen.insert(function.name.clone()) {
                    function.name.clone()
                } else {
                    names::fresh(&function.name, &mut taken)
                };
                self.operation(function, &method, &mut taken);
            }
            self.text.close("}");
        }
    }

    /// One operation: its comment, and its signature.
    fn operation(&mut self, function: &Function, method: &str, taken: &mut NameSet) {
        if function.doc.as_deref().is_some_and(|doc| !doc.is_empty()) {
            self.text.blank();
            self.comment(function.doc.as_deref());
        }
        let kind = match (function.oneway, function.idempotent) {
            (true, _) => "oneway",
            (_, true) => "idempotent",
            _ => "fn",
        };
        let mut pieces = self.declared_parameters(function, &format!("{kind} {method}"));
        pieces.push(format!("-> {}", self.outcome(function)));
        let wire = format!("= {}", quoted(&function.wire));
        let forms = self.forms(function, method, taken);
        match forms.as_slice() {
            [] => pieces.push(format!("{wire};")),
            forms => {
                pieces.push(format!("{wire} {{"));
                pieces.extend_from_slice(forms);
                if let Some(last) = pieces.last_mut() {
                    last.push_str(" };");
                }
            }
        }
        self.text.filled(&pieces);
    }

    /// `head(a: i32,`, `b: &str)`: a declared operation, without its result.
    pub(crate) fn declared_parameters(&self, function: &Function, head: &str) -> Vec<String> {
        let sent = function.sent();
        if sent.is_empty() {
            return vec![format!("{head}()")];
        }
        let mut pieces = Vec::new();
        for (i, parameter) in sent.iter().enumerate() {
            let start = match i {
                0 => format!("{head}("),
                _ => String::new(),
            };
            let end = if i + 1 == sent.len() { ")" } else { "," };
            let shown = if self.plan.is_view(function, parameter) {
                self.view_parameter(parameter)
            } else {
                self.parameter(parameter)
            };
            pieces.push(format!("{start}{shown}{end}"));
        }
        pieces
    }

    /// `name: &str as orb::BoundedString<8>`.
    fn parameter(&self, parameter: &Parameter) -> String {
        let (name, ty) = (&parameter.name, &parameter.ty);
        let lent = self.plan.parameter(ty, &self.module, "");
        if parameter.direction == Direction::InOut {
            let marshalled = self.plan.marshalled(ty, &self.module);
            return format!("@inout {name}: {marshalled} | {lent}");
        }
        let flag = if self.plan.is_object(ty) {
            "@object "
        } else {
            ""
        };
        match self.plan.parameter_codec(ty, &self.module) {
            Some(codec) => format!("{flag}{name}: {lent} as {codec}"),
            None => format!("{flag}{name}: {lent}"),
        }
    }

    /// `Result<String as orb::WideString, GoneError>`: the outputs except `inout` parameters.
    fn outcome(&self, function: &Function) -> String {
        let value = match function.only_output() {
            Some(only) => self.plan.marshalled(&only, &self.module),
            None => function.value(self.plan, &self.module),
        };
        match function.error(self.plan, &self.module) {
            default if default == "orb::SystemException" => format!("Result<{value}>"),
            error => format!("Result<{value}, {error}>"),
        }
    }

    /// `context 0 greet_in_context(context) ["user", "sys*"],`: the list of context strings is
    /// sent, and is only non-empty in this form, which the asynchronous stub has too.
    fn context_form(
        &mut self,
        function: &Function,
        method: &str,
        taken: &mut NameSet,
    ) -> Option<String> {
        if function.context.is_empty() {
            return None;
        }
        let form = names::fresh(&format!("{}_in_context", names::stem(method)), taken);
        let parameter = context_parameter(function);
        let names: Vec<_> = function.context.iter().map(|it| quoted(it)).collect();
        let mut asynchronous = String::new();
        if self.has_asynchronous_form(function) {
            let form = format!("{}_async_in_context", names::stem(method));
            let form = names::fresh(&form, taken);
            asynchronous = format!(" async {form}");
            if let Some(stub) = self.asynchronous_stubs.last_mut() {
                stub.in_context = Some(form);
            }
        }
        Some(format!(
            "context 0 {form}({parameter}) [{}]{asynchronous},",
            names.join(", ")
        ))
    }

    /// Further forms of an operation, and properties that its signature does not contain.
    fn forms(&mut self, function: &Function, method: &str, taken: &mut NameSet) -> Vec<String> {
        let mut forms = Vec::new();
        let reusable = function.only_output();
        if reusable.is_some_and(|ty| self.plan.owns_memory(&ty))
            && !function.wire.starts_with("_get_")
        {
            let into = names::fresh(&format!("{}_into", names::stem(method)), taken);
            forms.push(format!("into {into},"));
        }
        let asynchronous = self.asynchronous_form(function, method, taken);
        if !asynchronous.is_empty() {
            forms.push(asynchronous);
        }
        if function.slot {
            forms.push(format!("slot {},", self.plan.slot(function, &self.module)));
        }
        if function.deferred && !function.slot {
            let value = self
                .plan
                .deferred_value(function, &self.module, Plan::marshalled);
            forms.push(format!("deferred {value},"));
        }
        forms.extend(self.context_form(function, method, taken));
        let outputs = function.outputs();
        if outputs.iter().any(|output| output.inout) {
            let (mut all, mut gives) = (Vec::new(), Vec::new());
            for output in &outputs {
                let ty = self.plan.marshalled(&output.ty, &self.module);
                all.push(format!("{}: {ty}", output.name));
                if !output.inout {
                    gives.push(output.name.clone());
                }
            }
            let gives = match gives.as_slice() {
                [] => "()".to_owned(),
                [only] => only.clone(),
                several => {
                    let path = function.value(self.plan, &self.module);
                    format!("({path} {{ {} }})", several.join(", "))
                }
            };
            forms.push(format!("out({})", all.join(", ")));
            forms.push(format!("gives {gives},"));
        }
        forms
    }
}
