// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection below the halves.
//!
//! One thread at a time receives, for all halves. If the server engine gives the connection a
//! thread, that is the engine's or any that waits for a reply. An engine that waits for readiness
//! receives alone, as readiness does not show data that another thread has read, unless too many
//! requests are read ahead: then any thread that waits for a reply receives after a pause, and the
//! serving half reports data as buffered until they are delivered. A thread that cannot send
//! receives in between, so that two sides which both send much data do not deadlock; if the engine
//! waits for readiness, it alone does.

mod sending;

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_channel::connection::{Connection, Delivery};
use orbium_channel::peer_memory::Budget;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, Deadline};

use crate::inbound::{Half, Inbound};
use crate::outgoing::Boundary;
use crate::pending_requests::HalfId;

/// Maximum time of one wait for a receiving thread, or for room to send.
const WAIT_SLICE: Duration = Duration::from_millis(5);

/// Pause between two receives while the queue of the server engine is full: it slows down a flood
/// of requests, and messages after them still arrive.
const SHORT_WAIT: Duration = Duration::from_millis(1);

/// The sending direction.
#[derive(Debug, Default)]
struct Outbound {
    /// The half that sends.
    owner: Option<Half>,
    /// The position of the server engine in its message.
    boundary: Boundary,
    /// The end of a message of a calling half that reached its deadline; empty while it is sent.
    rest: Vec<u8>,
    /// The half that began the message.
    rest_of: Option<HalfId>,
}

/// The channels reached over a connection.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// The keys in the hub.
    pub(crate) keys: Vec<String>,
    /// Number of listen points that its client has announced, trusted or not.
    pub(crate) announced: usize,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) stream: Box<dyn ByteStream>,
    /// Whether requests are sent in both directions.
    is_both: AtomicBool,
    /// Whether the server engine waits for readiness; before it has taken over the connection, that
    /// it may do so.
    is_polled: AtomicBool,
    /// The announcement, preceded by its number, until the peer has replied; `None` unless this
    /// side has opened the connection.
    announcement: Option<Mutex<(u32, Arc<[u8]>)>>,
    /// The announced number, or 0.
    announced: AtomicU32,
    inbound: Mutex<Inbound>,
    arrived: Condvar,
    outbound: Mutex<Outbound>,
    freed: Condvar,
    pub(crate) routes: Mutex<Routes>,
    /// The source for room to send, while the sources of the halves show their deliveries.
    sending_source: OnceLock<Option<Arc<OwnedFd>>>,
}

impl Wire {
    /// A connection that this side opened: bidirectional from the beginning.
    ///
    /// # Errors
    /// The errors of the stream.
    pub(crate) fn opened(
        stream: Box<dyn ByteStream>,
        announcement: Arc<[u8]>,
        giop: Connection,
    ) -> io::Result<Arc<Self>> {
        // Completes a handshake, which would wait differently from a message.
        stream.send(&[])?;
        let budget = giop.budget().clone();
        let wire = Self::new(stream, true, Some(announcement), &budget);
        wire.go_both_ways(|| giop)?;
        Ok(Arc::new(wire))
    }

    /// A connection that this side accepted.
    pub(crate) fn accepted(stream: Box<dyn ByteStream>, budget: &Budget) -> Arc<Self> {
        Arc::new(Self::new(stream, false, None, budget))
    }

    fn new(
        stream: Box<dyn ByteStream>,
        is_opener: bool,
        announcement: Option<Arc<[u8]>>,
        budget: &Budget,
    ) -> Self {
        Self {
            stream,
            is_both: AtomicBool::new(false),
            is_polled: AtomicBool::new(is_opener),
            announced: AtomicU32::new(u32::from(announcement.is_some())),
            announcement: announcement.map(|it| Mutex::new((1, it))),
            inbound: Mutex::new(Inbound::new(is_opener, budget)),
            arrived: Condvar::new(),
            outbound: Mutex::default(),
            freed: Condvar::new(),
            routes: Mutex::default(),
            sending_source: OnceLock::new(),
        }
    }

    /// Begins the bidirectional use, with that connection. Only called by the thread that reads the
    /// stream.
    ///
    /// # Errors
    /// The errors of the stream.
    pub(crate) fn go_both_ways(&self, giop: impl FnOnce() -> Connection) -> io::Result<()> {
        if !self.is_both() {
            self.stream.set_nonblocking(true)?;
            self.inbound().begin(giop());
            self.is_both.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Whether this side has opened the connection.
    pub(crate) fn is_opener(&self) -> bool {
        self.announcement.is_some()
    }

    /// Announces further listen points: in the next requests, until the peer has replied to one of
    /// them.
    pub(crate) fn announce(&self, announcement: Arc<[u8]>) {
        if let Some(current) = &self.announcement {
            let mut current = current.lock();
            *current = (current.0.saturating_add(1), announcement);
            self.announced.store(current.0, Ordering::Release);
        }
    }

    /// The announcement, preceded by its number.
    fn announcement(&self) -> Option<(u32, Arc<[u8]>)> {
        let current = self.announcement.as_ref()?.lock();
        Some((current.0, Arc::clone(&current.1)))
    }

    #[inline]
    pub(crate) fn is_both(&self) -> bool {
        self.is_both.load(Ordering::Acquire)
    }

    /// Sets whether the server engine waits for readiness.
    ///
    /// # Errors
    /// The errors of the stream.
    pub(crate) fn set_polled(&self, is_polled: bool) -> io::Result<()> {
        self.is_polled.store(is_polled, Ordering::Release);
        if self.is_both() {
            Ok(())
        } else {
            self.stream.set_nonblocking(is_polled)
        }
    }

    /// Notes that the server engine has given the connection a thread, unless it waits for
    /// readiness.
    pub(crate) fn set_blocking(&self) {
        if self.is_polled.swap(false, Ordering::AcqRel) {
            self.arrived.notify_all();
        }
    }

    pub(crate) fn is_polled(&self) -> bool {
        self.is_polled.load(Ordering::Acquire)
    }

    pub(crate) fn inbound(&self) -> MutexGuard<'_, Inbound> {
        self.inbound.lock()
    }

    fn outbound(&self) -> MutexGuard<'_, Outbound> {
        self.outbound.lock()
    }

    /// Ends all deliveries.
    pub(crate) fn end(&self) {
        self.inbound().end(None);
        self.arrived.notify_all();
    }

    /// Ends the deliveries to a calling half.
    pub(crate) fn end_half(&self, half: HalfId) {
        self.inbound().end_half(half);
        self.arrived.notify_all();
    }

    /// Waits for a delivery to a half, and returns its bytes; `WouldBlock` at the deadline.
    ///
    /// # Errors
    /// The error with which the stream ended.
    pub(crate) fn receive(&self, half: Half, deadline: Deadline) -> io::Result<usize> {
        let mut inbound = self.inbound();
        loop {
            if let Some(next) = inbound.next(half) {
                return next;
            }
            let left = deadline.remaining().ok();
            let is_reader = half == Half::Serving || !self.is_polled();
            if inbound.is_full() && left.is_some() {
                inbound = self.read_slowly(inbound);
                continue;
            }
            if is_reader && !inbound.is_read() {
                let came;
                (inbound, came) = self.read(inbound, left.unwrap_or(Some(Duration::ZERO)));
                if !came && !inbound.has_some(half) {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                continue;
            }
            let left = match left {
                Some(left) => left,
                // Readiness does not show data that another thread is receiving.
                None if half == Half::Serving && self.is_polled() => Some(WAIT_SLICE),
                None => return Err(io::ErrorKind::WouldBlock.into()),
            };
            let is_over = deadline.has_passed();
            inbound = self.arrived.wait_at_most(inbound, left);
            if is_over && !inbound.has_some(half) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    /// Takes that delivery.
    pub(crate) fn take(&self, half: Half, room: Vec<u8>) -> Option<Delivery> {
        self.inbound().take(half, room)
    }

    /// Receives the available data after a pause in which the server engine took no delivery: it
    /// may wait for this very thread, or for messages after the requests.
    fn read_slowly<'w>(&'w self, inbound: MutexGuard<'w, Inbound>) -> MutexGuard<'w, Inbound> {
        let inbound = self.arrived.wait_timeout(inbound, SHORT_WAIT).0;
        if inbound.is_full() && !inbound.is_read() && !inbound.has_ended() {
            return self.read(inbound, Some(Duration::ZERO)).0;
        }
        inbound
    }

    /// Receives the available data without waiting, while the server engine cannot send: if the
    /// peer cannot either, it can once this side receives. Returns whether more may come.
    ///
    /// # Errors
    /// The error with which the stream ended.
    pub(crate) fn read_ahead(&self) -> io::Result<bool> {
        let mut inbound = self.inbound();
        if inbound.is_closing() {
            // Nothing more is read, and the last replies are still sent.
            return Ok(false);
        }
        if !inbound.is_read() && !inbound.has_ended() {
            inbound = self.read(inbound, Some(Duration::ZERO)).0;
        }
        match inbound.failure() {
            Some(kind) => Err(kind.into()),
            // A peer that has ended its direction alone still receives its replies.
            None => Ok(!inbound.has_ended()),
        }
    }

    /// Receives once, for all halves, as soon as data are available; returns whether messages
    /// arrived. Does nothing while another thread receives.
    fn read<'w>(
        &'w self,
        mut inbound: MutexGuard<'w, Inbound>,
        timeout: Option<Duration>,
    ) -> (MutexGuard<'w, Inbound>, bool) {
        let Some(mut giop) = inbound.begin_to_read() else {
            return (inbound, false);
        };
        drop(inbound);
        if timeout != Some(Duration::ZERO) && !self.stream.has_buffered() {
            // An error shows when receiving.
            let _ = wait_for([(&self.stream.source(), Interest::Read)], timeout);
        }
        let received = giop.receive(&*self.stream);
        let mut inbound = self.inbound();
        let came = inbound.received(giop, received);
        self.arrived.notify_all();
        (inbound, came)
    }

    /// Notes that the server engine has dropped the connection.
    pub(crate) fn leave(&self) {
        if self.is_both() {
            self.stream.shutdown(Shutdown::Both);
        }
        self.end();
        self.release();
    }
}
