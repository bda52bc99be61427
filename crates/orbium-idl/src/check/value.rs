// SPDX-License-Identifier: MIT OR Apache-2.0
//! Value types (CORBA 3.3 Part 1, 7.9).

use super::scope::{Entity, ScopeKind};
use super::types::Usage;
use super::{Checker, Progress, Surroundings};
use crate::diagnostic::article::with_article;
use crate::diagnostic::point_at;
use crate::model::{
    DefId, DefinitionKind, Direction, Factory, InterfaceKind, StateMember, Type, ValueBox,
    ValueKind, ValueType,
};
use crate::syntax::ast::{self, Field, Ident, ScopedName, TypeSpec};

fn word(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Plain => "stateful",
        ValueKind::Abstract => "abstract",
        ValueKind::Custom => "custom",
    }
}

impl Checker<'_> {
    pub(super) fn value(&mut self, value: &ast::Value, around: Surroundings<'_>) {
        let name = &value.name;
        let Some(body) = &value.body else {
            self.value_forward(value, around);
            return;
        };
        let bases = self.value_bases(value);
        let supports = self.supported(value, &bases);
        let id = match self.known_value(name) {
            Some(id) if self.progress(id) == Progress::Forward => {
                self.check_value_kind(id, name, value.kind);
                self.complete_forward(id, name, around);
                id
            }
            _ => self.define(name, Self::empty_value(value.kind), around),
        };
        if let DefinitionKind::ValueType(v) = &mut self.model.definition_mut(id).kind {
            v.kind = value.kind;
            v.event = value.event;
            v.truncatable = value.truncatable.is_some();
            v.bases = bases.clone();
            v.supports = supports.clone();
            v.forward_only = false;
        }
        self.set_progress(id, Progress::Open);
        let outer = self.enter(ScopeKind::Interface, name, Some(id));
        for base in &bases {
            self.inherit(*base, name);
        }
        for interface in &supports {
            self.inherit(*interface, name);
        }
        self.items(body);
        self.leave(outer);
        self.set_progress(id, Progress::Complete);
    }

    fn empty_value(kind: ValueKind) -> DefinitionKind {
        DefinitionKind::ValueType(ValueType {
            kind,
            event: false,
            truncatable: false,
            bases: Vec::new(),
            supports: Vec::new(),
            members: Vec::new(),
            factories: Vec::new(),
            contents: Vec::new(),
            forward_only: true,
        })
    }

    fn known_value(&self, name: &Ident) -> Option<DefId> {
        match self.own_entity(name)? {
            Entity::Def(id) if matches!(self.model[id].kind, DefinitionKind::ValueType(_)) => {
                Some(id)
            }
            _ => None,
        }
    }

    fn value_forward(&mut self, value: &ast::Value, around: Surroundings<'_>) {
        if let Some(id) = self.known_value(&value.name) {
            self.check_spelling_of(id, &value.name);
            self.check_value_kind(id, &value.name, value.kind);
            self.annotate(id, around);
            return;
        }
        let id = self.define(&value.name, Self::empty_value(value.kind), around);
        self.set_progress(id, Progress::Forward);
    }

    /// Checks that forward declaration and definition are both abstract or both not. `custom` may
    /// be omitted in the forward declaration.
    fn check_value_kind(&mut self, id: DefId, name: &Ident, kind: ValueKind) {
        let DefinitionKind::ValueType(earlier) = &self.model[id].kind else {
            return;
        };
        if (earlier.kind == ValueKind::Abstract) == (kind == ValueKind::Abstract) {
            return;
        }
        let message = format!(
            "the valuetype `{}` is {} here but its other declaration is {}: forward declaration and definition must agree",
            name.name,
            word(kind),
            word(earlier.kind)
        );
        let span = self.span_of(id);
        self.report
            .error("forward-mismatch", name.span, message)
            .label(span, "the other declaration");
    }

    fn value_bases(&mut self, value: &ast::Value) -> Vec<DefId> {
        let mut bases: Vec<DefId> = Vec::new();
        for (position, name) in value.bases.iter().enumerate() {
            let Some((id, kind)) = self.base_value(name, &value.name) else {
                continue;
            };
            if bases.contains(&id) {
                let message = format!("the base `{}` is listed twice", name.text());
                self.report
                    .error("duplicate-base", name.span, message)
                    .help("list every base once");
                continue;
            }
            self.check_value_base(value, name, id, kind, position);
            bases.push(id);
        }
        let stateful = bases.first().is_some_and(|id| {
            !matches!(&self.model[*id].kind, DefinitionKind::ValueType(v) if v.kind == ValueKind::Abstract)
        });
        if let Some(span) = value.truncatable {
            if value.kind == ValueKind::Custom {
                let message = "a value type cannot be both truncatable and custom";
                self.report
                    .error("truncatable-custom", span, message)
                    .help("remove one of the words");
            } else if !stateful && !bases.is_empty() {
                let message = "`truncatable` needs a stateful base to truncate to";
                self.report
                    .error("truncatable-base", span, message)
                    .help("remove `truncatable`");
            }
        }
        bases
    }

    fn check_value_base(
        &mut self,
        value: &ast::Value,
        name: &ScopedName,
        id: DefId,
        kind: ValueKind,
        position: usize,
    ) {
        let base_span = self.span_of(id);
        let problem = match (value.kind, kind) {
            (_, ValueKind::Abstract) => return,
            (ValueKind::Abstract, _) => "an abstract value type may inherit only abstract ones",
            (ValueKind::Plain, ValueKind::Custom) => {
                "a non-custom value type cannot be derived from a custom one"
            }
            _ if position > 0 => {
                "a stateful base must be the first in the list, and there can be only one"
            }
            _ => return,
        };
        let message = format!(
            "the valuetype `{}` cannot inherit `{}`: {problem}",
            value.name.name,
            name.text()
        );
        self.report
            .error("value-base", name.span, message)
            .label(base_span, format!("this one is {}", word(kind)));
    }

    fn base_value(&mut self, name: &ScopedName, heir: &Ident) -> Option<(DefId, ValueKind)> {
        let own_name = name.parts.len() == 1 && name.parts[0].name == heir.name;
        if own_name && !self.visible(&heir.name) {
            let message = format!(
                "`{}` is not declared yet: a value type cannot inherit from itself",
                heir.name
            );
            self.report
                .error("self-inheritance", name.span, message)
                .help("remove it from the list");
            return None;
        }
        let entity = self.resolve(name)?;
        let named = match entity {
            Entity::Def(id) => match self.model.resolve_alias(&Type::Named(id)) {
                Type::Named(id) => Some(*id),
                _ => None,
            },
            _ => None,
        };
        let kind = named.and_then(|id| match &self.model[id].kind {
            DefinitionKind::ValueType(v) => Some(v.kind),
            DefinitionKind::Unmapped(_) => Some(ValueKind::Abstract),
            _ => None,
        });
        let (Some(id), Some(kind)) = (named, kind) else {
            let message = format!(
                "the base `{}` is not a value type but {}",
                name.text(),
                with_article(self.entity_noun(entity))
            );
            let place = self.entity_span(entity);
            let draft = self.report.error("not-a-value", name.span, message);
            point_at(draft, place);
            return None;
        };
        if self.progress(id) != Progress::Complete {
            let message = format!("the base `{}` is not fully defined yet", name.text());
            let span = self.span_of(id);
            self.report
                .error("incomplete-base", name.span, message)
                .label(span, "only declared so far")
                .help("define it before");
            return None;
        }
        Some((id, kind))
    }

    fn supported(&mut self, value: &ast::Value, bases: &[DefId]) -> Vec<DefId> {
        let mut supports: Vec<DefId> = Vec::new();
        for (position, name) in value.supports.iter().enumerate() {
            let Some(id) = self.base_interface(name, &value.name, "supported interface") else {
                continue;
            };
            if supports.contains(&id) {
                let message = format!("the interface `{}` is listed twice", name.text());
                self.report
                    .error("duplicate-base", name.span, message)
                    .help("list every interface once");
                continue;
            }
            let concrete = self.is_concrete(id);
            if concrete && position > 0 {
                let message = format!(
                    "`{}` cannot be supported here: a value type supports at most one interface that is not abstract, listed first",
                    name.text()
                );
                self.report
                    .error("second-concrete-interface", name.span, message);
            } else if concrete {
                self.check_supported_line(value, name, id, bases);
            }
            supports.push(id);
        }
        supports
    }

    fn is_concrete(&self, id: DefId) -> bool {
        matches!(&self.model[id].kind, DefinitionKind::Interface(i) if i.kind != InterfaceKind::Abstract)
    }

    /// Checks that the interface is that of a base, or derived from it.
    fn check_supported_line(
        &mut self,
        value: &ast::Value,
        name: &ScopedName,
        id: DefId,
        bases: &[DefId],
    ) {
        let mut line = bases.first().copied();
        let mut inherited = None;
        while let Some(base) = line {
            let DefinitionKind::ValueType(v) = &self.model[base].kind else {
                break;
            };
            for interface in &v.supports {
                if inherited.is_none() && self.is_concrete(*interface) {
                    inherited = Some(*interface);
                }
            }
            if inherited.is_some() {
                break;
            }
            line = v.bases.first().copied();
        }
        let Some(expected) = inherited else { return };
        if id == expected || self.model.all_bases(id).contains(&expected) {
            return;
        }
        let message = format!(
            "`{}` cannot support `{}`: it must be `{}`, which a base supports, or derived from it",
            value.name.name,
            name.text(),
            self.model[expected].name
        );
        self.report.error("supported-interface", name.span, message);
    }

    pub(super) fn state_member(&mut self, public: bool, field: &Field) {
        let Some(owner) = self.scopes[self.scope.0].def else {
            return;
        };
        let DefinitionKind::ValueType(value) = &self.model[owner].kind else {
            return;
        };
        if value.kind == ValueKind::Abstract {
            let message = format!(
                "the abstract value type `{}` cannot have state",
                self.model[owner].name
            );
            self.report
                .error("state-in-abstract", field.start, message)
                .help("remove the member, or the word `abstract`");
        }
        let members = self.field(field);
        for member in &members {
            if let Some(local) = self.local_part(&member.ty) {
                let message = format!(
                    "the state member `{}` has a local type: it is or contains the local interface `{}`",
                    member.name, self.model[local].name
                );
                self.report.error("local-type", field.ty.span, message);
            }
        }
        if let DefinitionKind::ValueType(v) = &mut self.model.definition_mut(owner).kind {
            for member in members {
                v.members.push(StateMember { public, member });
            }
        }
    }

    pub(super) fn factory(&mut self, factory: &ast::Operation, around: Surroundings<'_>) {
        let name = &factory.name;
        let owner = self.scopes[self.scope.0].def;
        if let Some(owner) = owner
            && let DefinitionKind::ValueType(v) = &self.model[owner].kind
            && v.kind == ValueKind::Abstract
        {
            let message = format!(
                "the abstract value type `{}` cannot have a factory",
                self.model[owner].name
            );
            self.report.error("factory-in-abstract", name.span, message);
        }
        self.declare(name, Entity::Factory(name.span));
        for parameter in factory
            .parameters
            .iter()
            .filter(|p| p.direction != Direction::In)
        {
            self.report
                .error(
                    "factory-parameter",
                    parameter.direction_span,
                    "the parameters of a factory must be `in`",
                )
                .help("write `in`");
        }
        let read = Factory {
            name: name.name.to_string(),
            parameters: self.parameters(factory),
            raises: self.raises(&factory.raises, false),
            doc: self.comment(around.start, around.end),
            annotations: self.annotations(around.annotations),
            location: self.sources.location(name.span),
        };
        if let Some(owner) = owner
            && let DefinitionKind::ValueType(v) = &mut self.model.definition_mut(owner).kind
        {
            v.factories.push(read);
        }
    }

    pub(super) fn value_box(&mut self, name: &Ident, spec: &TypeSpec, around: Surroundings<'_>) {
        // The name is declared first, so that a type defined in place cannot take it.
        let id = self.define(
            name,
            DefinitionKind::ValueBox(ValueBox { ty: Type::Any }),
            around,
        );
        let Some(ty) = self.type_of(spec, Usage::Alias) else {
            return;
        };
        let is_value = match self.model.resolve_named(&ty).map(|d| &d.kind) {
            Some(DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_)) => true,
            _ => *self.model.resolve_alias(&ty) == Type::ValueBase,
        };
        if is_value {
            let message = format!(
                "`{}` cannot be boxed: it is a value type already",
                self.model.type_name(&ty)
            );
            self.report
                .error("boxed-value", spec.span, message)
                .help("use it as it is");
            return;
        }
        if let DefinitionKind::ValueBox(boxed) = &mut self.model.definition_mut(id).kind {
            boxed.ty = ty;
        }
    }
}
