// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions that are left out of a text, as they are not valid IDL.

use super::definitions::{Definitions, is_value};
use super::error::{ExportError, Fault, is_of_definition};
use crate::corba::DefinitionKind;

/// Maximum number of left-out definitions: each takes a further pass.
const MAX_LEFT_OUT: usize = 256;

impl Definitions {
    /// Whether neither the definition nor an enclosing one is left out.
    pub(super) fn is_sound(&self, place: usize) -> bool {
        let container = |place: &usize| self.definitions[*place].container;
        self.broken.is_empty()
            || core::iter::successors(Some(place), container)
                .all(|place| !self.broken.contains(&place))
    }

    /// Whether the text has the definition and not only a declaration.
    pub(super) fn is_defined(&self, place: usize) -> bool {
        self.is_sound(place) && !self.definitions[place].is_declared
    }

    /// Leaves out a definition with all its contents. A value without one of its members would be
    /// another type: it is left out as a whole.
    ///
    /// # Errors
    /// The argument, if too many are left out.
    pub(super) fn leave_out(&mut self, fault: Fault) -> Result<(), ExportError> {
        let Fault { place, error } = fault;
        let it = &self.definitions[place];
        let broken = match (it.kind, it.container) {
            (DefinitionKind::DkValueMember, Some(value)) => value,
            _ => place,
        };
        self.broken.insert(broken);
        self.note(error)
    }

    pub(super) fn note(&mut self, error: ExportError) -> Result<(), ExportError> {
        if self.left_out.len() == MAX_LEFT_OUT {
            return Err(error);
        }
        self.left_out.push(error);
        Ok(())
    }

    /// Whether a definition in a container may be left out for that reason.
    pub(super) fn may_leave_out(&self, parent: Option<usize>, error: &ExportError) -> bool {
        let is_in_value = parent.is_some_and(|it| is_value(self.definitions[it].kind));
        self.leaves_out && !is_in_value && is_of_definition(error)
    }
}
