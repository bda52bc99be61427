// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object of a proxy.

use std::sync::OnceLock;

use orbium::{ObjectRef, poa::Poa};

/// The adapter and id of a proxy's object.
#[derive(Default)]
pub(crate) struct Place(OnceLock<(Poa, Vec<u8>)>);

impl Place {
    pub(crate) fn set(&self, poa: &Poa, object: &ObjectRef) {
        if let Ok(id) = poa.reference_to_id(object) {
            // It is set once, after the activation.
            let _ = self.0.set((poa.clone(), id.to_vec()));
        }
    }

    /// Deactivates the object.
    pub(crate) fn end(&self) {
        if let Some((poa, id)) = self.0.get() {
            // It may have been deactivated already, with its adapter.
            let _ = poa.deactivate(id);
        }
    }
}
