// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of clients as seen by servants.

use orbium_channel::Bidirectional;
use orbium_channel::dedication::Undedicated;
use orbium_invocation::dedication::DedicatedThread;
use orbium_metrics::Quality;
use orbium_request::{ConnectionWatch, PeerConnection, ServerContext};
use orbium_sys::has_hung_up;
use orbium_transport::Peer;

use super::ServerConnection;

impl PeerConnection for ServerConnection {
    fn peer(&self) -> &Peer {
        self.peer()
    }

    fn id(&self) -> u64 {
        self.id()
    }

    fn is_open(&self) -> bool {
        // While a thread serves a request, no thread may receive the end of the connection.
        !self.has_ended() && !has_hung_up(self.stream.source())
    }

    fn watch(&self) -> ConnectionWatch {
        self.watched.watch(self.id(), || self.has_ended())
    }

    fn transport(&self) -> &str {
        self.tracked.transport()
    }

    fn lane(&self) -> u32 {
        self.lane()
    }

    fn is_opened_here(&self) -> bool {
        self.bidirectional()
            .is_some_and(Bidirectional::is_opened_here)
    }

    fn count_request(&self) {
        self.tracked.count_request();
    }

    fn note_quality(&self, quality: Quality) {
        self.tracked.note_quality(quality);
    }

    fn send_collected(&self) {
        self.send_collected();
    }

    fn dedicate(
        &self,
        context: &ServerContext,
        thread: DedicatedThread,
    ) -> Result<(), Undedicated> {
        self.settle(context, || Ok(thread))
    }

    fn thread(&self) -> Option<DedicatedThread> {
        self.thread()
    }

    fn release_dedication(&self) {
        self.release_dedication();
    }
}
