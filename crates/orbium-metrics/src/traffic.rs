// SPDX-License-Identifier: MIT OR Apache-2.0
//! Traffic counters of one connection.

use std::any::Any;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use orbium_transport::{ByteStream, Deadline, Peer};

/// The traffic of one connection. Written by one thread at a time for each direction, like
/// messages: no read-modify-write is needed.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) received: AtomicU64,
    pub(crate) sent: AtomicU64,
}

/// Counts the bytes of a receive or a send.
fn counted(counter: &AtomicU64, taken: io::Result<usize>) -> io::Result<usize> {
    if let Ok(octets) = &taken {
        counter.store(counter.load(Relaxed) + *octets as u64, Relaxed);
    }
    taken
}

/// A stream that counts its bytes. Every method of the trait is forwarded.
#[derive(Debug)]
pub(crate) struct Metered {
    pub(crate) stream: Box<dyn ByteStream>,
    pub(crate) traffic: Arc<Traffic>,
}

impl ByteStream for Metered {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        counted(&self.traffic.received, self.stream.receive(room))
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        counted(&self.traffic.sent, self.stream.send(octets))
    }

    fn send_at_once(&self, octets: &[u8]) -> io::Result<usize> {
        counted(&self.traffic.sent, self.stream.send_at_once(octets))
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        counted(&self.traffic.sent, self.stream.send_vectored(pieces))
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        self.stream.set_timeouts(receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        self.stream.shutdown(how);
    }

    fn peer(&self) -> Peer {
        self.stream.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.stream.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.stream.sending_source()
    }

    fn has_buffered(&self) -> bool {
        self.stream.has_buffered()
    }

    fn counts_in_ticks(&self) -> bool {
        self.stream.counts_in_ticks()
    }

    fn has_many_peers(&self) -> bool {
        self.stream.has_many_peers()
    }

    fn sends_one_message(&self) -> bool {
        self.stream.sends_one_message()
    }

    fn opening_deadline(&self) -> Option<Deadline> {
        self.stream.opening_deadline()
    }

    fn is_midway(&self) -> bool {
        self.stream.is_midway()
    }

    fn begun(&self) -> usize {
        self.stream.begun()
    }

    fn extension(&self) -> Option<&dyn Any> {
        self.stream.extension()
    }
}
