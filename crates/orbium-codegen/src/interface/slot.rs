// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply slots, by which servants send borrowed results.

use orbium_idl_model::{Definition, DefinitionKind, InterfaceKind, Type};

use crate::emit::Emitter;
use crate::interface::operations::{Function, Output};
use crate::names;
use crate::plan::Plan;

impl Plan<'_> {
    /// Whether the servant of an operation, or of reading an attribute, gets a reply
    /// slot: its annotation decides, and the options if there is none.
    pub(crate) fn has_slot(&self, definition: &Definition, outputs: &[Output]) -> bool {
        let owner = self.interface_kind(self.owner(definition));
        if owner != Some(InterfaceKind::Plain)
            || outputs.is_empty()
            || self.has_async_servant(self.owner(definition))
        {
            return false;
        }
        match definition.asks_for("borrow") {
            Some(wanted) => wanted,
            None => {
                let borrows = outputs.iter().any(|output| !self.by_value(&output.ty));
                borrows && self.options.borrows(&definition.path)
            }
        }
    }

    /// Names the structs of borrows, after all other names.
    pub(crate) fn name_replies(&mut self, definition: &Definition) {
        let remote = self.interface_kind(definition.id) == Some(InterfaceKind::Plain);
        if !remote || !self.is_mapped(definition.id) {
            return;
        }
        let module = self.place_of(definition.id).module.clone();
        for &feature in &self.contents(self.model.contents(definition.id)) {
            for function in Function::of(self, feature) {
                if !function.slot || self.slot_type(&function, &module).is_some() {
                    continue;
                }
                let interface = names::camel(&definition.name);
                let wanted = format!("{interface}{}Reply", names::camel(&feature.name));
                let name = self.fresh(&module, &wanted);
                self.replies.insert(feature.id, name);
            }
        }
    }

    /// The type as which the only result of a function is sent; `None` if a struct is needed: there
    /// are several, or its Rust type does not determine its encoding.
    fn slot_type(&self, function: &Function, from: &[String]) -> Option<String> {
        let outputs = function.outputs();
        let [only] = outputs.as_slice() else {
            return None;
        };
        if !self.is_plain(&only.ty) {
            return None;
        }
        Some(match self.model.resolve_alias(&only.ty) {
            Type::String(_) => "str".to_owned(),
            Type::Sequence { element, .. } => format!("[{}]", self.rust(element, from)),
            _ => self.rust(&only.ty, from),
        })
    }

    /// The type of the reply slot, from a module.
    pub(crate) fn slot(&self, function: &Function, from: &[String]) -> String {
        let results = match self.replies.get(function.feature) {
            Some(name) => {
                let path = self.path(from, function.home(self), name);
                let lifetime = if self.borrows(function) { "<'_>" } else { "" };
                format!("{path}{lifetime}")
            }
            None => self.slot_type(function, from).unwrap_or_default(),
        };
        match function.error(self, from).as_str() {
            "orb::SystemException" => format!("orb::Reply<'_, {results}>"),
            error => format!("orb::Reply<'_, {results}, {error}>"),
        }
    }

    /// Whether a struct of results has fields to borrow.
    fn borrows(&self, function: &Function) -> bool {
        let outputs = function.outputs();
        outputs.iter().any(|output| !self.by_value(&output.ty))
    }
}

impl Emitter<'_, '_> {
    /// The structs of borrows that servants of the interface's own operations send.
    pub(crate) fn replies(&mut self, definition: &Definition) {
        for &feature in &self.plan.contents(self.plan.model.contents(definition.id)) {
            let Some(name) = self.plan.replies.get(feature.id).cloned() else {
                continue;
            };
            for function in &Function::of(self.plan, feature) {
                if function.slot {
                    self.reply_struct(&name, feature, function);
                }
            }
        }
    }

    fn reply_struct(&mut self, name: &str, feature: &Definition, function: &Function) {
        let what = match feature.kind {
            DefinitionKind::Attribute(_) => "attribute",
            _ => "operation",
        };
        let (declared, elided) = if self.plan.borrows(function) {
            ("<'a>", "<'_>")
        } else {
            ("", "")
        };
        let outputs = function.outputs();
        self.text.blank();
        self.text.raw(&format!(
            "/// The results that a servant sends for the IDL {what} `{}`.",
            feature.name
        ));
        self.text.line("#[derive(Clone, Copy, Debug)]");
        self.text.open(format!("pub struct {name}{declared} {{"));
        for output in &outputs {
            let ty = self.plan.parameter(&output.ty, &self.module, "'a");
            self.text.line(format!("pub {}: {ty},", output.name));
        }
        self.text.close("}");
        self.text.blank();
        self.text
            .open(format!("impl orb::Encode for {name}{elided} {{"));
        let parameters = [
            "&'v self".to_owned(),
            "writer: &mut orb::CdrWriter<'v>".to_owned(),
        ];
        self.text.signature("fn encode<'v>", &parameters, " {");
        for output in &outputs {
            let is_borrow = !self.plan.by_value(&output.ty) && !self.plan.is_reference(&output.ty);
            let and = if is_borrow { "" } else { "&" };
            let value = format!("{and}self.{}", output.name);
            let line = match self.plan.codec(&output.ty, &self.module) {
                Some(codec) => format!("<{codec} as orb::Codec>::encode({value}, writer)"),
                None => format!("orb::Encode::encode({value}, writer)"),
            };
            self.text.statement(&format!("{line};"));
        }
        self.text.close("}");
        self.text.close("}");
    }
}
