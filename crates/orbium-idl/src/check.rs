// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checker: resolves every name, checks every rule, and builds the model.
//!
//! IDL is declared before use, so one pass over the declarations in order suffices. Facts that are
//! only known at the end (forward declarations never completed, imports) are checked then.

mod annotation;
mod arithmetic;
mod component;
mod constant;
mod constructed;
mod decimal;
mod declare;
mod interface;
mod lookup;
mod operation;
mod repository;
mod repository_id;
mod scope;
mod types;
mod value;

use std::collections::HashSet;

use crate::diagnostic::{Reporter, Severity};
use crate::model::{DefId, DefMap, DefSet, Definition, DefinitionKind, Model, Module};
use crate::options::Options;
use crate::parser::Unit;
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{Annotation, Ident, Import, Item, ItemKind, ScopedName};
use crate::syntax::doc;

use repository_id::{IdState, Reopened};
use scope::{Entity, Scope, ScopeId, ScopeKind};

/// Checks a unit. The model is only valid if no error was reported.
pub(crate) fn check(
    options: &Options,
    sources: &SourceMap,
    unit: &Unit,
    report: &mut Reporter,
) -> Model {
    let mut checker = Checker {
        options,
        sources,
        report,
        model: Model::default(),
        scopes: vec![Scope::root()],
        scope: ScopeId(0),
        scope_of: DefMap::default(),
        states: DefMap::default(),
        undeclared: HashSet::new(),
        tainted: &unit.tainted,
        inherited: 0,
        copied: 0,
        complete_aliases: DefSet::default(),
        mobile: DefSet::default(),
        currents: DefSet::default(),
        binding: true,
        wants_type: false,
        saved_prefixes: Vec::new(),
        type_prefixes: DefMap::default(),
        imports: Vec::new(),
        reopened: Vec::new(),
    };
    checker.items(&unit.items);
    checker.finish();
    checker.model.settle();
    checker.model
}

struct Checker<'a> {
    options: &'a Options,
    sources: &'a SourceMap,
    report: &'a mut Reporter,
    model: Model,
    scopes: Vec<Scope>,
    scope: ScopeId,
    scope_of: DefMap<ScopeId>,
    states: DefMap<State>,
    /// Names already reported as undeclared.
    undeclared: HashSet<String>,
    tainted: &'a HashSet<String>,
    /// Octets of text copied into definitions.
    copied: usize,
    /// Aliases known to contain no incomplete type.
    complete_aliases: DefSet,
    /// Types known to contain no local or native type.
    mobile: DefSet,
    /// Interfaces that inherit `CORBA::Current`.
    currents: DefSet,
    /// The number of inherited names so far, in all scopes.
    inherited: usize,
    /// Whether names that are used are bound to their meaning in the scope.
    binding: bool,
    /// Whether the name being looked up is to be a type.
    wants_type: bool,
    saved_prefixes: Vec<(ScopeId, String)>,
    type_prefixes: DefMap<String>,
    imports: Vec<Import>,
    /// Modules reopened under another prefix: a later `typeprefix` may still decide.
    reopened: Vec<Reopened>,
}

/// The checker's data about a definition in addition to the model.
#[derive(Debug, Clone)]
struct State {
    span: Span,
    progress: Progress,
    /// The place of its first use while it is only forward declared.
    used: Option<Span>,
    id: IdState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Declared, but not defined.
    Forward,
    /// Its body is being read.
    Open,
    Complete,
}

/// The annotations of a definition, and its extent in the text.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    annotations: &'a [Annotation],
    start: Span,
    end: Span,
}

impl<'a> From<&'a Item> for Surroundings<'a> {
    fn from(item: &'a Item) -> Self {
        Surroundings {
            annotations: &item.annotations,
            start: item.start,
            end: item.end,
        }
    }
}

impl Checker<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            if self.report.is_exhausted() {
                return;
            }
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        let around = Surroundings::from(item);
        match &item.kind {
            ItemKind::Module { name, items } => self.module(name, items, around),
            ItemKind::Interface(interface) => self.interface(interface, around),
            ItemKind::Value(value) => self.value(value, around),
            ItemKind::ValueBox { name, ty } => self.value_box(name, ty, around),
            ItemKind::Constant { ty, name, value } => self.constant(ty, name, value, around),
            ItemKind::Typedef { ty, declarators } => self.typedef(ty, declarators, around),
            ItemKind::Struct { .. }
            | ItemKind::StructForward { .. }
            | ItemKind::Union(_)
            | ItemKind::Enum { .. } => {
                self.constructed(item);
            }
            ItemKind::Native { name } => {
                self.define(name, DefinitionKind::Native, around);
            }
            ItemKind::Exception { name, members } => self.exception(name, members, around),
            ItemKind::Operation(operation) => self.operation(operation, around),
            ItemKind::Attribute(attribute) => self.attribute(attribute, around),
            ItemKind::State { public, field } => self.state_member(*public, field),
            ItemKind::Factory(factory) => self.factory(factory, around),
            ItemKind::TypeId { name, id, span } => self.type_id(name, id, *span),
            ItemKind::TypePrefix { name, prefix, span } => {
                self.type_prefix(name.as_ref(), prefix, *span);
            }
            ItemKind::Import(import) => self.imports.push(import.clone()),
            ItemKind::Unmapped(unmapped) => self.unmapped(unmapped, around),
            ItemKind::Pragma(pragma) => self.pragma(pragma),
            ItemKind::EnterFile => self.enter_file(),
            ItemKind::LeaveFile => self.leave_file(),
        }
    }

    fn module(&mut self, name: &Ident, items: &[Item], around: Surroundings<'_>) {
        let known = self.own_entity(name).and_then(|entity| match entity {
            Entity::Def(id) if matches!(self.model[id].kind, DefinitionKind::Module(_)) => Some(id),
            _ => None,
        });
        let id = match known {
            Some(id) => {
                self.check_spelling_of(id, name);
                self.reopen_module(id, name, around);
                id
            }
            None => self.define(name, DefinitionKind::Module(Module::default()), around),
        };
        let scope = match self.scope_of.get(id) {
            Some(scope) => self.reenter(*scope),
            None => self.enter(ScopeKind::Module, name, Some(id)),
        };
        self.items(items);
        self.leave(scope);
    }

    fn reopen_module(&mut self, id: DefId, name: &Ident, around: Surroundings<'_>) {
        self.check_reopened_prefix(id, name);
        let mut annotations = self.annotations(around.annotations);
        let main = self.sources.in_main_file(name.span);
        let doc = self.comment(around.start, around.end);
        let definition = self.model.definition_mut(id);
        definition.in_main_file |= main;
        definition.annotations.append(&mut annotations);
        if definition.doc.is_none() {
            definition.doc = doc;
        }
    }

    /// Creates a definition, declares its name in the current scope and places it there.
    fn define(&mut self, name: &Ident, kind: DefinitionKind, around: Surroundings<'_>) -> DefId {
        let id = self.create(name, kind, around);
        self.declare(name, Entity::Def(id));
        self.model.place(id);
        id
    }

    /// Creates a definition without declaring its name.
    fn create(&mut self, name: &Ident, kind: DefinitionKind, around: Surroundings<'_>) -> DefId {
        let parent = self.scopes[self.scope.0].def;
        let mut path = parent.map_or_else(Vec::new, |p| self.model[p].path.clone());
        path.push(name.name.to_string());
        let progress = match &kind {
            DefinitionKind::Struct(_) | DefinitionKind::Union(_) => Progress::Open,
            _ => Progress::Complete,
        };
        let annotations = self.annotations_of(&kind, around.annotations);
        let (mut repository_id, state) = self.default_id(&name.name);
        let octets: usize = path.iter().map(String::len).sum();
        if !self.can_copy(octets + repository_id.len(), name.span) {
            path.clear();
            repository_id.clear();
        }
        let doc = self.comment(around.start, around.end);
        let id = self.model.add(Definition {
            id: DefId(0),
            name: name.name.to_string(),
            path,
            parent,
            repository_id,
            doc,
            location: self.sources.location(name.span),
            in_main_file: self.sources.in_main_file(name.span),
            annotations,
            kind,
        });
        self.states.insert(
            id,
            State {
                span: name.span,
                progress,
                used: None,
                id: state,
            },
        );
        id
    }

    /// The comment of a declaration.
    fn comment(&mut self, start: Span, end: Span) -> Option<String> {
        let comment = doc::comment_of(self.sources, start, end)?;
        self.can_copy(comment.len(), start).then_some(comment)
    }

    /// Counts text to be copied into a definition. False if that is too much, which is reported.
    fn can_copy(&mut self, octets: usize, span: Span) -> bool {
        self.copied = self.copied.saturating_add(octets);
        let fits = self.copied <= self.options.limits.text;
        if !fits {
            let message = "the names, comments and constants of these files are too large, as each definition has a copy of its own";
            self.report.error("text-too-large", span, message);
        }
        fits
    }

    /// Turns a forward declaration into the full one that has now been found.
    fn complete_forward(&mut self, id: DefId, name: &Ident, around: Surroundings<'_>) {
        self.check_spelling_of(id, name);
        let mut annotations = self.annotations(around.annotations);
        let doc = self.comment(around.start, around.end);
        let location = self.sources.location(name.span);
        let main = self.sources.in_main_file(name.span);
        let definition = self.model.definition_mut(id);
        definition.location = location;
        definition.in_main_file = main;
        definition.annotations.append(&mut annotations);
        definition.doc = doc.or(definition.doc.take());
        self.check_forward_prefix(id, name);
        if let Some(state) = self.states.get_mut(id) {
            state.span = name.span;
        }
        self.model.place(id);
    }

    /// Adds the annotations of a repeated forward declaration.
    fn annotate(&mut self, id: DefId, around: Surroundings<'_>) {
        let mut annotations = self.annotations(around.annotations);
        let known = self.model.definition_mut(id);
        known.annotations.append(&mut annotations);
    }

    fn progress(&self, id: DefId) -> Progress {
        self.states
            .get(id)
            .map_or(Progress::Complete, |s| s.progress)
    }

    fn set_progress(&mut self, id: DefId, progress: Progress) {
        if let Some(state) = self.states.get_mut(id) {
            state.progress = progress;
        }
    }

    fn span_of(&self, id: DefId) -> Span {
        self.states.get(id).map_or(
            Span {
                file: 0,
                start: 0,
                end: 0,
            },
            |s| s.span,
        )
    }

    /// Checks facts that are only known at the end.
    fn finish(&mut self) {
        let mut unfinished = Vec::new();
        for definition in self.model.definitions() {
            if self.progress(definition.id) == Progress::Forward {
                unfinished.push(definition.id);
            }
        }
        for id in &unfinished {
            self.never_defined(*id);
        }
        for import in &std::mem::take(&mut self.imports) {
            self.check_import(import);
        }
        self.report_reopened();
    }

    fn never_defined(&mut self, id: DefId) {
        let noun = self.model[id].kind.noun();
        let message = format!(
            "the {noun} `{}` is forward declared but never defined",
            self.model[id].name
        );
        let span = self.span_of(id);
        let used = self.states.get(id).and_then(|s| s.used);
        let in_main_file = self.sources.in_main_file(span);
        let severity = match &self.model[id].kind {
            DefinitionKind::Struct(_) | DefinitionKind::Union(_) => Severity::Error,
            // Distributed files forward declare types that another file, not always included,
            // defines.
            _ if used.is_none() && !in_main_file => return,
            DefinitionKind::Interface(_)
                if used.is_some() && in_main_file && self.options.strict =>
            {
                Severity::Error
            }
            _ => Severity::Warning,
        };
        let draft = self
            .report
            .report(severity, "never-defined", Some(span), message);
        draft.help("define it, or include the file that does");
        if let Some(used) = used {
            draft.label(used, "used here");
        }
    }

    fn check_import(&mut self, import: &Import) {
        match import {
            Import::Scope(name) => {
                let name = ScopedName {
                    absolute: true,
                    ..name.clone()
                };
                self.resolve(&name);
            }
            Import::RepositoryId(id, span) => {
                if !self.model.definitions().any(|d| d.repository_id == *id) {
                    let message =
                        format!("nothing with the repository id \"{id}\" is known to import");
                    self.report
                        .error("import", *span, message)
                        .help("include the file that defines it");
                }
            }
        }
    }
}
