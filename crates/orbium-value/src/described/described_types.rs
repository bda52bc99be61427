// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of a message for which only the TypeCode is available.

use std::collections::HashMap;
use std::sync::Arc;

use orbium_cdr::{CdrErrorKind, TypeRef};

use crate::described::description::Description;
use crate::factories::Found;

/// The types of one message that were created from their TypeCodes.
#[derive(Debug, Default)]
pub(crate) struct DescribedTypes {
    /// By the identities of the TypeCodes, which are not reused while the descriptions exist.
    by_code: HashMap<(usize, u32), (Arc<Description>, Found)>,
    /// By repository id; of several the first.
    by_id: HashMap<String, Found>,
    /// Members of the states of all types.
    members: usize,
    /// Octets of the names of all these members.
    names: usize,
}

/// Members of states for each octet of a message, in addition to a fixed number: many types may
/// share one base that is described once.
const MEMBERS_PER_OCTET: usize = 1;
const FREE_MEMBERS: usize = 1 << 16;

/// Octets of the names of members, likewise.
const NAMES_PER_OCTET: usize = 4;
const FREE_NAMES: usize = 1 << 20;

impl DescribedTypes {
    /// The type of that id.
    pub(crate) fn with_id(&self, id: &str) -> Option<Found> {
        self.by_id.get(id).cloned()
    }

    /// The type of a TypeCode.
    pub(crate) fn of_code(&self, code: TypeRef<'_>) -> Option<Found> {
        let (_, found) = self.by_code.get(&code.identity())?;
        Some(found.clone())
    }

    /// Adds a type.
    ///
    /// # Errors
    /// [`CdrErrorKind::CountTooLarge`] if all types have more members, or longer names of members,
    /// than a message with `octets` before this one may describe.
    pub(crate) fn add(
        &mut self,
        description: Arc<Description>,
        found: Found,
        octets: usize,
    ) -> Result<(), CdrErrorKind> {
        let members = description.state().members();
        self.members += members.len();
        self.names += members.map(|member| member.name().len()).sum::<usize>();
        if self.members > FREE_MEMBERS + MEMBERS_PER_OCTET * octets
            || self.names > FREE_NAMES + NAMES_PER_OCTET * octets
        {
            return Err(CdrErrorKind::CountTooLarge);
        }
        let code = description.code();
        let (key, id) = (code.identity(), code.id().to_owned());
        self.by_id.entry(id).or_insert_with(|| found.clone());
        self.by_code.insert(key, (description, found));
        Ok(())
    }
}
