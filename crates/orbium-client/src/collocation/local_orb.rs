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

/// A reply: header, where the body starts, status, octets.
pub type LocalReply = (MessageHeader, usize, ReplyStatus, Vec<u8>);

/// The ORB that a reference belongs to, as its calls see it: it serves those to objects
/// of its own on the calling thread. A reference keeps it alive.
pub trait LocalOrb: Send + Sync + 'static {
    /// Whether a channel leads to this ORB.
    fn is_own_channel(&self, channel: &Channel) -> bool;

    /// Whether an object with that key is there, or where another adapter says it is.
    fn locate(&self, object_key: &[u8]) -> bool;

    /// The place of the object with that key among the active ones, or that of none, if its adapter
    /// finds a servant for each request; `None` if the key does not lead to one at once.
    fn slot(&self, object_key: &[u8]) -> Option<SlotKey>;

    /// The queue of the lane that serves an asynchronous call of that operation of the active
    /// object with that key; `None` if any thread may.
    fn call_queue(
        &self,
        object_key: &[u8],
        operation: &'static Operation,
    ) -> Option<Arc<dyn CallQueue>>;

    /// Serves a request message and returns the reply, if there is to be one.
    ///
    /// If another thread is to serve it, the caller waits for that until the deadline, or until
    /// the token is cancelled.
    ///
    /// # Errors
    /// The request expired, cannot be read, or was given up.
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
