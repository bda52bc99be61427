// SPDX-License-Identifier: MIT OR Apache-2.0
//! References whose connections ask their server for something.

use std::sync::Arc;

use orbium_giop::dedication::DedicationReply;
use orbium_giop::{Ior, TaggedProfile};

use super::{ObjectRef, Overrides};
use crate::Priority;
use crate::client::Own;

impl ObjectRef {
    /// The same object with connections that no other reference uses, each of
    /// which asks the server for a thread of its own at that priority: with a
    /// marker in its first request, which servers that do not know it pass over.
    /// [`dedication`](Self::dedication) tells what became of it.
    #[must_use]
    pub fn with_dedicated_thread(&self, priority: Option<Priority>) -> Self {
        self.with_own(Own::marked(priority))
    }

    /// What the server has said to the marker of the connection made last; `None`
    /// as long as it has said nothing, as one never does that knows no markers.
    #[must_use]
    pub fn dedication(&self) -> Option<DedicationReply> {
        self.state().overrides.own.as_ref()?.said()
    }

    /// The same object with one connection, made by its first call, that no other
    /// reference uses but those made from this one. When it has ended calls raise
    /// REBIND. Whatever is marked for the network by priorities is marked for that
    /// one.
    #[must_use]
    pub fn with_one_connection(&self, priority: Option<Priority>) -> Self {
        self.with_own(Own::once(priority))
    }

    /// Another object of the same server, reached in the same ways and over the
    /// same connections; `None` if it is not known how.
    #[must_use]
    pub fn with_object_key(&self, object_key: &[u8], type_id: &str) -> Option<Self> {
        let profiles = self.ior().profiles.iter();
        let profiles = profiles.filter_map(|it| TaggedProfile::with_object_key(it, object_key));
        let profiles: Vec<_> = profiles.collect();
        if profiles.is_empty() {
            return None;
        }
        let ior = Ior {
            type_id: type_id.to_owned(),
            profiles,
        };
        let overrides = self.state().overrides.clone();
        Some(Self::new(self.orb().clone(), Arc::new(ior), overrides))
    }

    fn with_own(&self, own: Arc<Own>) -> Self {
        self.with_overrides(Overrides {
            own: Some(own),
            ..self.state().overrides.clone()
        })
    }
}
