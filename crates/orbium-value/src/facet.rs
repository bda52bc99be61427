// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facets of a value: the operations that it has in addition to its state.

use core::any::Any;
use core::fmt;
use std::sync::Arc;

/// The operations of a value from one of its types: an `Arc` of the trait that the compiler
/// generated for the type.
pub struct Facet(Box<dyn Any + Send + Sync>);

impl Facet {
    /// The operations of a trait.
    #[must_use]
    pub fn of<O: Send + Sync + ?Sized + 'static>(operations: Arc<O>) -> Self {
        Self(Box::new(operations))
    }

    pub(crate) fn get<O: ?Sized + 'static>(&self) -> Option<&Arc<O>> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operations")
    }
}
