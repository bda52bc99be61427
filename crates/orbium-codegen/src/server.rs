// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant traits, and the skeletons that lead requests to them.

use orbium_idl::model::{DefId, Definition, Direction, NameSet, Type};

use crate::codec;
use crate::emit::Emitter;
use crate::names;
use crate::operations::{Function, Output};
use crate::text::Argument;

/// The parts of a method's signature.
pub(crate) struct Signature {
    /// `fn name`.
    pub(crate) head: String,
    pub(crate) parameters: Vec<String>,
    /// The type returned.
    pub(crate) result: String,
}

impl Emitter<'_, '_> {
    /// Everything on the side of the servant.
    pub(crate) fn servant(&mut self, definition: &Definition, functions: &[Function]) {
        self.servant_trait(definition, functions);
        self.operation_table(definition, functions);
        self.skeleton(definition, functions);
    }

    pub(crate) fn servant_path(&self, id: DefId) -> String {
        let module = &self.plan.place_of(id).module;
        self.plan
            .path(&self.module, module, &self.plan.interface(id).servant)
    }

    fn servant_trait(&mut self, definition: &Definition, functions: &[Function]) {
        let id = definition.id;
        let servant = self.plan.interface(id).servant.clone();
        let bases = self.plan.model.bases(id);
        let supertraits = match bases {
            [] => "$Send + $Sync + 'static".to_owned(),
            bases => bases
                .iter()
                .map(|base| self.servant_path(*base))
                .collect::<Vec<_>>()
                .join(" + "),
        };
        let mut own = Vec::new();
        for function in functions {
            if function.owner == id {
                own.push(function);
            }
        }
        self.text.blank();
        let shown = definition.path.join("::");
        self.text.raw(&format!(
            "/// What a servant of IDL interface `{shown}` does."
        ));
        let head = format!("pub trait {servant}: {supertraits}");
        if own.is_empty() && self.text.fits(&format!("{head} {{}}")) {
            self.text.line(format!("{head} {{}}"));
        } else {
            self.trait_head(&head, bases.len());
            for function in &own {
                self.text.blank();
                self.doc(&function.full_doc(self.plan));
                if self.plan.options.has_default_bodies() {
                    self.method_signature(function, " {");
                    self.default_body(function);
                } else {
                    self.method_signature(function, ";");
                }
            }
            self.text.close("}");
        }
        self.text.blank();
        let t = self.plan.type_parameter(&self.module, "T");
        let head = format!("impl<{t}: {servant} + ?$Sized> {servant}");
        let target = format!("orb::Arc<{t}>");
        let empty = format!("{head} for {target} {{}}");
        if own.is_empty() && self.text.fits(&empty) {
            return self.text.line(empty);
        }
        self.text.open_impl(&head, &target);
        for function in &own {
            self.text.blank();
            self.method_signature(function, " {");
            let mut arguments = vec!["&**self".to_owned()];
            arguments.extend(function.servant_arguments());
            let arguments = Argument::plain(&arguments);
            self.text
                .call(&format!("{servant}::{}", function.name), &arguments, "");
            self.text.close("}");
        }
        self.text.close("}");
    }

    /// The body of an operation that a servant does not have: NO_IMPLEMENT.
    fn default_body(&mut self, function: &Function) {
        let unused = function.servant_arguments();
        let all = format!("let _ = ({});", unused.join(", "));
        if unused.len() > 1 && all.len() <= 60 {
            self.text.line(all);
        } else {
            for name in &unused {
                self.text.line(format!("let _ = {name};"));
            }
        }
        let error = function.error(self.plan, &self.module);
        self.text.line(match error.as_str() {
            "orb::SystemException" => "$Err(orb::not_implemented())",
            _ => "$Err($From::from(orb::not_implemented()))",
        });
        self.text.close("}");
    }

    /// The head of a trait; too many supertraits go on lines of their own.
    pub(crate) fn trait_head(&mut self, head: &str, bases: usize) {
        if bases < 2 || self.text.fits(&format!("{head} {{")) {
            return self.text.open(format!("{head} {{"));
        }
        let (name, supertraits) = head.split_once(": ").unwrap_or((head, ""));
        self.text.line(format!("{name}:"));
        self.text.inwards();
        if self.text.fits(supertraits) {
            self.text.line(supertraits);
        } else {
            let (mut rest, mut plus) = (supertraits, "");
            while let Some((base, others)) = rest.split_once(" + ") {
                self.text.line(format!("{plus}{base}"));
                (rest, plus) = (others, "+ ");
            }
            self.text.line(format!("{plus}{rest}"));
        }
        self.text.outwards();
        self.text.open("{");
    }

    /// The signature of a servant's method.
    fn method_signature(&mut self, function: &Function, end: &str) {
        let Signature {
            head,
            parameters,
            result,
        } = self.servant_signature(function);
        self.text
            .signature(&head, &parameters, &format!(" -> {result}{end}"));
    }

    /// The parts of the signature of a servant's method.
    pub(crate) fn servant_signature(&self, function: &Function) -> Signature {
        let mut parameters = vec![
            "&self".to_owned(),
            format!("{}: &orb::Call<'_>", function.local("call")),
        ];
        for parameter in &function.sent() {
            let ty = match parameter.direction {
                Direction::InOut if !function.slot => format!("&mut {}", self.rust(&parameter.ty)),
                _ => self.plan.parameter(&parameter.ty, &self.module, ""),
            };
            parameters.push(format!("{}: {ty}", parameter.name));
        }
        let mut value = function.value(self.plan, &self.module);
        if function.slot {
            let ty = self.plan.slot(function, &self.module);
            parameters.push(format!("{}: {ty}", function.local("reply")));
            "orb::Sent".clone_into(&mut value);
        }
        let error = function.error(self.plan, &self.module);
        Signature {
            head: format!("fn {}", function.name),
            parameters,
            result: format!("$Result<{value}, {error}>"),
        }
    }

    fn skeleton(&mut self, definition: &Definition, functions: &[Function]) {
        let name = self.name(definition);
        let names = self.plan.interface(definition.id).clone();
        let (servant, skeleton) = (names.servant, names.skeleton);
        self.text.blank();
        let shown = definition.path.join("::");
        self.text.raw(&format!(
            "/// Leads requests to a servant of IDL interface `{shown}`."
        ));
        let t = self.plan.type_parameter(&self.module, "S");
        self.text.line("#[doc(hidden)]");
        self.text.line(format!("pub struct {skeleton}<{t}>({t});"));
        self.text.blank();
        self.text.open_impl(
            &format!("impl<{t}: {servant}> orb::Servant"),
            &format!("{skeleton}<{t}>"),
        );
        self.text.open("fn repository_id(&self) -> &'static str {");
        self.text
            .line(format!("<{name} as orb::Interface>::REPOSITORY_ID"));
        self.text.close("}");
        self.text.blank();
        self.text
            .open("fn is_a(&self, repository_id: &str) -> bool {");
        let own = format!("repository_id == <{name} as orb::Interface>::REPOSITORY_ID");
        if self.plan.model.bases(definition.id).is_empty() {
            self.text.line(own);
        } else {
            self.text.open(format!("if {own} {{"));
            self.text.line("return true;");
            self.text.close("}");
            self.text.line(format!(
                "<{name} as orb::Interface>::BASES.contains(&repository_id)"
            ));
        }
        self.text.close("}");
        self.text.blank();
        if !functions.is_empty() {
            self.text
                .open("fn operations(&self) -> $Option<&'static orb::OperationTable> {");
            self.text.line(format!("$Some(&{})", names.operations));
            self.text.close("}");
            self.text.blank();
        }
        self.dispatch(&names.operations, functions);
        self.text.close("}");
        self.text.blank();
        self.text
            .open_impl(&format!("impl<{t}: {servant}> orb::ServedBy<{t}>"), &name);
        self.text.line(format!("type Skeleton = {skeleton}<{t}>;"));
        self.text.blank();
        self.text
            .open(format!("fn skeleton(servant: {t}) -> {skeleton}<{t}> {{"));
        self.text.line(format!("{skeleton}(servant)"));
        self.text.close("}");
        self.text.close("}");
    }

    fn dispatch(&mut self, operations: &str, functions: &[Function]) {
        let mut reads = false;
        for function in functions {
            reads |= !function.sent().is_empty();
        }
        let (call, arguments, reply) = match (functions.is_empty(), reads) {
            (true, _) => ("_", "_", "_"),
            (false, false) => ("call", "_", "reply"),
            (false, true) => ("call", "arguments", "reply"),
        };
        let parameters = [
            "&'a self".to_owned(),
            format!("{call}: &'a orb::Call<'a>"),
            format!("{arguments}: &mut orb::CdrReader<'a>"),
            format!("{reply}: &mut orb::UntypedReply<'_>"),
        ];
        self.text.signature(
            "fn dispatch<'a>",
            &parameters,
            " -> $Result<(), orb::DispatchError> {",
        );
        if functions.is_empty() {
            self.text.line("$Err(orb::unknown_operation())");
        } else {
            let start = self.text.lines();
            self.text
                .open(format!("match {operations}.find(call.operation()) {{"));
            for (index, function) in functions.iter().enumerate() {
                self.text
                    .open(format!("$Some({}) => {{", codec::number(index as u64)));
                self.arm_of(function);
                self.text.close("}");
            }
            self.functions.hidden_by = NameSet::default();
            self.text.line("_ => $Err(orb::unknown_operation()),");
            self.text.close("}");
            if self.text.lines() - start > 95 {
                self.allows.insert("clippy::too_many_lines");
            }
        }
        self.text.close("}");
    }

    /// What happens for one operation: everything is decoded before the servant
    /// is called.
    fn arm_of(&mut self, function: &Function) {
        let mut taken = NameSet::default();
        for name in ["call", "arguments", "reply", "self"] {
            taken.insert(name);
        }
        self.functions.hidden_by = function.taken();
        let mut passed = vec!["&self.0".to_owned(), "call".to_owned()];
        let mut inouts: Vec<(String, String)> = Vec::new();
        for parameter in &function.sent() {
            let local = names::fresh(&parameter.name, &mut taken);
            if parameter.direction == Direction::InOut && !function.slot {
                let ty = self.rust(&parameter.ty);
                let call = self.functions.decode(self.plan, &parameter.ty, "arguments");
                self.text
                    .assign(&format!("let mut {local}: {ty}"), &format!("{call}?"));
                passed.push(format!("&mut {local}"));
                inouts.push((parameter.name.clone(), local));
            } else {
                self.argument(&parameter.ty, &local);
                passed.push(self.pass(&parameter.ty, &local));
            }
        }
        let called = format!("{}::{}", self.servant_path(function.owner), function.name);
        if function.slot {
            let outcome = names::fresh("outcome", &mut taken);
            passed.push("reply.slot()".to_owned());
            self.text
                .assign_call(&format!("let {outcome}"), &called, &passed, ";");
            return self.text.line(format!("reply.sent({outcome})"));
        }
        let outputs = function.outputs();
        let gives = outputs.iter().any(|output| !output.inout);
        let value = names::fresh("value", &mut taken);
        let writer = names::fresh("writer", &mut taken);
        let lines = self.answer(function, &outputs, &value, &writer, &inouts);
        if function.raises.is_empty() {
            if gives {
                self.text
                    .assign_call(&format!("let {value}"), &called, &passed, "?;");
            } else {
                self.text.call(&called, &Argument::plain(&passed), "?;");
            }
            return self.reply("", &lines, &writer, "");
        }
        let outcome = names::fresh("outcome", &mut taken);
        let error = names::fresh("error", &mut taken);
        self.text
            .assign_call(&format!("let {outcome}"), &called, &passed, ";");
        self.text.open(format!("match {outcome} {{"));
        let pattern = if gives { value } else { "()".to_owned() };
        self.reply(&format!("$Ok({pattern}) => "), &lines, &writer, ",");
        self.text
            .line(format!("$Err({error}) => reply.raise(&{error}),"));
        self.text.close("}");
    }

    /// Reads an `in` argument, borrowed from the request where that can be.
    fn argument(&mut self, ty: &Type, local: &str) {
        let resolved = self.plan.model.resolve_alias(ty).clone();
        match &resolved {
            Type::String(_) => self
                .text
                .line(format!("let {local} = arguments.read_str()?;")),
            Type::Sequence { element, .. } if self.plan.is_fixed(element) => {
                let element = self.rust(element);
                self.text.assign(
                    &format!("let {local}: orb::Cow<'_, [{element}]>"),
                    "arguments.read_fixed_slice()?",
                );
            }
            _ if self.plan.is_fixed(ty) => {
                let ty = self.rust(ty);
                return self
                    .text
                    .assign(&format!("let {local}: {ty}"), "arguments.read_fixed()?");
            }
            _ => {
                let rust = self.rust(ty);
                let call = self.functions.decode(self.plan, ty, "arguments");
                return self
                    .text
                    .assign(&format!("let {local}: {rust}"), &format!("{call}?"));
            }
        }
        if let Some(check) = codec::exceeds(&resolved, local) {
            self.text.open(format!("if {check} {{"));
            self.text
                .line("let error = arguments.error(orb::CdrErrorKind::BoundExceeded);");
            self.text.line("return $Err($From::from(error));");
            self.text.close("}");
        }
    }

    /// How a decoded argument is handed to the servant.
    fn pass(&self, ty: &Type, local: &str) -> String {
        if self.plan.by_value(ty) {
            local.to_owned()
        } else if self.plan.is_reference(ty) {
            format!("{local}.as_ref()")
        } else {
            format!("&{local}")
        }
    }

    /// The expressions that write what comes back.
    fn answer(
        &mut self,
        function: &Function,
        outputs: &[Output],
        value: &str,
        writer: &str,
        inouts: &[(String, String)],
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for output in outputs {
            let what = if output.inout {
                let local = inouts.iter().find(|(name, _)| *name == output.name);
                local.map_or_else(|| output.name.clone(), |(_, local)| local.clone())
            } else if function.results.is_some() {
                format!("{value}.{}", output.name)
            } else {
                value.to_owned()
            };
            lines.push(
                self.functions
                    .encode(self.plan, &output.ty, &format!("&{what}"), writer),
            );
        }
        lines
    }

    /// `reply.result(|writer| …)`, as a statement or as the body of an arm.
    fn reply(&mut self, before: &str, lines: &[String], writer: &str, after: &str) {
        let closure = match lines {
            [] => "|_| {}".to_owned(),
            [only] => format!("|{writer}| {only}"),
            _ => String::new(),
        };
        let one = format!("{before}reply.result({closure}){after}");
        if lines.len() < 2 && closure.len() <= 60 && self.text.fits(&one) {
            return self.text.line(one);
        }
        self.text
            .open(format!("{before}reply.result(|{writer}| {{"));
        lines
            .iter()
            .for_each(|line| self.text.statement(&format!("{line};")));
        self.text.close(format!("}}){after}"));
    }
}
