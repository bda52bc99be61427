// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces and their inheritance.

use super::scope::{Entity, ScopeKind};
use super::{Checker, Progress, Surroundings};
use crate::diagnostic::article::with_article;
use crate::diagnostic::point_at;
use crate::model::{DefId, DefinitionKind, Interface, InterfaceKind, Type};
use crate::syntax::ast::{self, Ident, ScopedName};

fn word(kind: InterfaceKind) -> &'static str {
    match kind {
        InterfaceKind::Plain => "unconstrained",
        InterfaceKind::Abstract => "abstract",
        InterfaceKind::Local => "local",
    }
}

impl Checker<'_> {
    pub(super) fn interface(&mut self, interface: &ast::Interface, around: Surroundings<'_>) {
        let name = &interface.name;
        let Some(body) = &interface.body else {
            self.interface_forward(name, interface.kind, around);
            return;
        };
        let bases = self.interface_bases(interface);
        let id = match self.known_interface(name) {
            Some(id) if self.progress(id) == Progress::Forward => {
                self.check_interface_kind(id, name, interface.kind);
                self.complete_forward(id, name, around);
                id
            }
            _ => self.define(name, Self::empty_interface(interface.kind), around),
        };
        let kind = self.implied_kind(interface, &bases);
        if let DefinitionKind::Interface(i) = &mut self.model.definition_mut(id).kind {
            i.kind = kind;
            i.bases = bases.clone();
            i.forward_only = false;
        }
        if bases.iter().any(|base| self.is_current(*base)) {
            self.currents.insert(id);
        }
        self.set_progress(id, Progress::Open);
        let outer = self.enter(ScopeKind::Interface, name, Some(id));
        for base in &bases {
            self.inherit(*base, name);
        }
        self.items(body);
        self.leave(outer);
        self.set_progress(id, Progress::Complete);
    }

    /// Local, if a plain interface inherits `CORBA::Current`: OMG's services have such interfaces
    /// from before `local` (`CosTransactions`, `SecurityLevel1`). Otherwise the declared kind.
    fn implied_kind(&mut self, interface: &ast::Interface, bases: &[DefId]) -> InterfaceKind {
        let is_implied = interface.kind == InterfaceKind::Plain
            && bases.iter().any(|base| self.is_current(*base));
        if !is_implied {
            return interface.kind;
        }
        let message = format!(
            "the interface `{}` is taken as local: it inherits `CORBA::Current`",
            interface.name.name
        );
        self.report
            .warning("implied-local", interface.name.span, message)
            .help("declare it as `local interface`");
        InterfaceKind::Local
    }

    /// Whether it is `CORBA::Current` or inherits it.
    fn is_current(&self, interface: DefId) -> bool {
        self.currents.contains(interface) || self.model[interface].path == ["CORBA", "Current"]
    }

    pub(super) fn empty_interface(kind: InterfaceKind) -> DefinitionKind {
        DefinitionKind::Interface(Interface {
            kind,
            bases: Vec::new(),
            contents: Vec::new(),
            forward_only: true,
        })
    }

    fn known_interface(&self, name: &Ident) -> Option<DefId> {
        match self.own_entity(name)? {
            Entity::Def(id) if matches!(self.model[id].kind, DefinitionKind::Interface(_)) => {
                Some(id)
            }
            _ => None,
        }
    }

    fn interface_forward(&mut self, name: &Ident, kind: InterfaceKind, around: Surroundings<'_>) {
        if let Some(id) = self.known_interface(name) {
            self.check_spelling_of(id, name);
            self.check_interface_kind(id, name, kind);
            self.annotate(id, around);
            return;
        }
        let id = self.define(name, Self::empty_interface(kind), around);
        self.set_progress(id, Progress::Forward);
    }

    fn check_interface_kind(&mut self, id: DefId, name: &Ident, kind: InterfaceKind) {
        let DefinitionKind::Interface(earlier) = &self.model[id].kind else {
            return;
        };
        if earlier.kind == kind {
            return;
        }
        let message = format!(
            "the interface `{}` is {} here but its other declaration is {}: forward declaration and definition must agree",
            name.name,
            word(kind),
            word(earlier.kind)
        );
        let span = self.span_of(id);
        self.report
            .error("forward-mismatch", name.span, message)
            .label(span, "the other declaration");
    }

    fn interface_bases(&mut self, interface: &ast::Interface) -> Vec<DefId> {
        let mut bases: Vec<DefId> = Vec::new();
        for name in &interface.bases {
            let Some(id) = self.base_interface(name, &interface.name, "base") else {
                continue;
            };
            if bases.contains(&id) {
                let message = format!("the base `{}` is listed twice", name.text());
                self.report
                    .error("duplicate-base", name.span, message)
                    .help("list every base once");
                continue;
            }
            self.check_base_kind(interface.kind, id, name);
            bases.push(id);
        }
        bases
    }

    /// The fully defined interface of a name, possibly through a typedef.
    pub(super) fn base_interface(
        &mut self,
        name: &ScopedName,
        heir: &Ident,
        what: &str,
    ) -> Option<DefId> {
        let own_name = name.parts.len() == 1 && name.parts[0].name == heir.name;
        if own_name && self.own_entity(heir).is_none() && !self.visible(&heir.name) {
            let message = format!(
                "`{}` is not declared yet: an interface cannot inherit from itself",
                heir.name
            );
            self.report
                .error("self-inheritance", name.span, message)
                .help("remove it from the list");
            return None;
        }
        let entity = self.resolve(name)?;
        let Entity::Def(named) = entity else {
            return self.no_interface(name, entity, what);
        };
        let id = match self.model.resolve_alias(&Type::Named(named)) {
            Type::Named(id) => *id,
            _ => named,
        };
        if !matches!(self.model[id].kind, DefinitionKind::Interface(_)) {
            if matches!(self.model[id].kind, DefinitionKind::Unmapped(_)) {
                return None;
            }
            return self.no_interface(name, entity, what);
        }
        if self.progress(id) != Progress::Complete {
            let message = format!("the {what} `{}` is not fully defined yet", name.text());
            let span = self.span_of(id);
            self.report
                .error("incomplete-base", name.span, message)
                .label(span, "only declared so far")
                .help("define it before");
            return None;
        }
        Some(id)
    }

    fn no_interface(&mut self, name: &ScopedName, entity: Entity, what: &str) -> Option<DefId> {
        let message = format!(
            "the {what} `{}` is not an interface but {}",
            name.text(),
            with_article(self.entity_noun(entity))
        );
        let place = self.entity_span(entity);
        let draft = self.report.error("not-an-interface", name.span, message);
        point_at(draft, place);
        None
    }

    /// Whether a scope around the current one declares the name.
    pub(super) fn visible(&self, name: &str) -> bool {
        let key = super::scope::key(name);
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            let scope = &self.scopes[scope.0];
            if scope.names.contains_key(key.as_str()) {
                return true;
            }
            at = scope.parent;
        }
        false
    }

    fn check_base_kind(&mut self, kind: InterfaceKind, base: DefId, name: &ScopedName) {
        let DefinitionKind::Interface(i) = &self.model[base].kind else {
            return;
        };
        let allowed = match kind {
            InterfaceKind::Plain => i.kind != InterfaceKind::Local || self.is_current(base),
            InterfaceKind::Abstract => i.kind == InterfaceKind::Abstract,
            InterfaceKind::Local => true,
        };
        if allowed {
            return;
        }
        let may = match kind {
            InterfaceKind::Abstract => "an abstract interface may inherit only abstract ones",
            _ => "only a local interface may inherit a local one",
        };
        let message = format!(
            "{} interface cannot inherit the {} interface `{}`",
            with_article(word(kind)),
            word(i.kind),
            name.text()
        );
        let span = self.span_of(base);
        self.report
            .error("base-kind", name.span, message)
            .label(span, "the base")
            .help(may);
    }
}
