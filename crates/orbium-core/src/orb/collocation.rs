// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ORB as seen by its references: it serves calls to its own objects on the calling thread, and
//! asynchronous ones on the threads of the objects' lanes.

use std::sync::Arc;

use orbium_giop::codeset::Negotiated;
use orbium_giop::{Ior, SystemException};
use orbium_invocation::{CallQueue, CancellationToken, Operation};

use super::Orb;
use crate::client::{LocalOrb, LocalReply, Overrides, Reference};
use crate::{Channel, local};
use orbium_request::Located;
use orbium_sync::SlotKey;
use orbium_transport::Deadline;

impl LocalOrb for Orb {
    fn is_own_channel(&self, channel: &Channel) -> bool {
        self.is_own_channel(channel)
    }

    fn locate(&self, object_key: &[u8]) -> bool {
        let located = self.locate(object_key);
        matches!(located, Located::Here | Located::At(..))
    }

    fn slot(&self, object_key: &[u8]) -> Option<SlotKey> {
        Some(self.core().adapters.registry.find(object_key).ok()?.slot)
    }

    fn call_queue(
        &self,
        object_key: &[u8],
        operation: &'static Operation,
    ) -> Option<Arc<dyn CallQueue>> {
        if self.is_left_behind() {
            return None;
        }
        let adapters = &self.core().adapters;
        let queue = adapters.call_queue(object_key, operation)?;
        Some(Arc::new(queue))
    }

    fn perform(
        &self,
        message: Vec<u8>,
        negotiated: Negotiated,
        until: Deadline,
        token: Option<&CancellationToken>,
    ) -> Result<Option<LocalReply>, SystemException> {
        match self.lane_for_main_thread(&message) {
            None => local::perform(self, message, negotiated),
            Some(lane) => self.perform_on_main_thread(lane, (message, negotiated), until, token),
        }
    }

    fn reference(&self, ior: Arc<Ior>, overrides: Overrides) -> Arc<Reference> {
        let client = Arc::clone(self.client());
        Arc::new(Reference::new(self.clone(), client, ior, overrides))
    }
}
