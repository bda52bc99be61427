// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream that carries another messaging protocol than GIOP.
//!
//! The ORB above sends and receives GIOP messages; the stream below carries the frames of the
//! protocol. GIOP itself does not need this.

mod receiving;
mod refusal;
mod sending;

use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbium_giop::HEADER_LEN;
use orbium_giop::messaging::{Messaging, Side};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_transport::{Acceptor, ByteStream, Connector, Deadline, Peer};

use crate::peer_memory::Budget;
use receiving::{Patience, Receiving};
use sending::{MAX_PIECES, Sending};

/// A byte stream of GIOP messages over one of frames.
pub(super) struct CodedStream {
    inner: Box<dyn ByteStream>,
    sending: Mutex<Sending>,
    receiving: Mutex<Receiving>,
    side: Side,
    /// Whether a receive has a timeout, and whether it never waits.
    bounded: AtomicBool,
    nonblocking: AtomicBool,
}

impl fmt::Debug for CodedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodedStream")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl CodedStream {
    pub(super) fn new(
        inner: Box<dyn ByteStream>,
        messaging: &dyn Messaging,
        side: Side,
        limit: usize,
        budget: &Budget,
    ) -> Self {
        let limit = limit.saturating_add(HEADER_LEN);
        let session = messaging.session(side, limit);
        Self {
            inner,
            sending: Mutex::new(Sending::new(session.encoder, limit)),
            receiving: Mutex::new(Receiving::new(session.decoder, limit, budget)),
            side,
            bounded: AtomicBool::new(false),
            nonblocking: AtomicBool::new(false),
        }
    }

    fn sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock()
    }

    fn receiving(&self) -> MutexGuard<'_, Receiving> {
        self.receiving.lock()
    }
}

impl ByteStream for CodedStream {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let patience = match () {
            // A server also serves others; a client calls again when the source is ready.
            () if self.side == Side::Server && self.nonblocking.load(Ordering::Relaxed) => {
                Patience::None
            }
            () if self.bounded.load(Ordering::Relaxed) => Patience::Bounded,
            () => Patience::Unbounded,
        };
        self.receiving().receive(&*self.inner, room, patience)
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.sending().send(&*self.inner, &[octets])
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut given = [&[][..]; MAX_PIECES - 1];
        let count = pieces.len().min(given.len());
        for (place, piece) in given.iter_mut().zip(pieces) {
            *place = piece;
        }
        self.sending().send(&*self.inner, &given[..count])
    }

    fn counts_in_ticks(&self) -> bool {
        self.inner.counts_in_ticks()
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if let Some(receive) = receive {
            self.bounded.store(receive.is_some(), Ordering::Relaxed);
        }
        self.inner.set_timeouts(receive, send)
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.nonblocking.store(nonblocking, Ordering::Relaxed);
        self.inner.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        self.inner.shutdown(how);
    }

    fn peer(&self) -> Peer {
        self.inner.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.inner.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.inner.sending_source()
    }

    fn has_many_peers(&self) -> bool {
        self.inner.has_many_peers()
    }

    fn sends_one_message(&self) -> bool {
        self.inner.sends_one_message()
    }

    fn opening_deadline(&self) -> Option<Deadline> {
        self.inner.opening_deadline()
    }

    fn is_midway(&self) -> bool {
        self.receiving().is_midway() || self.inner.is_midway()
    }

    fn begun(&self) -> usize {
        self.sending().begun()
    }

    fn has_buffered(&self) -> bool {
        self.receiving().has_news() || self.inner.has_buffered()
    }
}

/// Accepts streams of frames.
#[derive(Debug)]
pub(super) struct CodedAcceptor {
    pub inner: Box<dyn Acceptor>,
    pub messaging: Arc<dyn Messaging>,
    pub limit: usize,
    pub budget: Budget,
}

impl Acceptor for CodedAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let inner = self.inner.accept()?;
        let coded = CodedStream::new(
            inner,
            &*self.messaging,
            Side::Server,
            self.limit,
            &self.budget,
        );
        Ok(Box::new(coded))
    }

    fn source(&self) -> &dyn AsFd {
        self.inner.source()
    }

    fn address(&self) -> &str {
        self.inner.address()
    }
}

/// Connects streams of frames.
#[derive(Debug)]
pub(super) struct CodedConnector {
    pub inner: Box<dyn Connector>,
    pub messaging: Arc<dyn Messaging>,
    pub limit: usize,
    pub budget: Budget,
}

impl Connector for CodedConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let inner = self.inner.connect(deadline)?;
        let coded = CodedStream::new(
            inner,
            &*self.messaging,
            Side::Client,
            self.limit,
            &self.budget,
        );
        Ok(Box::new(coded))
    }
}

#[cfg(test)]
mod tests;
