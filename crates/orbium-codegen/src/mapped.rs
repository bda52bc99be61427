// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions that cannot be generated, with the reasons.

use std::collections::HashMap;

use orbium_idl_model::{
    DefId, DefMap, DefSet, DefinitionKind, Factory, InterfaceKind, Member, Model, Type, ValueType,
};

use crate::Options;
use crate::interface::demux;

/// Maximum number of operations and attributes of one interface, for its table.
const MAX_FEATURES: usize = 30_000;

/// Left-out definitions with the reason; no reason if that of the enclosing scope suffices.
pub(crate) type LeftOut = DefMap<Option<Reason>>;

/// Reason for leaving out a definition.
#[derive(Debug, Clone)]
pub(crate) struct Reason {
    pub(crate) text: String,
    /// The construct without a mapping: that of the definition, or of one that it uses.
    pub(crate) construct: &'static str,
    /// Whether the definition itself is of that construct.
    pub(crate) own: bool,
}

fn because(construct: &'static str, text: impl Into<String>) -> Reason {
    let text = text.into();
    Reason {
        text,
        construct,
        own: true,
    }
}

/// Types named by a value type's declaration.
fn state(value: &ValueType) -> impl Iterator<Item = &Type> {
    value.members.iter().map(|state| &state.member.ty)
}

/// Finds the definitions without a mapping, and their users.
pub(crate) fn left_out(model: &Model, options: &Options) -> LeftOut {
    let mut out = not_needed(model);
    for definition in model.definitions() {
        let reason = match &definition.kind {
            DefinitionKind::ValueType(value) if value.forward_only => {
                because("valuetype", "it is declared but never defined")
            }
            // The front end has a separate type for this one.
            DefinitionKind::Native if definition.scoped_name() == "::CORBA::TypeCode" => {
                out.insert(definition.id, None);
                continue;
            }
            DefinitionKind::Native if options.native(&definition.scoped_name()).is_none() => {
                because("native type", "no Rust type was named for this native type")
            }
            DefinitionKind::Unmapped(unmapped) => {
                let text = format!("`{}` has no mapping", unmapped.construct);
                because(unmapped.construct, text)
            }
            DefinitionKind::Interface(interface)
                if interface.kind != InterfaceKind::Local && !out.contains(definition.id) =>
            {
                match ambiguity(model, definition.id) {
                    Some(text) => because("ambiguous interface", text),
                    None => continue,
                }
            }
            _ => continue,
        };
        if !out.contains(definition.id) {
            out.insert(definition.id, Some(reason));
        }
    }
    // Uses may precede the used definitions, so this is repeated until a fixed point is reached.
    loop {
        let mut found = false;
        for definition in model.definitions() {
            if out.contains(definition.id) {
                continue;
            }
            let reason = match definition.parent {
                Some(parent) if out.contains(parent) => None,
                _ => match reason(model, &out, definition.id) {
                    Some(reason) => Some(reason),
                    None => continue,
                },
            };
            out.insert(definition.id, reason);
            found = true;
        }
        if !found {
            return out;
        }
    }
}

/// The operations of an interface that no table distinguishes by their names, in a sentence, if
/// there are such. IDL has no equal ones, but the reply handlers of two bases may; and names can be
/// chosen so that they have the same hash.
fn ambiguity(model: &Model, interface: DefId) -> Option<String> {
    let mut known = HashMap::new();
    for feature in model.all_features(interface) {
        let name = &model[feature].name;
        let wires = match &model[feature].kind {
            DefinitionKind::Attribute(_) => vec![format!("_get_{name}"), format!("_set_{name}")],
            _ => vec![name.clone()],
        };
        for wire in wires {
            if let Some(other) = known.insert(demux::hash(wire.as_bytes()), feature) {
                let [other, this] = [other, feature].map(|id| model[id].scoped_name());
                return Some(format!(
                    "its operations `{other}` and `{this}` cannot be distinguished by their names"
                ));
            }
        }
    }
    None
}

/// Unused definitions of included files: left out without a warning.
fn not_needed(model: &Model) -> LeftOut {
    let mut needed = DefSet::default();
    let mut pending: Vec<DefId> = Vec::new();
    for definition in model.definitions() {
        let container = matches!(definition.kind, DefinitionKind::Module(_));
        if definition.in_main_file && !container {
            pending.push(definition.id);
        }
    }
    while let Some(id) = pending.pop() {
        if !needed.insert(id) {
            continue;
        }
        let definition = &model[id];
        if let Some(parent) = definition.parent {
            pending.push(parent);
        }
        if !matches!(definition.kind, DefinitionKind::Module(_)) {
            pending.extend_from_slice(model.contents(id));
            used_by(&definition.kind, &mut pending);
        }
    }
    let mut others = LeftOut::default();
    for definition in model.definitions() {
        if !needed.contains(definition.id) {
            others.insert(definition.id, None);
        }
    }
    others
}

fn used_by(kind: &DefinitionKind, into: &mut Vec<DefId>) {
    let mut members: &[Member] = &[];
    match kind {
        DefinitionKind::Struct(s) => members = &s.members,
        DefinitionKind::Exception(e) => members = &e.members,
        DefinitionKind::Union(u) => {
            into.extend(Model::named_in(&u.discriminator));
            for case in &u.cases {
                into.extend(Model::named_in(&case.member.ty));
            }
        }
        DefinitionKind::Alias(alias) => into.extend(Model::named_in(&alias.ty)),
        DefinitionKind::Constant(constant) => into.extend(Model::named_in(&constant.ty)),
        DefinitionKind::Interface(interface) => into.extend_from_slice(&interface.bases),
        DefinitionKind::ValueType(value) => {
            into.extend_from_slice(&value.bases);
            into.extend_from_slice(&value.supports);
            for ty in state(value) {
                into.extend(Model::named_in(ty));
            }
            for factory in &value.factories {
                into.extend_from_slice(&factory.raises);
                for parameter in &factory.parameters {
                    into.extend(Model::named_in(&parameter.ty));
                }
            }
        }
        DefinitionKind::ValueBox(boxed) => into.extend(Model::named_in(&boxed.ty)),
        DefinitionKind::Operation(operation) => {
            into.extend(Model::named_in(&operation.result));
            for parameter in &operation.parameters {
                into.extend(Model::named_in(&parameter.ty));
            }
            into.extend_from_slice(&operation.raises);
        }
        DefinitionKind::Attribute(attribute) => {
            into.extend(Model::named_in(&attribute.ty));
            into.extend_from_slice(&attribute.get_raises);
            into.extend_from_slice(&attribute.set_raises);
        }
        _ => {}
    }
    for member in members {
        into.extend(Model::named_in(&member.ty));
    }
}

/// The reason why a definition cannot be generated, given those that are already left out.
fn reason(model: &Model, out: &LeftOut, id: DefId) -> Option<Reason> {
    let uses = Uses { model, out };
    match &model[id].kind {
        DefinitionKind::Struct(s) => uses.members(&s.members),
        DefinitionKind::Exception(e) => uses.members(&e.members),
        DefinitionKind::Union(u) => {
            for case in &u.cases {
                let reason = uses.part(&case.member.ty);
                if reason.is_some() {
                    return reason;
                }
            }
            None
        }
        DefinitionKind::ValueType(value) => {
            let state = state(value).find_map(|ty| uses.part(ty));
            let bases = uses.ids(&value.bases);
            bases.or_else(|| uses.ids(&value.supports)).or(state)
        }
        DefinitionKind::ValueBox(boxed) => uses.part(&boxed.ty),
        DefinitionKind::Alias(alias) => uses.ty(&alias.ty),
        DefinitionKind::Constant(constant) => uses.ty(&constant.ty),
        DefinitionKind::Interface(interface) => {
            let mut reason = uses.ids(&interface.bases);
            // An attribute counts twice: it is read and written.
            if reason.is_none() && model.all_features(id).len() > MAX_FEATURES {
                reason = Some(because(
                    "long interface",
                    format!("it has more than {MAX_FEATURES} operations and attributes"),
                ));
            }
            reason
        }
        DefinitionKind::Operation(operation) => {
            let mut reason = uses.ids(&operation.raises);
            for parameter in &operation.parameters {
                if reason.is_none() {
                    reason = uses.feature(id, &parameter.ty);
                }
            }
            if reason.is_none() {
                reason = uses.feature(id, &operation.result);
            }
            reason
        }
        DefinitionKind::Attribute(attribute) => {
            let mut reason = uses.ids(&attribute.get_raises);
            if reason.is_none() {
                reason = uses.ids(&attribute.set_raises);
            }
            if reason.is_none() {
                reason = uses.feature(id, &attribute.ty);
            }
            reason
        }
        _ => None,
    }
}

/// Whether a factory of a value type uses no left-out definition.
pub(crate) fn is_mapped_factory(model: &Model, out: &LeftOut, factory: &Factory) -> bool {
    Uses { model, out }.factory(factory).is_none()
}

struct Uses<'m> {
    model: &'m Model,
    out: &'m LeftOut,
}

impl Uses<'_> {
    fn id(&self, id: DefId) -> Option<Reason> {
        let used = self.out.contains(id);
        used.then(|| Reason {
            text: format!(
                "it uses `{}`, which is left out",
                self.model[id].scoped_name()
            ),
            construct: self.construct(id),
            own: false,
        })
    }

    /// The construct for which a definition, or the enclosing scope, was left out.
    fn construct(&self, id: DefId) -> &'static str {
        let mut next = Some(id);
        while let Some(id) = next {
            if let Some(Some(reason)) = self.out.get(id) {
                return reason.construct;
            }
            next = self.model[id].parent;
        }
        ""
    }

    fn ids(&self, ids: &[DefId]) -> Option<Reason> {
        for id in ids {
            let reason = self.id(*id);
            if reason.is_some() {
                return reason;
            }
            if matches!(self.model[*id].kind, DefinitionKind::Native) {
                let name = self.model[*id].scoped_name();
                return Some(Reason {
                    own: false,
                    ..because("native type", format!("it raises the native type `{name}`"))
                });
            }
        }
        None
    }

    fn ty(&self, ty: &Type) -> Option<Reason> {
        match ty {
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.ty(element),
            Type::Named(id) => self.id(*id),
            _ => None,
        }
    }

    /// The reason why a type cannot be marshalled, though it is mapped.
    fn local(&self, ty: &Type) -> Option<Reason> {
        let local = self.model.type_is_local(ty);
        local.then(|| Reason {
            text: format!("it contains the local type `{}`", self.model.type_name(ty)),
            construct: "local type",
            own: false,
        })
    }

    /// The reason why a type cannot be part of another.
    fn part(&self, ty: &Type) -> Option<Reason> {
        match self.ty(ty) {
            Some(reason) => Some(reason),
            None => self.local(ty),
        }
    }

    fn members(&self, members: &[Member]) -> Option<Reason> {
        for member in members {
            let reason = self.part(&member.ty);
            if reason.is_some() {
                return reason;
            }
        }
        None
    }

    /// The reason why a factory of a value type cannot be generated.
    fn factory(&self, factory: &Factory) -> Option<Reason> {
        let mut types = factory.parameters.iter().map(|it| &it.ty);
        self.ids(&factory.raises)
            .or_else(|| types.find_map(|ty| self.ty(ty)))
    }

    /// The type of a parameter, result or attribute: local types are only permitted in local
    /// interfaces, and there not as parts of others.
    fn feature(&self, id: DefId, ty: &Type) -> Option<Reason> {
        let owner = self.model[id].parent.map(|parent| &self.model[parent].kind);
        let local =
            matches!(owner, Some(DefinitionKind::Interface(i)) if i.kind == InterfaceKind::Local);
        let named = matches!(self.model.resolve_alias(ty), Type::Named(_));
        match self.ty(ty) {
            None if !local || !named => self.local(ty),
            reason => reason,
        }
    }
}
