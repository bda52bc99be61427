// SPDX-License-Identifier: MIT OR Apache-2.0
//! Value types: a handle and the struct of its state for each, by macros of the runtime.

use orbium_idl_model::{DefId, Definition, DefinitionKind, Member, ValueBox, ValueKind, ValueType};

use crate::emit::Emitter;
use crate::names::{self, NameSet};
use crate::plan::Plan;

impl Plan<'_> {
    /// Whether a type is a value type, or a box: its Rust type is a handle that may be null.
    pub(crate) fn is_value(&self, id: DefId) -> bool {
        matches!(
            self.model[id].kind,
            DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_)
        )
    }

    /// The value types of this file that inherit one directly.
    fn derived(&self, base: DefId) -> Vec<DefId> {
        let derived = |definition: &&Definition| match &definition.kind {
            DefinitionKind::ValueType(value) => {
                value.bases.contains(&base)
                    && self.is_mapped(definition.id)
                    && !self.is_external(definition.id)
            }
            _ => false,
        };
        let all = self.model.definitions().filter(derived);
        all.map(|definition| definition.id).collect()
    }

    /// The kind of a value type.
    pub(crate) fn value_kind(&self, id: DefId) -> Option<ValueKind> {
        match &self.model[id].kind {
            DefinitionKind::ValueType(value) => Some(value.kind),
            _ => None,
        }
    }

    /// The concrete base of a value type.
    pub(crate) fn concrete_base(&self, value: &ValueType) -> Option<DefId> {
        let is_concrete = |base: &DefId| self.value_kind(*base) != Some(ValueKind::Abstract);
        value.bases.first().copied().filter(is_concrete)
    }

    /// The abstract bases of a value type, direct and indirect.
    fn abstract_bases(&self, id: DefId) -> Vec<DefId> {
        let mut bases = self.model.all_bases(id);
        bases.retain(|base| self.value_kind(*base) == Some(ValueKind::Abstract));
        bases
    }
}

/// The addition to the declaration of an event type.
fn event(value: &ValueType) -> &'static str {
    if value.event { " as event" } else { "" }
}

impl Emitter<'_, '_> {
    pub(crate) fn value_type(&mut self, definition: &Definition, value: &ValueType) {
        match value.kind {
            ValueKind::Abstract => self.abstract_value(definition, value),
            _ => self.value_declaration(definition, value),
        }
        self.value_operations(definition, value);
        self.value_factories(definition);
    }

    fn paths_to(&self, ids: &[DefId]) -> Vec<String> {
        let path = |id: &DefId| self.plan.path_to(&self.module, *id);
        ids.iter().map(path).collect()
    }

    /// The abstract bases; for an event type also the implied one.
    fn abstract_base_paths(&self, definition: &Definition, value: &ValueType) -> String {
        let mut paths = self.paths_to(&self.plan.abstract_bases(definition.id));
        if value.event {
            paths.push("orb::EventBase".to_owned());
        }
        paths.join(", ")
    }

    fn abstract_value(&mut self, definition: &Definition, value: &ValueType) {
        let noun = format!("abstract {}", definition.kind.noun());
        self.begin(definition, "idl_abstract_value", &noun);
        let bases = self.abstract_base_paths(definition, value);
        let derived = self.paths_to(&self.plan.derived(definition.id)).join(", ");
        self.text.filled(&[
            format!("pub struct {}{},", self.declared(definition), event(value)),
            format!("[{bases}]"),
            format!("[{derived}];"),
        ]);
        self.text.close("}");
    }

    fn value_declaration(&mut self, definition: &Definition, value: &ValueType) {
        self.begin(definition, "idl_value", definition.kind.noun());
        let kind = match value.kind {
            ValueKind::Custom => "Custom",
            _ if value.truncatable => "Truncatable",
            _ => "Plain",
        };
        let inherited = match self.abstract_base_paths(definition, value) {
            none if none.is_empty() => none,
            all => format!(" + [{all}]"),
        };
        let members: Vec<Member> = value.members.iter().map(|it| it.member.clone()).collect();
        let fields = names::fields(&members);
        let derived = self.paths_to(&self.plan.derived(definition.id)).join(", ");
        let head = format!(
            "pub struct {}, {kind}{}{inherited},",
            self.declared_value(definition),
            event(value)
        );
        self.text.line(head);
        let mut base_field = None;
        if let Some(base) = self.plan.concrete_base(value) {
            let mut taken = NameSet::new();
            taken.extend(fields.iter().cloned());
            let field = names::fresh("base", &mut taken);
            let line = format!(
                "{field}: {}[{}] = {},",
                self.plan.path_to(&self.module, base),
                self.path_of(base, self.plan.value_state(base)),
                self.path_of(base, self.plan.type_code(base)),
            );
            self.text.line(line);
            base_field = Some(field);
        }
        let derived = format!("[{derived}]");
        if value.members.is_empty() {
            self.text.line(format!("{derived} {{}}"));
        } else {
            self.text.open(format!("{derived} {{"));
            for (state, field) in value.members.iter().zip(fields) {
                self.comment(state.member.doc.as_deref());
                let name = self.named(&field, &state.member.name);
                // The type may contain the value: it is always explicit.
                let ty = self.member_type(&state.member.ty, true);
                let visibility = if state.public { "public" } else { "private" };
                self.text.line(format!("{visibility} {name}: {ty},"));
            }
            self.text.close("}");
        }
        if !self.plan.derive_default(&members) {
            self.initial_members("initial Self {", base_field.as_deref(), &members);
        }
        self.text.close("}");
    }

    pub(crate) fn value_box(&mut self, definition: &Definition, boxed: &ValueBox) {
        self.begin(definition, "idl_value_box", "value box");
        let ty = self.member_type(&boxed.ty, true);
        let head = format!("pub struct {}, {ty};", self.declared_value(definition));
        self.text.line(head);
        if !self.plan.derives_default(&boxed.ty) {
            let initial = self.plan.initial(&boxed.ty);
            self.text.line(format!("initial {initial};"));
        }
        self.text.close("}");
    }

    /// `Name("name")(NameState): NAME_TYPE = "IDL:…"`.
    fn declared_value(&self, definition: &Definition) -> String {
        let declared = self.declared(definition);
        let state = self.plan.value_state(definition.id);
        match declared.split_once(": ") {
            Some((name, rest)) => format!("{name}({state}): {rest}"),
            None => declared,
        }
    }

    /// The path to a name in the module of a definition.
    fn path_of(&self, definition: DefId, name: &str) -> String {
        let place = self.plan.place_of(definition);
        self.plan.path(&self.module, &place.module, name)
    }
}
