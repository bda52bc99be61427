// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection of a request as seen by servants.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use orbium_channel::dedication::Undedicated;
use orbium_invocation::dedication::DedicatedThread;
use orbium_metrics::Quality;
use orbium_transport::Peer;

use crate::ServerContext;

/// The connection of a request.
pub trait PeerConnection: Send + Sync {
    /// The client.
    fn peer(&self) -> &Peer;

    /// The unique number of the connection in the ORB.
    fn id(&self) -> u64;

    /// Whether the client is still connected. Queries the system, so that it is known even if
    /// nothing is received.
    fn is_open(&self) -> bool;

    /// A watch of the connection, which may outlive the request.
    fn watch(&self) -> ConnectionWatch;

    /// Name of its transport.
    fn transport(&self) -> &str;

    /// Number of the lane that serves it.
    fn lane(&self) -> u32;

    /// Whether this ORB has opened it, for its own requests.
    fn is_opened_here(&self) -> bool;

    /// Counts a request.
    fn count_request(&self);

    /// Records the quality of its requests.
    fn note_quality(&self, quality: Quality);

    /// Sends the collected replies.
    fn send_collected(&self);

    /// Assigns a dedicated thread to it, once.
    ///
    /// # Errors
    /// The reason of a refusal.
    fn dedicate(&self, context: &ServerContext, thread: DedicatedThread)
    -> Result<(), Undedicated>;

    /// The thread granted to it.
    fn thread(&self) -> Option<DedicatedThread>;

    /// Releases the grant; the connection is closed after the request in progress.
    fn release_dedication(&self);
}

/// The connection of a request, after the request: whether it is still open, and whether another
/// request arrived over the same one. It does not keep the connection open.
#[derive(Clone)]
pub struct ConnectionWatch {
    id: u64,
    ended: Weak<AtomicBool>,
}

impl ConnectionWatch {
    /// The connection with that number, which sets the flag when it ends.
    #[must_use]
    pub fn new(id: u64, ended: &Arc<AtomicBool>) -> Self {
        let ended = Arc::downgrade(ended);
        Self { id, ended }
    }

    /// Whether the connection is open, as far as the server has received: its end may be detected
    /// only after the request in progress, and the failure of a host only when data are sent to it,
    /// or by the idle time.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let ended = self.ended.upgrade();
        ended.is_some_and(|it| !it.load(Ordering::Acquire))
    }
}

/// Equal for the same connection of one ORB.
impl PartialEq for ConnectionWatch {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.ended.ptr_eq(&other.ended)
    }
}

impl Eq for ConnectionWatch {}

impl fmt::Debug for ConnectionWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionWatch")
            .field("id", &self.id)
            .field("is_open", &self.is_open())
            .finish()
    }
}
