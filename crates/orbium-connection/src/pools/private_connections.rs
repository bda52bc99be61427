// SPDX-License-Identifier: MIT OR Apache-2.0
//! Private connections: those that request a dedicated thread of the server, and the
//! single connection of an explicit binding.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_channel::Channel;
use orbium_channel::dedication::{DedicationReply, DedicationRequest};
use orbium_invocation::Priority;
use orbium_sync::lock::Mutex;

/// The private connections shared by a reference and those derived from it.
#[derive(Debug)]
pub struct PrivateConnections {
    /// Keeps their pools from being shared.
    pub number: u64,
    /// Sent as a service context in the first request of each connection.
    request: Option<DedicationRequest>,
    /// At most one connection is ever opened.
    is_single: bool,
    /// Selects the network mark of the connections.
    pub priority: Option<Priority>,
    /// The channel of the single connection, once it is open.
    channel: OnceLock<Channel>,
    last_reply: Mutex<Option<DedicationReply>>,
}

/// Ids that keep private connections from being shared.
pub fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl PrivateConnections {
    fn new(
        request: Option<DedicationRequest>,
        priority: Option<Priority>,
        is_single: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            number: next_number(),
            request,
            is_single,
            priority,
            channel: OnceLock::new(),
            last_reply: Mutex::default(),
        })
    }

    /// Connections that each request a dedicated thread.
    pub fn dedicated(priority: Option<Priority>) -> Arc<Self> {
        let request = DedicationRequest {
            priority: priority.map(Priority::number),
        };
        Self::new(Some(request), priority, false)
    }

    /// A single connection, never replaced.
    pub fn single(priority: Option<Priority>) -> Arc<Self> {
        Self::new(None, priority, true)
    }

    /// The dedication that new connections request, if any.
    pub fn request(&self) -> Option<DedicationRequest> {
        self.request
    }

    /// Whether at most one connection is ever opened.
    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// Whether a connection may use the channel: a single connection keeps its first one.
    pub fn allows(&self, channel: Option<&Channel>) -> bool {
        let used = self.channel.get();
        !self.is_single || used.is_none() || used == channel
    }

    /// Records the channel of the single connection.
    pub fn record_channel(&self, channel: Option<&Channel>) {
        if let Some(channel) = channel.filter(|_| self.is_single) {
            self.channel.get_or_init(|| channel.clone());
        }
    }

    /// Records the server's reply to the dedication request.
    pub fn record_reply(&self, reply: DedicationReply) {
        *self.last_reply.lock() = Some(reply);
    }

    /// The last reply of the server to the request.
    pub fn last_reply(&self) -> Option<DedicationReply> {
        *self.last_reply.lock()
    }
}
