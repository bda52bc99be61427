// SPDX-License-Identifier: MIT OR Apache-2.0
//! The definitions on which one interface of a repository depends, without the rest of the
//! repository.

use std::collections::HashMap;

use orbium::Interface;

use super::definitions::{Definitions, MAX_DEPTH, container_of};
use super::error::{ExportError, Fault};
use super::needs::{Need, Needs};
use crate::corba::container::Description as Described;
use crate::corba::{Contained, DefinitionKind, InterfaceDef, Repository};

impl Definitions {
    /// Reads an interface with its bases and the types that they name, and transitively the types
    /// of these. Other interfaces are declared.
    pub(super) fn read_interface(interface: &InterfaceDef) -> Result<Self, ExportError> {
        let nowhere = || ExportError::Invalid(String::new());
        let repository = interface.containing_repository()?.ok_or_else(nowhere)?;
        let found = Self::leaving_out(true);
        let mut reading = Reading {
            repository,
            found,
            looked_at: 0,
            asked: HashMap::new(),
            pending: Vec::new(),
        };
        let object = Contained::from_object(interface.as_object().clone());
        reading.read(&object, true, 0)?;
        reading.read_all_needed()?;
        Ok(reading.found)
    }
}

struct Reading {
    repository: Repository,
    found: Definitions,
    /// The number of definitions with recorded needs.
    looked_at: usize,
    /// Needed ids, and whether a declaration does not suffice.
    asked: HashMap<String, bool>,
    pending: Vec<(String, bool)>,
}

impl Reading {
    fn read_all_needed(&mut self) -> Result<(), ExportError> {
        loop {
            while self.looked_at < self.found.definitions.len() {
                self.look_at(self.looked_at)?;
                self.looked_at += 1;
            }
            let Some((id, is_whole)) = self.pending.pop() else {
                return Ok(());
            };
            match self.provide(&id, is_whole) {
                Err(error) if self.found.may_leave_out(None, &error) => self.found.note(error)?,
                provided => provided?,
            }
        }
    }

    /// Records the needs of a definition.
    fn look_at(&mut self, place: usize) -> Result<(), ExportError> {
        let (asked, pending) = (&mut self.asked, &mut self.pending);
        let mut note = |need: Need<'_>| {
            let (id, is_whole) = match need {
                Need::Definition(id) | Need::Element(id) => (id, true),
                Need::Declaration { id, is_value } => (id, is_value),
            };
            if asked.get(id).is_none_or(|before| !before && is_whole) {
                asked.insert(id.to_owned(), is_whole);
                pending.push((id.to_owned(), is_whole));
            }
            Ok(())
        };
        match Needs(&mut note).of(&self.found.definitions[place]) {
            Ok(()) => Ok(()),
            Err(error) => self.found.leave_out(Fault { place, error }),
        }
    }

    /// Reads the definition with an id. If the repository has none, its dependants are left out.
    fn provide(&mut self, id: &str, is_whole: bool) -> Result<(), ExportError> {
        let known = self.found.by_id.get(id).copied();
        if known.is_some_and(|place| !is_whole || !self.found.definitions[place].is_declared) {
            return Ok(());
        }
        let Some(object) = self.repository.lookup_id(id)? else {
            return Ok(());
        };
        let Some(place) = known else {
            return self.read(&object, is_whole, 0).map(drop);
        };
        self.found.definitions[place].is_declared = false;
        self.found.ask_or_leave_out(place, &object)?;
        self.look_at(place)
    }

    /// Reads a definition, with the names of the enclosing modules; returns its index.
    fn read(
        &mut self,
        object: &Contained,
        is_whole: bool,
        depth: usize,
    ) -> Result<usize, ExportError> {
        let described = object.describe()?;
        let invalid = || ExportError::Invalid(String::new());
        let (id, container) = container_of(described.kind, &described.value).ok_or_else(invalid)?;
        let parent = self.container(&container, depth)?;
        // It was read with its container.
        if let Some(place) = self.found.by_id.get(&id) {
            return Ok(*place);
        }
        let is_module =
            |place: usize| self.found.definitions[place].kind == DefinitionKind::DkModule;
        if !parent.is_none_or(is_module) {
            return Err(ExportError::Invalid(id));
        }
        let (kind, value) = (described.kind, described.value);
        let described = Described {
            contained_object: Some(object.clone()),
            kind,
            value,
        };
        let place = self.found.push(described, parent)?;
        match parent {
            Some(parent) => self.found.definitions[parent].contents.push(place),
            None => self.found.top_level.push(place),
        }
        if kind == DefinitionKind::DkModule {
            return Ok(place);
        }
        let definition = &mut self.found.definitions[place];
        definition.is_declared = !is_whole && definition.is_interface();
        if !definition.is_declared {
            self.found.ask_or_leave_out(place, object)?;
        }
        Ok(place)
    }

    /// The index of a definition's container; `None` if that is the repository.
    fn container(&mut self, id: &str, depth: usize) -> Result<Option<usize>, ExportError> {
        if id.is_empty() {
            return Ok(None);
        }
        if let Some(place) = self.found.by_id.get(id) {
            return Ok(Some(*place));
        }
        // Also if two definitions contain each other.
        if depth >= MAX_DEPTH {
            return Err(ExportError::TooLarge);
        }
        let container = self.repository.lookup_id(id)?;
        let container = container.ok_or_else(|| ExportError::Missing(id.to_owned()))?;
        self.read(&container, true, depth + 1).map(Some)
    }
}
