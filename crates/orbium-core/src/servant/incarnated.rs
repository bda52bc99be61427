// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object identified to its servant, which may incarnate several.

use std::any::Any;
use std::fmt;

/// An object that a servant incarnates, by its id and [its adapter](Self::poa): active or about to
/// be activated.
#[derive(Clone, Copy)]
pub struct IncarnatedObject<'o> {
    id: &'o [u8],
    /// The adapters downcast it to its type.
    pub(crate) poa: &'o dyn Any,
}

impl<'o> IncarnatedObject<'o> {
    pub(crate) fn new(id: &'o [u8], poa: &'o dyn Any) -> Self {
        Self { id, poa }
    }

    /// Its id in its adapter.
    #[must_use]
    pub fn id(&self) -> &'o [u8] {
        self.id
    }
}

impl fmt::Debug for IncarnatedObject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncarnatedObject")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
