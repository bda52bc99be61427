// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object as its servant distinguishes it from the others that it incarnates.

use std::any::Any;
use std::fmt;

/// An object that a servant incarnates, by its id and [its adapter](Self::poa): whether it is
/// active or is about to be.
#[derive(Clone, Copy)]
pub struct IncarnatedObject<'o> {
    id: &'o [u8],
    /// The adapters know the type.
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
