// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous servants: a trait of `async fn`s, and the servant by which the runtime's
//! `AsyncServant` serves an interface with an implementation of it.

use orbium_idl_model::{DefId, Definition, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::interface::operations::{Function, Parameter};
use crate::plan::Plan;

/// Lints that generated items may violate.
const ALLOWED: &str = "#[allow(clippy::all, clippy::pedantic, dead_code, unused_variables)]";

impl Plan<'_> {
    fn asks_for_async_servant(&self, id: DefId) -> bool {
        self.interface_kind(id) == Some(InterfaceKind::Plain)
            && (self.options.serves_asynchronously(&self.model[id].path)
                || self.is_base_of_reply_handlers(id))
    }

    /// Whether this is the runtime's `Messaging::ReplyHandler`, which has the trait.
    fn is_base_of_reply_handlers(&self, id: DefId) -> bool {
        let definition = &self.model[id];
        self.options.has_handlers()
            && definition.scoped_name() == "::Messaging::ReplyHandler"
            && self.options.external("::Messaging").is_some()
    }

    /// Whether an interface has a trait of asynchronous servants: the options name it, and all
    /// of its bases. That of reply handlers need not be named.
    pub(crate) fn has_async_servant(&self, id: DefId) -> bool {
        self.asks_for_async_servant(id)
            && (self.model.all_bases(id).iter()).all(|base| self.asks_for_async_servant(*base))
    }

    /// The reason why an interface that the options name has no such trait, if so.
    pub(crate) fn async_servant_obstacle(&self, definition: &Definition) -> Option<String> {
        if !self.asks_for_async_servant(definition.id) {
            return None;
        }
        let bases = self.model.all_bases(definition.id);
        let missing = bases
            .iter()
            .find(|base| !self.asks_for_async_servant(**base))?;
        Some(format!(
            "`{}` has no asynchronous servants: the options do not name its base `{}`",
            definition.scoped_name(),
            self.model[*missing].scoped_name()
        ))
    }

    /// The expression that copies a borrowed argument of a servant.
    fn owned(&self, parameter: &Parameter) -> String {
        let (name, ty) = (&parameter.name, &parameter.ty);
        if self.is_reference(ty) {
            return format!("{name}.cloned()");
        }
        match self.model.resolve_alias(ty) {
            Type::String(_) | Type::WString(_) => format!("{name}.to_owned()"),
            Type::Sequence { .. } => format!("{name}.to_vec()"),
            _ => format!("{name}.clone()"),
        }
    }
}

impl Emitter<'_, '_> {
    /// The path of the trait of an interface's asynchronous servants.
    fn async_servant_path(&self, id: DefId) -> Option<String> {
        let module = &self.plan.place_of(id).module;
        let name = self.plan.interface(id).async_servant.as_ref()?;
        Some(self.plan.path(&self.module, module, name))
    }

    /// The trait of an interface's asynchronous servants, if it has one, and the code that serves
    /// the interface with them.
    pub(crate) fn async_servant(&mut self, definition: &Definition) {
        let Some(name) = self.async_servant_path(definition.id) else {
            return;
        };
        let functions = self.own_functions(definition);
        self.async_trait(definition, &name, &functions);
        self.text.blank();
        self.text.line(ALLOWED);
        let servant = self.servant_path(definition.id);
        let [of, on] = ["S", "X"].map(|wanted| self.plan.unused_in(&self.module, wanted));
        let head = format!("impl<{of}: {name}, {on}: orb::Spawn> {servant}");
        let target = format!("orb::AsyncServant<{of}, {on}>");
        if functions.is_empty() {
            return self.text.line(format!("{head} for {target} {{}}"));
        }
        self.text.open_impl(&head, &target);
        for (i, function) in functions.iter().enumerate() {
            if i > 0 {
                self.text.blank();
            }
            self.served_asynchronously(&name, function);
        }
        self.text.close("}");
    }

    fn async_trait(&mut self, definition: &Definition, name: &str, functions: &[Function]) {
        let bases = self.plan.model.bases(definition.id).to_vec();
        let mut supertraits: Vec<_> = bases
            .iter()
            .filter_map(|base| self.async_servant_path(*base))
            .collect();
        let count = supertraits.len();
        if count == 0 {
            supertraits.push("$Send + $Sync + 'static".to_owned());
        }
        self.text.blank();
        let interface = self.name(definition);
        self.text.raw(&format!(
            "/// The operations of an asynchronous servant of [`{interface}`], which `AsyncServant` serves."
        ));
        self.text.line(ALLOWED);
        let head = format!("pub trait {name}: {}", supertraits.join(" + "));
        if functions.is_empty() {
            return self.text.line(format!("{head} {{}}"));
        }
        self.trait_head(&head, count);
        for function in functions {
            self.comment(function.doc.as_deref());
            self.async_method(function);
        }
        self.text.close("}");
    }

    /// `fn op(&self, call: orb::AsyncCall, …) -> impl orb::Future<…> + Send`, with a body if
    /// servants' methods have one.
    fn async_method(&mut self, function: &Function) {
        let mut parameters = vec![
            "&self".to_owned(),
            format!("{}: orb::AsyncCall", function.local("call")),
        ];
        for parameter in &function.sent() {
            let ty = self.rust(&parameter.ty);
            parameters.push(format!("{}: {ty}", parameter.name));
        }
        let value = self.plan.deferred_value(function, &self.module, Plan::rust);
        let error = function.error(self.plan, &self.module);
        let outcome = format!(" -> impl orb::Future<Output = $Result<{value}, {error}>> + $Send");
        let head = format!("fn {}", function.name);
        if !self.plan.options.has_default_bodies() {
            return self
                .text
                .signature(&head, &parameters, &format!("{outcome};"));
        }
        self.text
            .signature(&head, &parameters, &format!("{outcome} {{"));
        self.text
            .line("async { $Err(orb::not_implemented().into()) }");
        self.text.close("}");
    }

    /// The method of a servant that replies with the outcome of the asynchronous one.
    fn served_asynchronously(&mut self, asynchronous: &str, function: &Function) {
        let signature = self.servant_signature(function);
        self.text
            .signature(&signature.head, &signature.parameters, " {");
        let (call, reply) = (function.local("call"), function.local("reply"));
        let servant = function.local("servant");
        let properties = function.local("properties");
        let has_context = !function.context.is_empty();
        if has_context {
            self.text
                .line(format!("let {properties} = {call}.context().to_vec();"));
        }
        self.text.line(format!(
            "let {call} = orb::AsyncCall::new({call}.object_id(), {call}.deadline());"
        ));
        if has_context {
            self.text
                .line(format!("let {call} = {call}.in_context({properties});"));
        }
        let mut arguments = vec![format!("&*{servant}"), call];
        for parameter in &function.sent() {
            let name = &parameter.name;
            if !self.plan.by_value(&parameter.ty) {
                let owned = self.plan.owned(parameter);
                self.text.line(format!("let {name} = {owned};"));
            }
            arguments.push(name.clone());
        }
        self.text
            .open(format!("self.run({reply}, |{servant}| async move {{"));
        let method = format!("{asynchronous}::{}", function.name);
        self.text
            .statement(&format!("{method}({}).await", arguments.join(", ")));
        self.text.close("});");
        self.text.close("}");
    }
}
