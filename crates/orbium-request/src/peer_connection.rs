// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection of a request, as the side of the servants sees it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use orbium_channel::dedication::Undedicated;
use orbium_invocation::dedication::DedicatedThread;
use orbium_metrics::Quality;
use orbium_transport::Peer;

use crate::ServerContext;

/// The connection that a request arrived over.
pub trait PeerConnection: Send + Sync {
    /// The client.
    fn peer(&self) -> &Peer;

    /// Unique among the connections of the ORB.
    fn id(&self) -> u64;

    /// Whether the client is still there. Asks the system, so that it is known while nothing is received.
    fn is_open(&self) -> bool;

    /// What says whether it is still open, for longer than the request.
    fn watch(&self) -> ConnectionWatch;

    /// Name of its transport.
    fn transport(&self) -> &str;

    /// Number of the lane that serves it.
    fn lane(&self) -> u32;

    /// Whether this ORB has opened it, for requests of its own.
    fn is_opened_here(&self) -> bool;

    /// Counts a request.
    fn count_request(&self);

    /// Notes what its requests ask for.
    fn note_quality(&self, quality: Quality);

    /// Sends the replies that wait for others to go with them.
    fn send_collected(&self);

    /// Gives it a thread of its own, once.
    ///
    /// # Errors
    /// Why it has none.
    fn dedicate(&self, context: &ServerContext, thread: DedicatedThread)
    -> Result<(), Undedicated>;

    /// The thread that it was granted.
    fn thread(&self) -> Option<DedicatedThread>;

    /// Gives the grant back; it ends after the request being served.
    fn give_thread_back(&self);
}

/// The connection that a request arrived over, after the request: whether it is still open, and whether another request arrived over
/// the same one. It does not keep the connection open.
#[derive(Clone)]
pub struct ConnectionWatch {
    id: u64,
    ended: Weak<AtomicBool>,
}

impl ConnectionWatch {
    /// The connection of that number, which sets the flag when it ends.
    #[must_use]
    pub fn new(id: u64, ended: &Arc<AtomicBool>) -> Self {
        let ended = Arc::downgrade(ended);
        Self { id, ended }
    }

    /// Whether the connection is open, as far as the server has received: its end may be noticed when a request that it serves has
    /// ended, and the end of a host when something is sent to it, or the connection was idle for too long.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let ended = self.ended.upgrade();
        ended.is_some_and(|it| !it.load(Ordering::Acquire))
    }
}

/// Both are the same connection of one ORB.
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
