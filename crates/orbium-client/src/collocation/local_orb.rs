// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls to objects of the caller's own ORB (collocation).

use std::sync::Arc;

use orbium_channel::Channel;
use orbium_giop::codeset::Negotiated;
use orbium_giop::{Ior, MessageHeader, ReplyStatus, SystemException};
use orbium_invocation::{CallQueue, CancellationToken, Operation};
use orbium_sync::SlotKey;
use orbium_transport::Deadline;

use crate::policy::overrides::Overrides;
use crate::reference::Reference;

/// A reply: header, offset of the body, status, bytes.
pub type LocalReply = (MessageHeader, usize, ReplyStatus, Vec<u8>);

/// The ORB of a reference as seen by its calls: it serves calls to its own objects on the calling
/// thread. A reference keeps it alive.
pub trait LocalOrb: Send + Sync + 'static {
    /// Whether a channel belongs to this ORB.
    fn is_own_channel(&self, channel: &Channel) -> bool;

    /// Whether an object with that key exists, here or at the forward of another adapter.
    fn locate(&self, object_key: &[u8]) -> bool;

    /// The slot of the active object with that key, or the empty slot if its adapter finds a
    /// servant for each request; `None` if the key has no immediate object.
    fn slot(&self, object_key: &[u8]) -> Option<SlotKey>;

    /// The queue of the lane that serves an asynchronous call of that operation of the active
    /// object with that key; `None` if any thread may.
    fn call_queue(
        &self,
        object_key: &[u8],
        operation: &'static Operation,
    ) -> Option<Arc<dyn CallQueue>>;

    /// Serves a request message and returns the reply, if one is expected.
    ///
    /// If another thread has to serve it, the caller waits until the deadline, or until the token
    /// is cancelled.
    ///
    /// # Errors
    /// The request expired, cannot be decoded, or was cancelled.
    fn perform(
        &self,
        message: Vec<u8>,
        negotiated: Negotiated,
        until: Deadline,
        token: Option<&CancellationToken>,
    ) -> Result<Option<LocalReply>, SystemException>;

    /// Another reference of this ORB.
    fn reference(&self, ior: Arc<Ior>, overrides: Overrides) -> Arc<Reference>;
}
