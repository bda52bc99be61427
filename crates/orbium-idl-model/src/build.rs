// SPDX-License-Identifier: MIT OR Apache-2.0
//! Construction of the model's arena, by the checker and by compilers that imply definitions.

use crate::{DefId, DefSet, Definition, DefinitionKind, Model};

impl Model {
    /// Adds a definition that is not yet among the contents of its scope.
    pub fn add(&mut self, mut definition: Definition) -> DefId {
        let id = DefId(u32::try_from(self.definitions.len()).unwrap_or(u32::MAX));
        definition.id = id;
        self.by_name.insert(definition.scoped_name(), id);
        self.definitions.push(definition);
        id
    }

    /// Appends a new definition to the contents of its scope.
    pub fn place(&mut self, id: DefId) {
        let parent = self[id].parent;
        if let Some(siblings) = self.contents_mut(parent) {
            siblings.push(id);
        }
    }

    /// Adds a definition to its scope, last or behind another one there: for definitions implied by
    /// a compiler. Its name has to be unused, and its types those of this model; it gets a new
    /// `id`.
    pub fn insert(&mut self, definition: Definition, behind: Option<DefId>) -> DefId {
        let id = self.add(definition);
        let scope = self[id].parent;
        if let Some(siblings) = self.contents_mut(scope) {
            let found = siblings.iter().position(|it| Some(*it) == behind);
            siblings.insert(found.map_or(siblings.len(), |at| at + 1), id);
        }
        id
    }

    /// Removes all but the last place of definitions that were placed repeatedly, as forward
    /// declared ones are.
    pub fn settle(&mut self) {
        // No definition is placed in two scopes.
        let mut seen = DefSet::default();
        keep_last(&mut self.top_level, &mut seen);
        for index in 0..self.definitions.len() {
            let scope = self.definitions[index].id;
            if let Some(contents) = self.contents_mut(Some(scope)) {
                keep_last(contents, &mut seen);
            }
        }
    }

    /// The definition, to be completed.
    pub fn definition_mut(&mut self, id: DefId) -> &mut Definition {
        &mut self.definitions[id.0 as usize]
    }

    fn contents_mut(&mut self, scope: Option<DefId>) -> Option<&mut Vec<DefId>> {
        let Some(id) = scope else {
            return Some(&mut self.top_level);
        };
        match &mut self.definition_mut(id).kind {
            DefinitionKind::Module(m) => Some(&mut m.contents),
            DefinitionKind::Interface(i) => Some(&mut i.contents),
            DefinitionKind::Struct(s) => Some(&mut s.contents),
            DefinitionKind::Union(u) => Some(&mut u.contents),
            DefinitionKind::Exception(e) => Some(&mut e.contents),
            DefinitionKind::ValueType(v) => Some(&mut v.contents),
            DefinitionKind::Unmapped(u) => Some(&mut u.contents),
            _ => None,
        }
    }
}

fn keep_last(contents: &mut Vec<DefId>, seen: &mut DefSet) {
    let mut kept = Vec::new();
    for id in contents.iter().rev() {
        if seen.insert(*id) {
            kept.push(*id);
        }
    }
    kept.reverse();
    *contents = kept;
}
