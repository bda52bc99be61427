// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection of a request, as the side of the servants sees it.

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
