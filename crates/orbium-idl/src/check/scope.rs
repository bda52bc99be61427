// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scopes and declarations (CORBA 3.3 Part 1, 7.20).

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::model::DefId;
use crate::source::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeId(pub(super) usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    File,
    Module,
    /// Interface, value type, component or home.
    Interface,
    /// Struct, union or exception.
    Members,
    Operation,
}

/// The meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    Def(DefId),
    Enumerator {
        of: DefId,
        index: u32,
    },
    /// A member or a port, to which no name can refer.
    Member(Span),
    Parameter(Span),
    /// A factory or finder: not inherited.
    Factory(Span),
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: Rc<str>,
    pub(super) span: Span,
    pub(super) entity: Entity,
    /// A clash with another meaning of the name in its scope has been reported: names that are
    /// looked up there do not refer to a parameter, a member or an operation.
    pub(super) is_passed_over: bool,
}

/// A name from an outer scope that was used in a scope, which binds it there.
#[derive(Debug, Clone)]
pub(super) struct Use {
    pub(super) name: Rc<str>,
    pub(super) span: Span,
}

/// The meanings of a name in a scope.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The declaration in the scope itself.
    pub(super) own: Option<Entry>,
    pub(super) inherited: Vec<Entry>,
}

/// All maps are keyed by the name in lower case.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    pub(super) def: Option<DefId>,
    pub(super) parent: Option<ScopeId>,
    /// The scope's own name, which cannot be declared inside it.
    pub(super) name: Option<(Rc<str>, Span)>,
    pub(super) names: BTreeMap<Rc<str>, Known>,
    pub(super) uses: HashMap<String, Use>,
    /// The prefix of names of this scope in repository ids.
    pub(super) prefix: String,
}

impl Scope {
    pub(super) fn root() -> Self {
        Scope {
            kind: ScopeKind::File,
            def: None,
            parent: None,
            name: None,
            names: BTreeMap::new(),
            uses: HashMap::new(),
            prefix: String::new(),
        }
    }

    /// The scope's own declaration under a key.
    pub(super) fn own(&self, key: &str) -> Option<&Entry> {
        self.names.get(key)?.own.as_ref()
    }

    /// The inherited declarations under a key.
    pub(super) fn inherited(&self, key: &str) -> &[Entry] {
        match self.names.get(key) {
            Some(known) => &known.inherited,
            None => &[],
        }
    }
}

pub(super) fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}
