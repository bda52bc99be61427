// SPDX-License-Identifier: MIT OR Apache-2.0
//! Comparison of a stored definition with that of the model.

use std::collections::HashSet;

use orbium_idl::model::{DefId, DefinitionKind, ValueType};

use super::{Loaded, Loading};
use crate::entry::{Body, Key, TypeDef};
use crate::error::LoadError;

impl Loading<'_, '_> {
    /// Checks that existing definitions are equal to those of the model.
    pub(super) fn compare(&mut self) -> Loaded<()> {
        for id in std::mem::take(&mut self.known) {
            let definition = &self.model[id];
            let key = self.keys[id];
            let before = self.anonymous.len();
            let body = self.body(definition)?;
            let entry = self.edit.store.entry(key)?;
            let is_forward = match &definition.kind {
                DefinitionKind::Interface(it) => it.forward_only,
                DefinitionKind::ValueType(it) => it.forward_only,
                _ => false,
            };
            let kind = entry.body.kind();
            if is_forward && kind == body.kind() {
                continue;
            }
            let was_forward = match (&entry.body, &body) {
                (Body::Interface { bases, .. }, _) => bases.is_empty(),
                (Body::Value(was), Body::Value(it)) => {
                    self.completed.contains(id) && *was == it.as_declared()
                }
                _ => false,
            };
            if was_forward && kind == body.kind() {
                self.edit.store.update(key, |it| it.body = body)?;
                if let DefinitionKind::ValueType(value) = &definition.kind {
                    self.state(key, value)?;
                }
            } else if !self.same(&entry.body, &body)? {
                return Err(Self::different(definition));
            }
            if !self.has_all_contents(id, key)? {
                return Err(Self::different(definition));
            }
            if let DefinitionKind::ValueType(value) = &definition.kind
                && !was_forward
            {
                self.compare_state(key, value)?;
            }
            // Types that were created only for the comparison.
            if !was_forward {
                for key in self.anonymous.split_off(before) {
                    self.edit.store.remove(key);
                }
            }
        }
        Ok(())
    }

    /// Whether the model has all contents of a definition that is no module.
    fn has_all_contents(&self, id: DefId, key: Key) -> Loaded<bool> {
        let entry = self.edit.store.entry(key)?;
        if matches!(entry.body, Body::Module) {
            return Ok(true);
        }
        let scope = self.model.contents(id).iter();
        let mut known: HashSet<Key> = scope.filter_map(|id| self.keys.get(*id).copied()).collect();
        known.extend(self.edit.store.state(key)?.iter().map(|(key, ..)| *key));
        Ok(entry.contents.iter().all(|it| known.contains(it)))
    }

    fn compare_state(&mut self, key: Key, value: &ValueType) -> Loaded<()> {
        let mut made = Vec::new();
        for member in &value.members {
            made.push(self.ty(&member.member.ty)?);
        }
        let state = self.edit.store.state(key)?;
        let mut same = state.len() == value.members.len();
        for ((member, made), (_, entry, ty, public)) in value.members.iter().zip(made).zip(&state) {
            same &= member.member.name == entry.name
                && member.public == *public
                && self.same_type(made, *ty)?;
        }
        if same {
            Ok(())
        } else {
            Err(LoadError::Different(self.edit.store.entry(key)?.id.clone()))
        }
    }

    /// Whether two types are identical, or anonymous and equal.
    fn same_type(&self, a: TypeDef, b: TypeDef) -> Loaded<bool> {
        let (TypeDef::Entry(one), TypeDef::Entry(other)) = (a, b) else {
            return Ok(a == b);
        };
        let (left, right) = (self.edit.store.entry(one)?, self.edit.store.entry(other)?);
        if one == other || !left.body.is_anonymous() || !right.body.is_anonymous() {
            return Ok(one == other);
        }
        self.same(&left.body, &right.body)
    }

    /// Whether two definitions are equal: byte for byte, except for their types.
    fn same(&self, a: &Body, b: &Body) -> Loaded<bool> {
        let (types, others) = (a.types(), b.types());
        if types.len() != others.len() {
            return Ok(false);
        }
        for (one, other) in types.into_iter().zip(others) {
            if !self.same_type(one, other)? {
                return Ok(false);
            }
        }
        Ok(a.without_types() == b.without_types())
    }
}
