// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declaring names in scopes (CORBA 3.3 Part 1, 7.20).

use std::rc::Rc;
use std::slice;

use super::Checker;
use super::scope::{Entity, Entry, Scope, ScopeId, ScopeKind, Use, key};
use crate::diagnostic::Severity;
use crate::diagnostic::article::with_article;
use crate::model::{DefId, DefinitionKind};
use crate::source::Span;
use crate::syntax::ast::Ident;

impl Checker<'_> {
    /// Opens a scope inside the current one and makes it current. Returns the outer scope.
    pub(super) fn enter(&mut self, kind: ScopeKind, name: &Ident, def: Option<DefId>) -> ScopeId {
        let outer = self.scope;
        let prefix = match def {
            Some(id) => self.scope_prefix(id, &name.name),
            None => String::new(),
        };
        let scope = Scope {
            kind,
            def: def.or(self.scopes[outer.0].def),
            parent: Some(outer),
            name: Some((name.name.clone(), name.span)).filter(|_| kind != ScopeKind::Operation),
            prefix,
            ..Scope::root()
        };
        self.scopes.push(scope);
        self.scope = ScopeId(self.scopes.len() - 1);
        if let Some(id) = def {
            self.scope_of.insert(id, self.scope);
        }
        outer
    }

    /// Makes the scope of a reopened module current again.
    pub(super) fn reenter(&mut self, scope: ScopeId) -> ScopeId {
        let outer = std::mem::replace(&mut self.scope, scope);
        if let (Some(id), Some((name, _))) =
            (self.scopes[scope.0].def, self.scopes[scope.0].name.clone())
        {
            // A prefix pragma of the earlier opening has ended with it.
            self.scope = outer;
            let prefix = self.scope_prefix(id, &name);
            self.scope = scope;
            self.scopes[scope.0].prefix = prefix;
        }
        outer
    }

    pub(super) fn leave(&mut self, outer: ScopeId) {
        self.scope = outer;
    }

    /// The declaration of that name in the current scope itself.
    pub(super) fn own_entity(&self, name: &Ident) -> Option<Entity> {
        self.scopes[self.scope.0]
            .own(&key(&name.name))
            .map(|e| e.entity)
    }

    /// Declares a name in the current scope, or reports the reason why it cannot be.
    pub(super) fn declare(&mut self, name: &Ident, entity: Entity) {
        let key = key(&name.name);
        let what = self.entity_noun(entity);
        let scope = &self.scopes[self.scope.0];
        let clash = scope.own(&key).cloned();
        if let Some(earlier) = clash {
            self.report_redefinition(name, what, &earlier);
            return;
        }
        let own = scope
            .name
            .clone()
            .filter(|(own, _)| own.eq_ignore_ascii_case(&name.name));
        let mut inherited = scope.inherited(&key).iter();
        let inherited = inherited.find(|e| self.is_feature(e.entity)).cloned();
        let used = scope.uses.get(&key).cloned();
        let clashes = own.is_some() || used.is_some();
        let is_passed_over = clashes && self.is_name_only(entity);
        if let Some((own, span)) = own {
            let message = format!(
                "the {what} `{}` reuses the name of the enclosing scope `{own}`",
                name.name
            );
            let severity = self.severity_of_name(self.is_name_only(entity));
            self.report
                .report(severity, "enclosing-name", Some(name.span), message)
                .label(span, "this is the enclosing scope")
                .help(
                    "a scope's own name cannot be declared directly inside it; choose another name",
                );
        } else if let Some(base) = inherited {
            let message = format!(
                "the {what} `{}` redefines the inherited {} `{}`: inherited operations, attributes and members cannot be redefined or overloaded",
                name.name,
                self.entity_noun(base.entity),
                base.name
            );
            self.report
                .error("redefines-inherited", name.span, message)
                .label(base.span, "inherited from here")
                .help("choose another name");
        } else if let Some(used) = used {
            self.report_used(name, entity, &used);
        }
        let entry = Entry {
            name: name.name.clone(),
            span: name.span,
            entity,
            is_passed_over,
        };
        let names = &mut self.scopes[self.scope.0].names;
        names.entry(key.into()).or_default().own = Some(entry);
    }

    fn report_redefinition(&mut self, name: &Ident, what: &str, earlier: &Entry) {
        let before = self.entity_noun(earlier.entity);
        let (name_text, span) = (&name.name, name.span);
        let overloads = what == "operation" && before == "operation";
        let message = match () {
            () if *earlier.name != **name_text => format!(
                "redefinition: the {what} `{name_text}` differs only in case from the {before} `{}`",
                earlier.name
            ),
            () if overloads => format!(
                "the operation `{name_text}` is declared twice: operations cannot be overloaded"
            ),
            () if what == before => format!("duplicate {what} `{name_text}`"),
            () => format!(
                "redefinition: the {what} `{name_text}` has the name of {}",
                with_article(before)
            ),
        };
        self.report
            .error("redefinition", span, message)
            .label(earlier.span, format!("`{}` is declared here", earlier.name))
            .help("choose another name");
    }

    /// Whether it is not referred to by definitions: a parameter, a member, an operation.
    fn is_name_only(&self, entity: Entity) -> bool {
        match entity {
            Entity::Def(id) => {
                matches!(
                    self.model[id].kind,
                    DefinitionKind::Operation(_) | DefinitionKind::Attribute(_)
                )
            }
            Entity::Enumerator { .. } => false,
            _ => true,
        }
    }

    /// The severity of a name's clash with that of a type.
    fn severity_of_name(&self, is_name_only: bool) -> Severity {
        if is_name_only && self.options.lenient_names {
            Severity::Warning
        } else {
            Severity::Error
        }
    }

    fn report_used(&mut self, name: &Ident, entity: Entity, used: &Use) {
        let is_name_only = self.is_name_only(entity);
        let severity = self.severity_of_name(is_name_only);
        let what = self.entity_noun(entity);
        let message = format!(
            "redefinition after use: the {what} `{}` clashes with the name `{}` used in this scope",
            name.name, used.name
        );
        let help = if is_name_only {
            let full = self.full_name(&used.name);
            format!("choose another name, or write the type with its full name `{full}`")
        } else {
            "choose another name".to_owned()
        };
        self.report
            .report(severity, "redefined-after-use", Some(name.span), message)
            .label(used.span, "used here with another meaning")
            .help(help);
    }

    /// The scoped name of a visible name.
    fn full_name(&self, name: &str) -> String {
        let key = key(name);
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            let scope = &self.scopes[scope.0];
            let inherited = scope.inherited(&key).first();
            if let Some(Entity::Def(id)) = scope.own(&key).or(inherited).map(|e| e.entity) {
                return self.model[id].scoped_name();
            }
            at = scope.parent;
        }
        format!("::{name}")
    }

    /// Binds a name found in scope `found` in the scopes between it and the current one:
    /// the current scope, and those around it up to the nearest module.
    pub(super) fn introduce(&mut self, name: &Ident, found: ScopeId, by_inheritance: bool) {
        if !self.binding {
            return;
        }
        let key = key(&name.name);
        let mut at = self.scope;
        loop {
            let is_found = at == found;
            if is_found && !by_inheritance {
                return;
            }
            let scope = &mut self.scopes[at.0];
            let used = Use {
                name: name.name.clone(),
                span: name.span,
            };
            scope.uses.entry(key.clone()).or_insert(used);
            let Some(parent) = scope.parent.filter(|_| !is_found) else {
                return;
            };
            if matches!(
                self.scopes[parent.0].kind,
                ScopeKind::File | ScopeKind::Module
            ) {
                return;
            }
            at = parent;
        }
    }

    /// Removes the names that an invalid type has bound in the current scope, so that one error is
    /// not also reported as a clash of names.
    pub(super) fn forget_uses(&mut self, within: Span) {
        let inside = |span: Span| {
            span.file == within.file && span.start >= within.start && span.end <= within.end
        };
        let uses = &mut self.scopes[self.scope.0].uses;
        uses.retain(|_, used| !inside(used.span));
    }

    /// Adds the names of a base to those inherited by the current scope.
    pub(super) fn inherit(&mut self, base: DefId, heir: &Ident) {
        let Some(from) = self.scope_of.get(base).copied() else {
            return;
        };
        let mut entries: Vec<(Rc<str>, Entry)> = Vec::new();
        for (key, known) in &self.scopes[from.0].names {
            let inherited: &[Entry] = match &known.own {
                Some(Entry {
                    entity: Entity::Factory(_),
                    ..
                }) => &[],
                Some(own) => slice::from_ref(own),
                None => known.inherited.as_slice(),
            };
            self.inherited += inherited.len();
            if self.inherited > self.options.limits.inherited {
                let message = "too many names are inherited in this file";
                self.report
                    .error("inheritance-too-large", heir.span, message);
                return;
            }
            let named = inherited.iter().map(|it| (Rc::clone(key), it.clone()));
            entries.extend(named);
        }
        for (key, entry) in &entries {
            self.inherit_entry(key, entry, heir);
        }
    }

    /// Adds a name to those inherited by the current scope, unless it has it from another base.
    fn inherit_entry(&mut self, key: &Rc<str>, entry: &Entry, heir: &Ident) {
        let names = &mut self.scopes[self.scope.0].names;
        let inherited = &mut names.entry(Rc::clone(key)).or_default().inherited;
        if inherited.iter().any(|it| it.entity == entry.entity) {
            return;
        }
        inherited.push(entry.clone());
        if !self.is_feature(entry.entity) {
            return;
        }
        let mut rivals = self.scopes[self.scope.0].inherited(key).iter();
        let rival = rivals.find(|it| it.entity != entry.entity && self.is_feature(it.entity));
        if let Some(rival) = rival.cloned() {
            self.report_inherited_clash(heir, &rival, entry);
        }
    }

    fn report_inherited_clash(&mut self, heir: &Ident, rival: &Entry, entry: &Entry) {
        let message = format!(
            "inherited name clash: `{}` inherits both the {} `{}` and the {} `{}`",
            heir.name,
            self.entity_noun(rival.entity),
            rival.name,
            self.entity_noun(entry.entity),
            entry.name
        );
        self.report
            .error("inheritance-clash", heir.span, message)
            .label(rival.span, "one is declared here")
            .label(entry.span, "the other is declared here")
            .help("rename one of them, or do not inherit both");
    }

    /// Whether an entity is part of requests or state, so that derived definitions cannot redefine
    /// its name.
    fn is_feature(&self, entity: Entity) -> bool {
        match entity {
            Entity::Def(id) => {
                matches!(
                    self.model[id].kind,
                    DefinitionKind::Operation(_) | DefinitionKind::Attribute(_)
                )
            }
            Entity::Enumerator { .. } | Entity::Parameter(_) | Entity::Factory(_) => false,
            Entity::Member(_) => true,
        }
    }

    /// The declaration of an entity; none for predefined ones.
    pub(super) fn entity_span(&self, entity: Entity) -> Option<Span> {
        match entity {
            Entity::Def(id) | Entity::Enumerator { of: id, .. } => {
                self.states.get(id).map(|state| state.span)
            }
            Entity::Member(span) | Entity::Parameter(span) | Entity::Factory(span) => Some(span),
        }
    }

    pub(super) fn entity_noun(&self, entity: Entity) -> &'static str {
        match entity {
            Entity::Def(id) => self.model[id].kind.noun(),
            Entity::Enumerator { .. } => "enumerator",
            Entity::Member(_) => "member",
            Entity::Parameter(_) => "parameter",
            Entity::Factory(_) => "factory",
        }
    }
}
