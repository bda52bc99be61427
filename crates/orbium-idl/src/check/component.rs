// SPDX-License-Identifier: MIT OR Apache-2.0
//! Components and homes: names are checked, but they have no mapping.

use super::scope::{Entity, ScopeKind};
use super::{Checker, Surroundings};
use crate::model::{DefId, DefinitionKind, Unmapped};
use crate::syntax::ast::{self, Ident};

impl Checker<'_> {
    pub(super) fn unmapped(&mut self, unmapped: &ast::Unmapped, around: Surroundings<'_>) {
        let name = &unmapped.name;
        for reference in &unmapped.references {
            self.resolve(reference);
        }
        let known = self.known_unmapped(name, unmapped.construct);
        let id = known.unwrap_or_else(|| {
            let kind = Unmapped {
                construct: unmapped.construct,
                contents: Vec::new(),
            };
            self.define(name, DefinitionKind::Unmapped(kind), around)
        });
        let Some(body) = &unmapped.body else { return };
        if self.scope_of.contains(id) {
            let message = format!(
                "the {} `{}` is defined twice",
                unmapped.construct, name.name
            );
            self.report.error("redefinition", name.span, message);
            return;
        }
        self.warn_unmapped(unmapped.construct, name);
        let outer = self.enter(ScopeKind::Interface, name, Some(id));
        for (ty, port) in &unmapped.ports {
            if &*ty.parts[0].name != "Object" {
                self.resolve(ty);
            }
            self.declare(port, Entity::Member(port.span));
        }
        self.items(body);
        self.leave(outer);
    }

    fn known_unmapped(&self, name: &Ident, construct: &str) -> Option<DefId> {
        match self.own_entity(name)? {
            Entity::Def(id) => match &self.model[id].kind {
                DefinitionKind::Unmapped(u) if u.construct == construct => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn warn_unmapped(&mut self, construct: &str, name: &Ident) {
        let message = format!(
            "the {construct} `{}` is read but not mapped: no code comes from it",
            name.name
        );
        self.report.warning("not-mapped", name.span, message);
    }
}
