// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repository ids (CORBA 3.3 Part 1, 14.7).

use super::Checker;
use super::repository_id::{IdState, Origin, Reopened};
use super::scope::{Entity, ScopeId};
use crate::diagnostic::Severity;
use crate::diagnostic::article::with_article;
use crate::model::DefId;
use crate::source::Span;
use crate::syntax::ast::{Ident, Pragma, ScopedName};

fn join(prefix: &str, name: &str) -> String {
    match prefix {
        "" => name.to_owned(),
        _ => format!("{prefix}/{name}"),
    }
}

impl Checker<'_> {
    /// The default id of a name declared in the current scope.
    pub(super) fn default_id(&self, name: &str) -> (String, IdState) {
        let body = join(&self.scopes[self.scope.0].prefix, name);
        (
            format!("IDL:{body}:1.0"),
            IdState {
                body,
                origin: Origin::Default,
            },
        )
    }

    /// The prefix of names inside the definition; its own name is in the current scope.
    pub(super) fn scope_prefix(&self, id: DefId, name: &str) -> String {
        match self.type_prefixes.get(id) {
            Some(prefix) => join(prefix, &self.model[id].path.join("/")),
            None => join(&self.scopes[self.scope.0].prefix, name),
        }
    }

    pub(super) fn pragma(&mut self, pragma: &Pragma) {
        match pragma {
            Pragma::Prefix(prefix) => {
                let natural = if prefix.is_empty() {
                    self.natural_prefix()
                } else {
                    prefix.clone()
                };
                self.scopes[self.scope.0].prefix = natural;
            }
            Pragma::Id(name, id, span) => {
                if let Some(target) = self.pragma_target(name) {
                    self.check_format(id, *span);
                    self.set_id(target, id.clone(), Origin::Pragma, *span);
                }
            }
            Pragma::Version(name, version, span) => {
                if let Some(target) = self.pragma_target(name) {
                    self.set_version(target, version, *span);
                }
            }
        }
    }

    /// The names from file scope to the current scope: the prefix of names without an explicit one.
    fn natural_prefix(&self) -> String {
        self.scopes[self.scope.0]
            .def
            .map_or_else(String::new, |id| self.model[id].path.join("/"))
    }

    fn pragma_target(&mut self, name: &ScopedName) -> Option<DefId> {
        match self.resolve(name)? {
            Entity::Def(id) => Some(id),
            other => {
                let message = format!(
                    "{} has no repository id",
                    with_article(self.entity_noun(other))
                );
                self.report.warning("no-repository-id", name.span, message);
                None
            }
        }
    }

    fn set_id(&mut self, target: DefId, id: String, origin: Origin, span: Span) {
        let Some(state) = self.states.get(target) else {
            return;
        };
        let same = self.model[target].repository_id == id;
        let fixed = match origin {
            Origin::TypeId => matches!(state.id.origin, Origin::TypeId | Origin::Pragma),
            _ => state.id.origin != Origin::Default,
        };
        let refused =
            fixed && (!same || (origin == Origin::TypeId && state.id.origin == Origin::TypeId));
        if refused {
            let what = if origin == Origin::TypeId {
                "typeid"
            } else {
                "repository id"
            };
            let message = format!(
                "the {what} of `{}` is already set: it cannot be redefined",
                self.model[target].name
            );
            let help = format!(
                "it has the repository id \"{}\"",
                self.model[target].repository_id
            );
            self.report.error("id-redefined", span, message).help(help);
            return;
        }
        self.model.definition_mut(target).repository_id = id;
        if let Some(state) = self.states.get_mut(target) {
            state.id.origin = origin;
        }
    }

    fn set_version(&mut self, target: DefId, version: &str, span: Span) {
        let Some(state) = self.states.get(target) else {
            return;
        };
        let id = format!("IDL:{}:{version}", state.id.body);
        let same = self.model[target].repository_id == id;
        if state.id.origin != Origin::Default && !same {
            let message = format!(
                "the version of `{}` is already set: its repository id is \"{}\"",
                self.model[target].name, self.model[target].repository_id
            );
            self.report
                .error("version-redefined", span, message)
                .help("remove one of the pragmas");
            return;
        }
        self.model.definition_mut(target).repository_id = id;
        if let Some(state) = self.states.get_mut(target)
            && state.id.origin == Origin::Default
        {
            state.id.origin = Origin::Version;
        }
    }

    fn check_format(&mut self, id: &str, span: Span) {
        let number = |n: &str| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit());
        let good = match id.split_once(':') {
            Some(("IDL", rest)) => {
                let (body, version) = rest.rsplit_once(':').unwrap_or(("", ""));
                let (major, minor) = version.split_once('.').unwrap_or(("", ""));
                !body.is_empty() && number(major) && number(minor)
            }
            Some((format, rest)) => !format.is_empty() && !rest.is_empty(),
            None => false,
        };
        if !good {
            let message = format!("the repository id \"{id}\" is malformed");
            self.report
                .warning("malformed-id", span, message)
                .help("the usual form is \"IDL:prefix/Module/Name:1.0\"");
        }
    }

    pub(super) fn type_id(&mut self, name: &ScopedName, id: &[u16], span: Span) {
        let id = String::from_utf16_lossy(id);
        if let Some(target) = self.pragma_target(name) {
            self.check_format(&id, span);
            self.set_id(target, id, Origin::TypeId, span);
        }
    }

    /// `typeprefix` (CORBA 3.3 Part 1, 14.7.5.3): the prefix goes before the full name of the
    /// scope and of everything in it that has no explicit id.
    pub(super) fn type_prefix(&mut self, name: Option<&ScopedName>, prefix: &[u16], span: Span) {
        let prefix = String::from_utf16_lossy(prefix);
        let Some(name) = name else {
            self.scopes[0].prefix = prefix;
            return;
        };
        let Some(target) = self.pragma_target(name) else {
            return;
        };
        if !self.scope_of.contains(target) {
            let message = format!(
                "`typeprefix` needs a scope such as a module or interface, and `{}` is none",
                name.text()
            );
            self.report.error("typeprefix", span, message);
            return;
        }
        match self.type_prefixes.insert(target, prefix.clone()) {
            Some(before) if before == prefix => return,
            Some(before) => {
                let message = format!(
                    "the typeprefix of `{}` is already set to \"{before}\"",
                    name.text()
                );
                self.report
                    .error("typeprefix", span, message)
                    .help("remove one of the two");
                return;
            }
            None => {}
        }
        let mut pending = vec![target];
        while let Some(id) = pending.pop() {
            pending.extend_from_slice(self.model.contents(id));
            let body = join(&prefix, &self.model[id].path.join("/"));
            if let Some(scope) = self.scope_of.get(id) {
                self.scopes[scope.0].prefix.clone_from(&body);
            }
            let Some(state) = self.states.get_mut(id) else {
                continue;
            };
            if matches!(state.id.origin, Origin::Default | Origin::Version) {
                let definition = self.model.definition_mut(id);
                let version = definition
                    .repository_id
                    .rsplit_once(':')
                    .map_or("1.0", |(_, v)| v)
                    .to_owned();
                definition.repository_id = format!("IDL:{body}:{version}");
            }
            state.id.body = body;
        }
    }

    pub(super) fn enter_file(&mut self) {
        let natural = self.natural_prefix();
        let before = std::mem::replace(&mut self.scopes[self.scope.0].prefix, natural);
        self.saved_prefixes.push((self.scope, before));
    }

    pub(super) fn leave_file(&mut self) {
        if let Some((ScopeId(scope), prefix)) = self.saved_prefixes.pop() {
            self.scopes[scope].prefix = prefix;
        }
    }

    /// Checks that a module keeps one repository id in a unit. Differences are reported at the end.
    pub(super) fn check_reopened_prefix(&mut self, id: DefId, name: &Ident) {
        let Some(here) = self.other_id(id, name) else {
            return;
        };
        self.reopened.push(Reopened {
            module: id,
            place: name.span,
            first: self.span_of(id),
            before: self.model[id].repository_id.clone(),
            here,
        });
    }

    /// Reports modules reopened under another prefix, unless a `typeprefix` of the module or of an
    /// enclosing one has decided: openings within the latter are not reported individually.
    pub(super) fn report_reopened(&mut self) {
        let severity = if self.options.strict {
            Severity::Error
        } else {
            Severity::Warning
        };
        let all = std::mem::take(&mut self.reopened);
        for (index, reopened) in all.iter().enumerate() {
            let mut around = Some(reopened.module);
            let mut decided = false;
            while let Some(id) = around {
                decided |= self.type_prefixes.contains(id);
                // The innermost finding of an opening is a consequence of the outermost.
                decided |= id != reopened.module && all[..index].iter().any(|r| r.module == id);
                around = self.model[id].parent;
            }
            if decided {
                continue;
            }
            let message = format!(
                "the module `{}` is reopened with an inconsistent repository id",
                self.model[reopened.module].name
            );
            self.report
                .report(severity, "reopened-prefix", Some(reopened.place), message)
                .label(
                    reopened.first,
                    format!("here it is \"{}\"", reopened.before),
                )
                .help(format!(
                    "put both under the same `#pragma prefix`; here it would be \"{}\"",
                    reopened.here
                ));
        }
    }

    /// Checks that forward and full declaration have the same prefix.
    pub(super) fn check_forward_prefix(&mut self, id: DefId, name: &Ident) {
        let message = format!(
            "the repository id prefix of `{}` differs from that of its forward declaration",
            name.name
        );
        let Some(here) = self.other_id(id, name) else {
            return;
        };
        let (before, first) = (self.model[id].repository_id.clone(), self.span_of(id));
        self.report
            .error("forward-prefix", name.span, message)
            .label(first, format!("here it is \"{before}\""))
            .help(format!(
                "put both under the same `#pragma prefix`; here it would be \"{here}\""
            ));
    }

    /// The id that a known definition would have if it were first declared here, if that differs
    /// and its present id is not explicit.
    fn other_id(&self, id: DefId, name: &Ident) -> Option<String> {
        let (other, now) = self.default_id(&name.name);
        let state = self.states.get(id)?;
        let explicit = self.type_prefixes.contains(id)
            || matches!(state.id.origin, Origin::TypeId | Origin::Pragma);
        (state.id.body != now.body && !explicit).then_some(other)
    }
}
