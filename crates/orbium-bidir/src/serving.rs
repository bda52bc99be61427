// SPDX-License-Identifier: MIT OR Apache-2.0
//! The half that the server engine reads requests from and sends replies to.

use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium_channel::connection::{Connection, Delivery};
use orbium_channel::{Bidirectional, BidirectionalHalf, Deliveries};
use orbium_sync::lock::Mutex;
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::inbound::Half;
use crate::wire::Wire;

/// Bounds of a blocking receive and send.
pub(crate) type Timeouts = (Option<Duration>, Option<Duration>);

/// Receives the listen points of clients.
pub(crate) trait Announcements: fmt::Debug + Send + Sync {
    /// The client of a connection over that transport has announced listen points. `share` returns
    /// the connection with the bytes received since, if it becomes bidirectional.
    fn announced(
        &self,
        wire: &Arc<Wire>,
        scheme: &str,
        data: &[u8],
        share: &mut dyn FnMut() -> Connection,
    );

    /// The connection has ended.
    fn ended(&self, wire: &Arc<Wire>);
}

/// The requests of the peer, and the operations of the server engine on their connection.
#[derive(Debug)]
struct Requests {
    wire: Arc<Wire>,
    announcements: Weak<dyn Announcements>,
    /// The transport below.
    scheme: String,
}

#[derive(Debug)]
pub(crate) struct ServingHalf {
    wire: Arc<Wire>,
    requests: Arc<Requests>,
    extension: BidirectionalHalf,
    timeouts: Mutex<Timeouts>,
}

impl ServingHalf {
    pub(crate) fn new(
        wire: Arc<Wire>,
        announcements: Weak<dyn Announcements>,
        scheme: &str,
    ) -> Self {
        let requests = Arc::new(Requests {
            wire: Arc::clone(&wire),
            announcements,
            scheme: scheme.to_owned(),
        });
        let as_seen: Arc<dyn Bidirectional> = Arc::<Requests>::clone(&requests);
        Self {
            wire,
            requests,
            extension: BidirectionalHalf::Serving(as_seen),
            timeouts: Mutex::default(),
        }
    }

    fn deadline(&self, of: fn(&Timeouts) -> Option<Duration>) -> Deadline {
        let timeouts = self.timeouts.lock();
        if self.wire.is_polled() {
            Deadline::after(Some(Duration::ZERO))
        } else {
            Deadline::after(of(&timeouts))
        }
    }
}

impl ByteStream for ServingHalf {
    /// Receives bytes, or waits for requests, which are delivered.
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        if !self.wire.is_both() {
            return self.wire.stream.receive(room);
        }
        debug_assert!(room.is_empty());
        self.wire.receive(Half::Serving, self.deadline(|it| it.0))
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.wire.send_pieces(pieces, self.deadline(|it| it.1))
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if receive == Some(Some(Duration::ZERO)) || send == Some(Some(Duration::ZERO)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        {
            let mut timeouts = self.timeouts.lock();
            timeouts.0 = receive.unwrap_or(timeouts.0);
            timeouts.1 = send.unwrap_or(timeouts.1);
        }
        // Engines that wait for readiness use no timeouts.
        self.wire.set_blocking();
        if self.wire.is_both() {
            Ok(())
        } else {
            self.wire.stream.set_timeouts(receive, send)
        }
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.wire.set_polled(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        self.wire.inbound().close();
        self.wire.stream.shutdown(how);
        if how != Shutdown::Write && self.wire.is_both() {
            self.wire.end();
        }
    }

    fn peer(&self) -> Peer {
        self.wire.stream.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.wire.stream.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.wire.stream.sending_source()
    }

    /// A calling half that receives because the requests read ahead were too many may be about to
    /// deliver one, which readiness would not show.
    fn has_buffered(&self) -> bool {
        if self.wire.stream.has_buffered() {
            return true;
        }
        if !self.wire.is_both() {
            return false;
        }
        let inbound = self.wire.inbound();
        inbound.has_some(Half::Serving) || self.wire.is_polled() && inbound.is_read()
    }

    fn counts_in_ticks(&self) -> bool {
        !self.wire.is_both() && self.wire.stream.counts_in_ticks()
    }

    fn opening_deadline(&self) -> Option<Deadline> {
        self.wire.stream.opening_deadline()
    }

    fn is_midway(&self) -> bool {
        self.wire.stream.is_midway() || self.wire.is_both() && self.wire.inbound().is_midway()
    }

    fn begun(&self) -> usize {
        self.wire.stream.begun()
    }

    fn extension(&self) -> Option<&dyn Any> {
        Some(&self.extension)
    }
}

impl Deliveries for Requests {
    fn take(&self, room: Vec<u8>) -> Option<Delivery> {
        self.wire.take(Half::Serving, room)
    }
}

impl Bidirectional for Requests {
    fn announce(&self, points: &[u8], share: &mut dyn FnMut() -> Connection) {
        if let Some(announcements) = self.announcements.upgrade() {
            announcements.announced(&self.wire, &self.scheme, points, share);
        }
    }

    fn is_opened_here(&self) -> bool {
        self.wire.is_opener()
    }

    fn is_both(&self) -> bool {
        self.wire.is_both()
    }

    fn is_called_over(&self) -> bool {
        self.wire.is_both() && self.wire.inbound().has_halves()
    }

    fn read_ahead(&self) -> io::Result<bool> {
        self.wire.read_ahead()
    }

    fn may_read_ahead(&self) -> bool {
        !self.wire.inbound().is_full()
    }
}

impl Drop for ServingHalf {
    fn drop(&mut self) {
        self.wire.leave();
        if let Some(announcements) = self.requests.announcements.upgrade() {
            announcements.ended(&self.wire);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::OnceLock;

    use orbium_channel::connection::{Bounds, Role};
    use orbium_channel::peer_memory::Budget;

    use super::*;

    /// A stream without data, which notes what the serving half shows while it is received from.
    #[derive(Debug)]
    struct Empty {
        socket: UnixStream,
        serving: Arc<OnceLock<Weak<ServingHalf>>>,
        shown: Arc<Mutex<Vec<bool>>>,
    }

    impl ByteStream for Empty {
        fn receive(&self, _room: &mut [u8]) -> io::Result<usize> {
            let serving = self.serving.get().and_then(Weak::upgrade);
            let serving = serving.expect("a serving half");
            self.shown.lock().push(serving.has_buffered());
            Err(io::ErrorKind::WouldBlock.into())
        }

        fn send(&self, octets: &[u8]) -> io::Result<usize> {
            Ok(octets.len())
        }

        fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
            Ok(pieces.iter().map(|it| it.len()).sum())
        }

        fn set_timeouts(
            &self,
            _receive: Option<Option<Duration>>,
            _send: Option<Option<Duration>>,
        ) -> io::Result<()> {
            Ok(())
        }

        fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
            Ok(())
        }

        fn shutdown(&self, _how: Shutdown) {}

        fn peer(&self) -> Peer {
            Peer::Unknown
        }

        fn source(&self) -> &dyn AsFd {
            &self.socket
        }
    }

    #[derive(Debug)]
    struct NoAnnouncements;

    impl Announcements for NoAnnouncements {
        fn announced(&self, _: &Arc<Wire>, _: &str, _: &[u8], _: &mut dyn FnMut() -> Connection) {}

        fn ended(&self, _: &Arc<Wire>) {}
    }

    /// An engine that waits for readiness went back to the poller while a calling half had taken the
    /// next request off the socket but not delivered it: it waited until the peer sent more.
    #[test]
    fn data_that_another_thread_receives_are_shown_as_buffered() {
        let serving = Arc::new(OnceLock::new());
        let shown = Arc::new(Mutex::new(Vec::new()));
        let stream = Empty {
            socket: UnixStream::pair().unwrap().0,
            serving: Arc::clone(&serving),
            shown: Arc::clone(&shown),
        };
        let wire = Wire::accepted(Box::new(stream), &Budget::NONE);
        let bounds = Bounds::default();
        wire.go_both_ways(|| Connection::new(Role::Both, bounds, &Budget::NONE))
            .unwrap();
        let announcements: Weak<dyn Announcements> = Weak::<NoAnnouncements>::new();
        let half = Arc::new(ServingHalf::new(Arc::clone(&wire), announcements, "iiop"));
        serving.set(Arc::downgrade(&half)).unwrap();
        for (is_polled, is_shown) in [(true, true), (false, false)] {
            half.set_nonblocking(is_polled).unwrap();
            wire.read_ahead().unwrap();
            assert_eq!(shown.lock().pop(), Some(is_shown), "polled: {is_polled}");
            assert!(!half.has_buffered());
        }
    }
}
