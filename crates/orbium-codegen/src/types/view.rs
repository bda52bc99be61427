// SPDX-License-Identifier: MIT OR Apache-2.0
//! Views: `in` parameters that servants read in place, and the structs of these.

use orbium_idl_model::{
    Annotation, DefId, DefSet, Definition, DefinitionKind, Direction, InterfaceKind, Struct, Type,
};

use crate::emit::Emitter;
use crate::interface::operations::{Function, Parameter};
use crate::names;
use crate::plan::Plan;

/// The structs with views that the view of a type needs, and the obstacle if it cannot have one.
#[derive(Default)]
struct Parts {
    structs: DefSet,
    ordered: Vec<DefId>,
    obstacle: Option<String>,
}

impl Plan<'_> {
    /// Whether the servant of an operation, or of writing an attribute, gets views: its
    /// annotation decides, and the options if there is none.
    pub(crate) fn has_views(&self, definition: &Definition) -> bool {
        let owner = self.owner(definition);
        if self.reply_handlers.contains(owner) {
            return false;
        }
        if self.interface_kind(owner) != Some(InterfaceKind::Plain) || self.has_async_servant(owner)
        {
            return false;
        }
        let said = definition.asks_for("view");
        said.unwrap_or_else(|| self.options.views(&definition.path))
    }

    /// Names the views of structs, after all other names.
    pub(crate) fn name_views(&mut self, definition: &Definition) {
        let remote = self.interface_kind(definition.id) == Some(InterfaceKind::Plain);
        if !remote || !self.is_mapped(definition.id) || self.is_external(definition.id) {
            return;
        }
        for &feature in &self.contents(self.model.contents(definition.id)) {
            for function in Function::of(self, feature) {
                for parameter in &function.parameters {
                    if self.is_view(&function, parameter) {
                        self.name_parts(&parameter.ty);
                    }
                }
            }
        }
    }

    fn name_parts(&mut self, ty: &Type) {
        for id in self.parts(ty).ordered {
            if self.views.contains(id) {
                continue;
            }
            let module = self.place_of(id).module.clone();
            let wanted = format!("{}Ref", names::camel(&self.model[id].name));
            let name = self.fresh(&module, &wanted);
            self.views.insert(id, name);
        }
    }

    /// Whether the servant gets a view of a parameter.
    pub(crate) fn is_view(&self, function: &Function, parameter: &Parameter) -> bool {
        function.views
            && parameter.direction == Direction::In
            && self.owns_parts(&parameter.ty)
            && self.parts(&parameter.ty).obstacle.is_none()
    }

    /// The reason why a parameter stays owned though views were requested.
    fn obstacle(&self, parameter: &Parameter) -> Option<String> {
        if parameter.direction != Direction::In || !self.owns_parts(&parameter.ty) {
            return None;
        }
        self.parts(&parameter.ty).obstacle
    }

    /// Whether an `in` parameter of a type contains more than text, or numbers in sequence, which
    /// are borrowed in any case.
    fn owns_parts(&self, ty: &Type) -> bool {
        match self.model.resolve_alias(ty) {
            Type::Sequence { element, .. } => !self.is_fixed(element),
            Type::Array { .. } | Type::Named(_) => self.owns_memory(ty),
            _ => false,
        }
    }

    fn parts(&self, ty: &Type) -> Parts {
        let mut parts = Parts::default();
        self.collect(ty, &mut parts);
        parts
    }

    fn collect(&self, ty: &Type, parts: &mut Parts) {
        let resolved = self.model.resolve_alias(ty);
        if parts.obstacle.is_some() || self.is_fixed(resolved) {
            return;
        }
        let obstacle = match resolved {
            Type::String(_) | Type::WString(_) | Type::WChar | Type::Fixed { .. } => return,
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                return self.collect(element, parts);
            }
            Type::Any => "an any".to_owned(),
            Type::TypeCode => "a TypeCode".to_owned(),
            Type::Named(id) => match &self.model[*id].kind {
                DefinitionKind::Struct(structure) if !self.is_external(*id) => {
                    return self.collect_members(*id, structure, parts);
                }
                DefinitionKind::Struct(_) => {
                    format!("`{}`, which is elsewhere", self.model[*id].scoped_name())
                }
                kind => format!("the {} `{}`", kind.noun(), self.model[*id].scoped_name()),
            },
            _ => "an object reference".to_owned(),
        };
        parts.obstacle = Some(obstacle);
    }

    fn collect_members(&self, id: DefId, structure: &Struct, parts: &mut Parts) {
        if !parts.structs.insert(id) {
            return;
        }
        parts.ordered.push(id);
        for member in &structure.members {
            self.collect(&member.ty, parts);
        }
    }

    /// The view of a type, from a module, with that lifetime or an elided one.
    pub(crate) fn view(&self, ty: &Type, from: &[String], lifetime: &str) -> String {
        let and = match lifetime {
            "" => "&".to_owned(),
            lifetime => format!("&{lifetime} "),
        };
        match self.model.resolve_alias(ty) {
            _ if self.is_fixed(ty) => self.rust(ty, from),
            Type::String(_) | Type::WString(_) => format!("{and}str"),
            Type::Sequence { element, .. } => {
                format!("{and}[{}]", self.view(element, from, lifetime))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let inner = match dimensions.get(1..) {
                    None | Some([]) => self.view(element, from, lifetime),
                    Some(inner) => {
                        let dimensions = inner.to_vec();
                        let element = element.clone();
                        let inner = Type::Array {
                            element,
                            dimensions,
                        };
                        self.view(&inner, from, lifetime)
                    }
                };
                let count = dimensions.first().copied().unwrap_or_default();
                format!("{and}[{inner}; {count}]")
            }
            Type::Named(id) => match self.views.get(*id) {
                Some(name) => {
                    let path = self.path(from, &self.place_of(*id).module, name);
                    let lifetime = if lifetime.is_empty() { "'_" } else { lifetime };
                    format!("{path}<{lifetime}>")
                }
                None => self.rust(ty, from),
            },
            _ => self.rust(ty, from),
        }
    }

    /// The type of a view: the type behind the reference that stubs take.
    pub(crate) fn viewed(&self, ty: &Type, from: &[String]) -> String {
        match self.model.resolve_alias(ty) {
            Type::Sequence { element, .. } => format!("[{}]", self.rust(element, from)),
            _ => self.rust(ty, from),
        }
    }

    /// Whether `@view` of an operation or attribute has an effect: a parameter becomes a view, or
    /// is reported separately, or no view is requested.
    pub(crate) fn view_takes_effect(&self, annotation: &Annotation, of: &Definition) -> bool {
        if annotation.wanted() == Some(false) {
            return true;
        }
        let functions = Function::of(self, of);
        let mut sent = functions.iter().flat_map(|function| &function.parameters);
        let remote = self.interface_kind(self.owner(of)) == Some(InterfaceKind::Plain);
        remote && sent.any(|it| it.direction == Direction::In && self.owns_parts(&it.ty))
    }

    /// Parameters that stay owned though an annotation requests views, with the reasons.
    pub(crate) fn owned_parameters(&self, definition: &Definition) -> Vec<String> {
        let said = definition.asks_for("view");
        let mut messages = Vec::new();
        if said != Some(true) || !self.has_views(definition) {
            return messages;
        }
        for function in Function::of(self, definition) {
            for parameter in &function.parameters {
                if let Some(obstacle) = self.obstacle(parameter) {
                    let name = definition.scoped_name();
                    messages.push(format!(
                        "parameter `{}` of `{name}` is no view: it holds {obstacle}",
                        parameter.name
                    ));
                }
            }
        }
        messages
    }
}

impl Emitter<'_, '_> {
    /// The view of a struct, if one is needed.
    pub(crate) fn struct_view(&mut self, definition: &Definition, structure: &Struct) {
        let Some(view) = self.plan.views.get(definition.id).cloned() else {
            return;
        };
        let recursive = if self.plan.is_recursive(definition.id) {
            ", recursive"
        } else {
            ""
        };
        let name = self.name(definition);
        self.text.blank();
        self.text.open("orb::idl_view! {");
        self.doc(&format!("[`{name}`], read in place."));
        self.text
            .open(format!("pub struct {view}<'a>: {name}{recursive} {{"));
        for (member, field) in structure
            .members
            .iter()
            .zip(names::fields(&structure.members))
        {
            let view = self.plan.view(&member.ty, &self.module, "'a");
            let line = match self.plan.codec(&member.ty, &self.module) {
                Some(codec) => format!("pub {field}: {view} as {codec},"),
                None => format!("pub {field}: {view},"),
            };
            self.text.line(line);
        }
        self.text.close("}");
        self.text.close("}");
    }

    /// `@view name: Entry | EntryRef<'_>`.
    pub(crate) fn view_parameter(&self, parameter: &Parameter) -> String {
        let (name, ty) = (&parameter.name, &parameter.ty);
        let viewed = self.plan.viewed(ty, &self.module);
        let view = self.plan.view(ty, &self.module, "");
        match self.plan.codec(ty, &self.module) {
            Some(codec) => format!("@view {name}: {viewed} as {codec} | {view}"),
            None => format!("@view {name}: {viewed} | {view}"),
        }
    }
}
