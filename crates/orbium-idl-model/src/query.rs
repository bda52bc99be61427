// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queries on a model.

use std::ops::Index;

use crate::{DefId, DefSet, Definition, DefinitionKind, InterfaceKind, Member, Model, Type};

impl Index<DefId> for Model {
    type Output = Definition;

    /// The definition with that id, which must come from this model.
    fn index(&self, id: DefId) -> &Definition {
        &self.definitions[id.0 as usize]
    }
}

impl Model {
    /// Every definition, parents before their contents.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter()
    }

    /// The definitions at file scope, in order.
    pub fn top_level(&self) -> &[DefId] {
        &self.top_level
    }

    /// The definitions directly within another, in order. Empty for definitions that cannot contain
    /// others.
    pub fn contents(&self, id: DefId) -> &[DefId] {
        match &self[id].kind {
            DefinitionKind::Module(m) => &m.contents,
            DefinitionKind::Interface(i) => &i.contents,
            DefinitionKind::Struct(s) => &s.contents,
            DefinitionKind::Union(u) => &u.contents,
            DefinitionKind::Exception(e) => &e.contents,
            DefinitionKind::ValueType(v) => &v.contents,
            DefinitionKind::Unmapped(u) => &u.contents,
            _ => &[],
        }
    }

    /// Finds a definition by its name from file scope; the leading `::` may be omitted. Names are
    /// compared exactly.
    pub fn lookup(&self, scoped_name: &str) -> Option<&Definition> {
        let found = if scoped_name.starts_with("::") {
            self.by_name.get(scoped_name)
        } else {
            self.by_name.get(&format!("::{scoped_name}"))
        };
        found.map(|id| &self[*id])
    }

    /// Follows typedefs until the type is not an alias. Only the outermost type is resolved: the
    /// element of a sequence remains as written.
    pub fn resolve_alias<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        while let Type::Named(id) = ty {
            match &self[*id].kind {
                DefinitionKind::Alias(alias) => ty = &alias.ty,
                _ => break,
            }
        }
        ty
    }

    /// The definition that a type names after following typedefs, if it names one.
    pub fn resolve_named(&self, ty: &Type) -> Option<&Definition> {
        match self.resolve_alias(ty) {
            Type::Named(id) => Some(&self[*id]),
            _ => None,
        }
    }

    /// The direct bases of an interface or value type; empty for others.
    pub fn bases(&self, id: DefId) -> &[DefId] {
        match &self[id].kind {
            DefinitionKind::Interface(i) => &i.bases,
            DefinitionKind::ValueType(v) => &v.bases,
            _ => &[],
        }
    }

    /// All bases of an interface or value type, direct and indirect, each once and without itself:
    /// depth first, left to right.
    pub fn all_bases(&self, id: DefId) -> Vec<DefId> {
        let mut found = Vec::new();
        let mut seen = DefSet::default();
        seen.insert(id);
        let mut pending = self.bases(id).to_vec();
        pending.reverse();
        while let Some(base) = pending.pop() {
            if seen.insert(base) {
                found.push(base);
                for base in self.bases(base).iter().rev() {
                    pending.push(*base);
                }
            }
        }
        found
    }

    /// The operations and attributes of an interface, the inherited ones first (the farthest
    /// base first of all), each once.
    pub fn all_features(&self, id: DefId) -> Vec<DefId> {
        let mut owners = self.all_bases(id);
        owners.reverse();
        owners.push(id);
        let mut features = Vec::new();
        for owner in &owners {
            for id in self.contents(*owner) {
                let kind = &self[*id].kind;
                if let DefinitionKind::Operation(_) | DefinitionKind::Attribute(_) = kind {
                    features.push(*id);
                }
            }
        }
        features
    }

    /// Whether a struct, union, exception or value type contains itself, through sequences or
    /// directly. Interfaces are references, so a type is not recursive through them.
    pub fn is_recursive(&self, id: DefId) -> bool {
        let mut seen = DefSet::default();
        let mut pending = self.parts(id);
        while let Some(part) = pending.pop() {
            if part == id {
                return true;
            }
            if seen.insert(part) {
                pending.append(&mut self.parts(part));
            }
        }
        false
    }

    /// Whether a definition can only be used within the process: a local interface, a native, or a
    /// type that contains one.
    pub fn is_local(&self, id: DefId) -> bool {
        self.type_is_local(&Type::Named(id))
    }

    /// Whether a type is local in the sense of [`Model::is_local`].
    pub fn type_is_local(&self, ty: &Type) -> bool {
        let local = |kind: &DefinitionKind| match kind {
            DefinitionKind::Interface(i) => i.kind == InterfaceKind::Local,
            DefinitionKind::Native => true,
            _ => false,
        };
        self.find_part(ty, local).is_some()
    }

    /// The first definition that a type is or contains, at any depth, for which `wanted` holds.
    fn find_part(&self, ty: &Type, wanted: impl Fn(&DefinitionKind) -> bool) -> Option<DefId> {
        let mut seen = DefSet::default();
        let mut pending = Vec::new();
        named_in(ty, &mut pending);
        while let Some(part) = pending.pop() {
            if !seen.insert(part) {
                continue;
            }
            if wanted(&self[part].kind) {
                return Some(part);
            }
            pending.append(&mut self.parts(part));
        }
        None
    }

    /// The definitions of which the type `id` directly consists: member, element and alias types.
    pub fn parts(&self, id: DefId) -> Vec<DefId> {
        let mut parts = Vec::new();
        let mut members: &[Member] = &[];
        match &self[id].kind {
            DefinitionKind::Struct(s) => members = &s.members,
            DefinitionKind::Exception(e) => members = &e.members,
            DefinitionKind::Union(u) => {
                for case in &u.cases {
                    named_in(&case.member.ty, &mut parts);
                }
            }
            DefinitionKind::ValueType(v) => {
                for state in &v.members {
                    named_in(&state.member.ty, &mut parts);
                }
                parts.extend_from_slice(&v.bases);
            }
            DefinitionKind::Alias(alias) => named_in(&alias.ty, &mut parts),
            DefinitionKind::ValueBox(boxed) => named_in(&boxed.ty, &mut parts),
            _ => {}
        }
        for member in members {
            named_in(&member.ty, &mut parts);
        }
        parts
    }

    /// The type in IDL spelling, names from file scope, such as `sequence<::M::S, 4>`.
    /// Array dimensions follow in brackets.
    ///
    /// ```
    /// use orbium_idl_model::{Model, Type};
    ///
    /// let words = Type::Sequence { element: Box::new(Type::String(None)), bound: Some(4) };
    /// assert_eq!(Model::default().type_name(&words), "sequence<string, 4>");
    /// ```
    pub fn type_name(&self, ty: &Type) -> String {
        let bounded = |word: &str, bound: Option<u32>| match bound {
            Some(bound) => format!("{word}<{bound}>"),
            None => word.to_owned(),
        };
        match ty {
            Type::String(bound) => bounded("string", *bound),
            Type::WString(bound) => bounded("wstring", *bound),
            Type::Fixed { digits, scale } => format!("fixed<{digits}, {scale}>"),
            Type::Sequence {
                element,
                bound: None,
            } => {
                format!("sequence<{}>", self.type_name(element))
            }
            Type::Sequence {
                element,
                bound: Some(bound),
            } => {
                format!("sequence<{}, {bound}>", self.type_name(element))
            }
            Type::Array {
                element,
                dimensions,
            } => {
                let mut name = self.type_name(element);
                for dimension in dimensions {
                    name.push_str(&format!("[{dimension}]"));
                }
                name
            }
            Type::Named(id) => self[*id].scoped_name(),
            simple => simple.keyword().unwrap_or("?").to_owned(),
        }
    }
}

impl Model {
    /// The definitions that a type names, directly or as element.
    pub fn named_in(ty: &Type) -> Vec<DefId> {
        let mut named = Vec::new();
        named_in(ty, &mut named);
        named
    }
}

fn named_in(ty: &Type, into: &mut Vec<DefId>) {
    match ty {
        Type::Named(id) => into.push(*id),
        Type::Sequence { element, .. } | Type::Array { element, .. } => named_in(element, into),
        _ => {}
    }
}
