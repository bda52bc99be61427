// SPDX-License-Identifier: MIT OR Apache-2.0
//! A topological order of definitions, dependencies first.

use std::collections::HashSet;

use super::definitions::Definitions;
use super::error::{ExportError, Fault};
use super::needs::{Need, Needs};
use crate::corba::DefinitionKind;

/// Definitions directly in modules or in the repository, ordered.
pub(super) struct Order {
    pub(super) places: Vec<usize>,
}

impl Order {
    pub(super) fn of(found: &Definitions) -> Result<Self, Fault> {
        let mut leaves = Vec::new();
        collect(found, &found.top_level, &mut leaves);
        let mut sorting = Sorting {
            found,
            done: HashSet::new(),
            open: Vec::new(),
            places: Vec::new(),
        };
        for leaf in leaves {
            sorting.visit(leaf)?;
        }
        Ok(Self {
            places: sorting.places,
        })
    }
}

fn collect(found: &Definitions, scope: &[usize], leaves: &mut Vec<usize>) {
    for place in scope.iter().filter(|place| found.is_sound(**place)) {
        let definition = &found.definitions[*place];
        match definition.kind {
            DefinitionKind::DkModule => collect(found, &definition.contents, leaves),
            _ => leaves.push(*place),
        }
    }
}

struct Sorting<'f> {
    found: &'f Definitions,
    done: HashSet<usize>,
    open: Vec<usize>,
    places: Vec<usize>,
}

impl Sorting<'_> {
    fn visit(&mut self, place: usize) -> Result<(), Fault> {
        if self.done.contains(&place) {
            return Ok(());
        }
        let id = &self.found.definitions[place].id;
        if self.open.contains(&place) || self.open.len() > 1000 {
            let error = ExportError::Circular(id.clone());
            return Err(Fault { place, error });
        }
        self.open.push(place);
        let mut needs = Before {
            found: self.found,
            leaf: place,
            seen: HashSet::new(),
            places: Vec::new(),
            at: place,
        };
        if let Err(error) = needs.definition(place) {
            let place = needs.at;
            return Err(Fault { place, error });
        }
        for needed in needs.places {
            self.visit(needed)?;
        }
        self.open.pop();
        self.done.insert(place);
        self.places.push(place);
        Ok(())
    }
}

/// The definitions that have to precede a definition.
struct Before<'f> {
    found: &'f Definitions,
    leaf: usize,
    seen: HashSet<usize>,
    places: Vec<usize>,
    /// The current definition.
    at: usize,
}

impl Before<'_> {
    /// Adds the definition with an id, with its container.
    fn id(&mut self, id: &str) -> Result<(), ExportError> {
        let mut place = self.found.with_id(id)?;
        while let Some(container) = self.found.definitions[place].container {
            if self.found.definitions[container].kind == DefinitionKind::DkModule {
                break;
            }
            place = container;
        }
        if place != self.leaf && self.seen.insert(place) {
            self.places.push(place);
        }
        Ok(())
    }

    fn need(&mut self, need: Need<'_>) -> Result<(), ExportError> {
        match need {
            Need::Definition(id) => self.id(id),
            Need::Element(id) => {
                let place = self.found.with_id(id)?;
                if self.found.definitions[place].is_recursive() {
                    Ok(())
                } else {
                    self.id(id)
                }
            }
            Need::Declaration { id, .. } => self.found.with_id(id).map(drop),
        }
    }

    /// Adds the needs of a definition and all its contents.
    fn definition(&mut self, place: usize) -> Result<(), ExportError> {
        let outer = core::mem::replace(&mut self.at, place);
        let found = self.found;
        Needs(&mut |need| self.need(need)).of(&found.definitions[place])?;
        for content in &found.definitions[place].contents {
            if found.is_sound(*content) {
                self.definition(*content)?;
            }
        }
        self.at = outer;
        Ok(())
    }
}
