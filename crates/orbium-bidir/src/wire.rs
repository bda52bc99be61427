// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection below the halves.
//!
//! One thread at a time receives, for all halves. Where the server engine gives the connection
//! a thread, that is the engine's or any that waits for a reply; an engine that waits for
//! readiness alone receives, as readiness would not show what another thread has taken. A
//! thread that cannot send receives in between, so that two sides which both send much do not
//! wait for one another.

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

/// How long a thread waits for one that is receiving, or for room to send, at a time.
const WAIT_SLICE: Duration = Duration::from_millis(5);

/// Between two receives while the server engine has much to take: it slows a flood of
/// requests down, and what a thread waits for behind them still arrives.
const SHORT_WAIT: Duration = Duration::from_millis(1);

/// The sending direction.
#[derive(Debug, Default)]
struct Outbound {
    /// The half that sends.
    owner: Option<Half>,
    /// Where the server engine is in its message.
    boundary: Boundary,
    /// The end of a message of a calling half that ran out of time; empty while it is sent.
    rest: Vec<u8>,
    /// The half that began the message.
    rest_of: Option<HalfId>,
}

/// The channels to which calls go over a connection.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Those of the hub.
    pub(crate) keys: Vec<String>,
    /// Listen points that its client has announced, believed or not.
    pub(crate) announced: usize,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) stream: Box<dyn ByteStream>,
    /// Whether requests go both ways by now.
    is_both: AtomicBool,
    /// Whether the server engine waits for readiness; until it has taken the connection on,
    /// that it may do so.
    is_polled: AtomicBool,
    /// What is announced until the peer has answered, behind its number; `None` unless this
    /// side has opened the connection.
    announcement: Option<Mutex<(u32, Arc<[u8]>)>>,
    /// That number, or 0.
    announced: AtomicU32,
    inbound: Mutex<Inbound>,
    arrived: Condvar,
    outbound: Mutex<Outbound>,
    freed: Condvar,
    pub(crate) routes: Mutex<Routes>,
    /// What shows room to send, while the sources of the halves show what arrived for them.
    sending_source: OnceLock<Option<Arc<OwnedFd>>>,
}

impl Wire {
    /// A connection that this side opened: both ways from the beginning.
    ///
    /// # Errors
    /// Those of the stream.
    pub(crate) fn opened(
        stream: Box<dyn ByteStream>,
        announcement: Arc<[u8]>,
        giop: Connection,
    ) -> io::Result<Arc<Self>> {
        // Completes a handshake, which would wait otherwise than a message does.
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

    /// From now on requests go both ways, by that connection. Only the thread that reads the stream
    /// may say so.
    ///
    /// # Errors
    /// Those of the stream.
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

    /// This side listens at more: its next requests say so, until the peer has answered one of
    /// them.
    pub(crate) fn announce(&self, announcement: Arc<[u8]>) {
        if let Some(current) = &self.announcement {
            let mut current = current.lock();
            *current = (current.0.saturating_add(1), announcement);
            self.announced.store(current.0, Ordering::Release);
        }
    }

    /// What is announced, behind its number.
    fn announcement(&self) -> Option<(u32, Arc<[u8]>)> {
        let current = self.announcement.as_ref()?.lock();
        Some((current.0, Arc::clone(&current.1)))
    }

    #[inline]
    pub(crate) fn is_both(&self) -> bool {
        self.is_both.load(Ordering::Acquire)
    }

    /// The server engine waits for readiness, or not.
    ///
    /// # Errors
    /// Those of the stream.
    pub(crate) fn set_polled(&self, is_polled: bool) -> io::Result<()> {
        self.is_polled.store(is_polled, Ordering::Release);
        if self.is_both() {
            Ok(())
        } else {
            self.stream.set_nonblocking(is_polled)
        }
    }

    /// The server engine has given the connection a thread, unless it waits for readiness.
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

    /// Nothing more comes.
    pub(crate) fn end(&self) {
        self.inbound().end(None);
        self.arrived.notify_all();
    }

    /// Nothing more comes for a calling half.
    pub(crate) fn end_half(&self, half: HalfId) {
        self.inbound().end_half(half);
        self.arrived.notify_all();
    }

    /// Waits for a delivery to a half, and returns its bytes; `WouldBlock` at the deadline.
    ///
    /// # Errors
    /// With which the stream ended.
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
                // Readiness would not show what another thread is taking right now.
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

    /// Receives what is there, after a pause, if the server engine takes nothing in between:
    /// it may wait for this very thread, or for what is behind the requests.
    fn read_slowly<'w>(&'w self, inbound: MutexGuard<'w, Inbound>) -> MutexGuard<'w, Inbound> {
        let inbound = self.arrived.wait_timeout(inbound, SHORT_WAIT).0;
        if inbound.is_full() && !inbound.is_read() && !inbound.has_ended() {
            return self.read(inbound, Some(Duration::ZERO)).0;
        }
        inbound
    }

    /// Receives what is there without waiting, while the server engine cannot send: if the
    /// peer cannot either, it can once this side receives.
    ///
    /// # Errors
    /// The peer has ended the stream.
    pub(crate) fn read_ahead(&self) -> io::Result<()> {
        let mut inbound = self.inbound();
        if inbound.is_closing() {
            // Nothing more is read, and the last replies still go out.
            return Ok(());
        }
        if !inbound.is_read() {
            inbound = self.read(inbound, Some(Duration::ZERO)).0;
        }
        if inbound.has_ended() {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }

    /// Receives once, for all halves, as soon as something is there; whether something came. Not
    /// while another thread receives.
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

    /// The server engine has given the connection up.
    pub(crate) fn leave(&self) {
        if self.is_both() {
            self.stream.shutdown(Shutdown::Both);
        }
        self.end();
        self.release();
    }
}
