// SPDX-License-Identifier: MIT OR Apache-2.0
//! Location of objects, for clients that send a LocateRequest before they call.

use std::sync::Arc;

use orbium_adapter::Found;
use orbium_giop::{ExceptionKind, Ior};
use orbium_request::Located;

use crate::adapter::Adapters;
use crate::adapter::ior_table::look_up;

impl Adapters {
    /// Whether a key belongs to an object here.
    pub(crate) fn locate(&self, key: &[u8]) -> Located {
        if let Some(to) = self.forward_of(key) {
            return Located::At(to, false);
        }
        let found = self.registry.find(key);
        if found.is_err()
            && let Some((to, permanent)) = look_up(&self.table, key)
        {
            return Located::At(to, permanent);
        }
        match found {
            Ok(Found::StandIn(object)) => {
                let adapter = Arc::clone(&object.adapter);
                match adapter.located(&object.id) {
                    Some(forward) => Located::At(forward.to.ior().clone(), forward.permanent),
                    None => Located::Here,
                }
            }
            Ok(Found::Active(_)) => Located::Here,
            // The object may become active when it is called.
            Err(_) if self.registry.may_activate(key) => Located::Here,
            Err(exception) if exception.kind == ExceptionKind::Transient => {
                Located::NotYet(exception)
            }
            Err(_) => Located::Unknown,
        }
    }

    /// The whole reference to which clients that call by that key are forwarded: once, as the
    /// reference has the object's own key.
    pub(crate) fn forward_of(&self, key: &[u8]) -> Option<Ior> {
        if !self.forwards_bound_keys || !self.registry.plain_keys.forwards(key) {
            return None;
        }
        // Without an object, or a reference to it, the request is answered here.
        let object = self.registry.find(key).ok()?;
        let reference = object.reference().ok()?;
        Some(reference.ior().clone())
    }
}
