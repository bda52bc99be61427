// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions on which an interface depends.

use orbium_idl::model::{DefId, DefSet, DefinitionKind, Member, Model, Type};

/// The definitions that are written.
pub(super) struct Selection {
    /// In full, with the scopes around them.
    defined: DefSet,
    /// At least by name, with the scopes around them.
    named: DefSet,
}

impl Selection {
    pub(super) fn of(model: &Model, interface: DefId) -> Self {
        let mut selection = Self {
            defined: DefSet::default(),
            named: DefSet::default(),
        };
        let mut described = model.all_bases(interface);
        described.push(interface);
        let mut pending = Vec::new();
        for id in described {
            selection.define(model, id);
            for feature in model.contents(id) {
                feature_parts(model, *feature, &mut pending);
            }
        }
        let mut seen = DefSet::default();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &model[id].kind {
                DefinitionKind::Interface(_) => selection.name(model, id),
                _ => {
                    selection.define(model, id);
                    parts(model, id, &mut pending);
                }
            }
        }
        selection
    }

    fn define(&mut self, model: &Model, id: DefId) {
        let mut scope = Some(id);
        while let Some(id) = scope {
            self.defined.insert(id);
            scope = model[id].parent;
        }
        self.name(model, id);
    }

    fn name(&mut self, model: &Model, id: DefId) {
        let mut scope = Some(id);
        while let Some(id) = scope {
            self.named.insert(id);
            scope = model[id].parent;
        }
    }

    pub(super) fn is_defined(&self, id: DefId) -> bool {
        self.defined.contains(id)
    }

    /// Whether a forward declaration precedes all definitions: of an interface or a value type, a
    /// recursive struct or union, or a module with such a definition.
    pub(super) fn has_forward(&self, model: &Model, id: DefId) -> bool {
        if !self.named.contains(id) {
            return false;
        }
        match &model[id].kind {
            DefinitionKind::Module(module) => module
                .contents
                .iter()
                .any(|inner| self.has_forward(model, *inner)),
            DefinitionKind::Interface(_) | DefinitionKind::ValueType(_) => true,
            DefinitionKind::Struct(_) | DefinitionKind::Union(_) => model.is_recursive(id),
            _ => false,
        }
    }
}

/// Adds the definitions that an operation or attribute uses.
fn feature_parts(model: &Model, feature: DefId, into: &mut Vec<DefId>) {
    match &model[feature].kind {
        DefinitionKind::Operation(operation) => {
            named_in(&operation.result, into);
            for parameter in &operation.parameters {
                named_in(&parameter.ty, into);
            }
            into.extend(&operation.raises);
        }
        DefinitionKind::Attribute(attribute) => {
            named_in(&attribute.ty, into);
            into.extend(&attribute.get_raises);
            into.extend(&attribute.set_raises);
        }
        _ => {}
    }
}

/// Adds the definitions that a type uses.
fn parts(model: &Model, id: DefId, into: &mut Vec<DefId>) {
    let mut members: Vec<&Member> = Vec::new();
    match &model[id].kind {
        DefinitionKind::Struct(it) => members.extend(&it.members),
        DefinitionKind::Exception(it) => members.extend(&it.members),
        DefinitionKind::Union(it) => {
            named_in(&it.discriminator, into);
            members.extend(it.cases.iter().map(|case| &case.member));
        }
        DefinitionKind::ValueType(it) => {
            into.extend(&it.bases);
            into.extend(&it.supports);
            members.extend(it.members.iter().map(|state| &state.member));
        }
        DefinitionKind::Alias(it) => named_in(&it.ty, into),
        DefinitionKind::ValueBox(it) => named_in(&it.ty, into),
        _ => {}
    }
    for member in members {
        named_in(&member.ty, into);
    }
    // A type defined within another one is included with it.
    into.extend(model[id].parent.filter(|it| is_type(model, *it)));
}

fn is_type(model: &Model, id: DefId) -> bool {
    !matches!(
        model[id].kind,
        DefinitionKind::Module(_) | DefinitionKind::Interface(_)
    )
}

fn named_in(ty: &Type, into: &mut Vec<DefId>) {
    match ty {
        Type::Named(id) => into.push(*id),
        Type::Sequence { element, .. } | Type::Array { element, .. } => named_in(element, into),
        _ => {}
    }
}
