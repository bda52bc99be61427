// SPDX-License-Identifier: MIT OR Apache-2.0
//! Name lookup (CORBA 3.3 Part 1, 7.20.2 and 7.20.3).

use super::scope::{Entity, Entry, ScopeId, key};
use super::{Checker, Surroundings};
use crate::diagnostic::article::with_article;
use crate::diagnostic::spelling::within_one_edit;
use crate::model::{DefId, DefinitionKind, InterfaceKind};
use crate::parser::type_meant;
use crate::syntax::ast::{Ident, ScopedName};

/// Maximum number of meanings of an ambiguous name that are shown.
const MAX_CANDIDATES: usize = 8;

impl Checker<'_> {
    /// Resolves a name. None if it is undeclared, which has been reported.
    pub(super) fn resolve(&mut self, name: &ScopedName) -> Option<Entity> {
        let (first, rest) = name.parts.split_first()?;
        let mut entity = if name.absolute {
            self.member_of(ScopeId(0), first, name)?
        } else {
            self.unqualified(first, name)?
        };
        for part in rest {
            let scope = match entity {
                Entity::Def(id) => self.scope_of.get(id).copied(),
                _ => None,
            };
            entity = match scope {
                Some(scope) => self.member_of(scope, part, name)?,
                None => self.inside_no_scope(entity, part)?,
            };
        }
        Some(entity)
    }

    /// Searches the current scope and its bases, then the enclosing scopes.
    fn unqualified(&mut self, name: &Ident, whole: &ScopedName) -> Option<Entity> {
        let key = key(&name.name);
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            let own = self.scopes[scope.0].own(&key);
            if let Some(entry) = own.filter(|it| !it.is_passed_over).cloned() {
                self.check_spelling(name, &entry);
                self.introduce(name, scope, false);
                return Some(entry.entity);
            }
            let inherited = self.scopes[scope.0].inherited(&key).iter();
            let entries: Vec<_> = inherited.filter(|it| !it.is_passed_over).cloned().collect();
            if !entries.is_empty() {
                let entry = self.unambiguous(name, &entries)?;
                self.introduce(name, scope, true);
                return Some(entry.entity);
            }
            at = self.scopes[scope.0].parent;
        }
        self.report_undeclared(name, whole, "");
        None
    }

    /// Searches one scope and its bases only.
    fn member_of(&mut self, scope: ScopeId, name: &Ident, whole: &ScopedName) -> Option<Entity> {
        let key = key(&name.name);
        if let Some(entry) = self.scopes[scope.0].own(&key).cloned() {
            self.check_spelling(name, &entry);
            return Some(entry.entity);
        }
        let entries = self.scopes[scope.0].inherited(&key).to_vec();
        if !entries.is_empty() {
            return self.unambiguous(name, &entries).map(|e| e.entity);
        }
        if let Some(entity) = self.repository_interface(scope, name) {
            return Some(entity);
        }
        let place = match self.scopes[scope.0].def {
            Some(id) => format!(" in `{}`", self.model[id].scoped_name()),
            None => " at file scope".to_owned(),
        };
        self.report_undeclared(name, whole, &place);
        None
    }

    /// The interfaces of the Interface Repository belong to module CORBA even if no file that
    /// defines them is included: they are declared at their first use.
    fn repository_interface(&mut self, scope: ScopeId, name: &Ident) -> Option<Entity> {
        const NAMES: [&str; 28] = [
            "IRObject",
            "Contained",
            "Container",
            "IDLType",
            "Repository",
            "ModuleDef",
            "ConstantDef",
            "TypedefDef",
            "StructDef",
            "UnionDef",
            "EnumDef",
            "AliasDef",
            "NativeDef",
            "PrimitiveDef",
            "StringDef",
            "WstringDef",
            "FixedDef",
            "SequenceDef",
            "ArrayDef",
            "ExceptionDef",
            "AttributeDef",
            "OperationDef",
            "InterfaceDef",
            "AbstractInterfaceDef",
            "LocalInterfaceDef",
            "ValueDef",
            "ValueBoxDef",
            "ValueMemberDef",
        ];
        let corba = self.scopes[scope.0].def?;
        if self.model[corba].path != ["CORBA"] || !NAMES.contains(&&*name.name) {
            return None;
        }
        let nowhere = Surroundings {
            annotations: &[],
            start: name.span,
            end: name.span,
        };
        let outer = std::mem::replace(&mut self.scope, scope);
        let id = self.define(name, Self::empty_interface(InterfaceKind::Plain), nowhere);
        self.scope = outer;
        let definition = self.model.definition_mut(id);
        definition.repository_id = format!("IDL:omg.org/CORBA/{}:1.0", name.name);
        definition.in_main_file = false;
        definition.doc = None;
        Some(Entity::Def(id))
    }

    fn unambiguous(&mut self, name: &Ident, entries: &[Entry]) -> Option<Entry> {
        let (first, others) = entries.split_first()?;
        if others.is_empty() {
            self.check_spelling(name, first);
            return Some(first.clone());
        }
        let message = format!(
            "the name `{}` is ambiguous: it is inherited from more than one base",
            name.name
        );
        let draft = self.report.error("ambiguous-name", name.span, message);
        for entry in entries.iter().take(MAX_CANDIDATES) {
            draft.label(entry.span, "it could be this one");
        }
        draft.help("write it with the interface it is meant from, such as `Base::Name`");
        None
    }

    /// `E::a` where E is not a scope.
    fn inside_no_scope(&mut self, entity: Entity, part: &Ident) -> Option<Entity> {
        let noun = self.entity_noun(entity);
        if let Entity::Def(of) = entity
            && let DefinitionKind::Enum(e) = &self.model[of].kind
        {
            let index = e.enumerators.iter().position(|e| *e.name == *part.name);
            let found = index
                .and_then(|i| u32::try_from(i).ok())
                .map(|index| Entity::Enumerator { of, index });
            if self.options.idl4 && found.is_some() {
                return found;
            }
            let message = format!(
                "an enum is not a scope: `{}` cannot be named through it",
                part.name
            );
            self.report
                .error("not-a-scope", part.span, message)
                .help(format!(
                    "write `{}` alone: enumerators belong to the scope around the enum",
                    part.name
                ));
            return None;
        }
        let message = format!(
            "{} is not a scope: there is no `{}` in it",
            with_article(noun),
            part.name
        );
        self.report.error("not-a-scope", part.span, message);
        None
    }

    /// Reports an undeclared name once, and not if its declaration may be in unreadable text.
    fn report_undeclared(&mut self, name: &Ident, whole: &ScopedName, place: &str) {
        let tainted = self.tainted.contains(&key(&name.name));
        let hidden = tainted && self.report.has_errors();
        if hidden || self.report.is_exhausted() {
            return;
        }
        if !self.undeclared.insert(format!("{}{place}", name.name)) {
            return;
        }
        let suggestion = self.suggestion(&name.name);
        let message = format!("`{}` is not declared{place}", name.name);
        let draft = self.report.error("undeclared-name", name.span, message);
        match suggestion {
            Some(similar) => draft.help(format!("did you mean `{similar}`?")),
            None if whole.parts.len() > 1 => draft.help("declare it before it is used, or include the file that does"),
            None => draft.help(
                "declare it before it is used, include the file that does, or write it with its module (`Module::Name`)",
            ),
        };
    }

    /// A suggestion for an undeclared name: the IDL for another language's name, a declared name, a
    /// built-in type.
    fn suggestion(&self, name: &str) -> Option<String> {
        let built_in = type_meant(name).filter(|_| self.wants_type);
        match built_in {
            // The name of another language is not a typing error.
            Some(meant) if !within_one_edit(&name.to_ascii_lowercase(), meant) => {
                Some(meant.to_owned())
            }
            _ => self.similar(name).or(built_in.map(str::to_owned)),
        }
    }

    /// A declared name in the visible scopes that differs by one typing error.
    fn similar(&self, name: &str) -> Option<String> {
        if name.len() < 3 {
            return None;
        }
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            let scope = &self.scopes[scope.0];
            for known in scope.names.values() {
                if let Some(entry) = &known.own
                    && within_one_edit(&entry.name, name)
                {
                    return Some(entry.name.to_string());
                }
            }
            at = scope.parent;
        }
        None
    }

    fn check_spelling(&mut self, name: &Ident, entry: &Entry) {
        if entry.name == name.name {
            return;
        }
        let message = format!(
            "`{}` differs in case from its declaration `{}`",
            name.name, entry.name
        );
        self.report
            .error("case-mismatch", name.span, message)
            .label(entry.span, format!("`{}` is declared here", entry.name))
            .help(format!("write `{}`", entry.name));
    }

    pub(super) fn check_spelling_of(&mut self, id: DefId, name: &Ident) {
        let entry = Entry {
            name: self.model[id].name.as_str().into(),
            span: self.span_of(id),
            entity: Entity::Def(id),
            is_passed_over: false,
        };
        self.check_spelling(name, &entry);
    }
}
