// SPDX-License-Identifier: MIT OR Apache-2.0
//! The connection below the halves.
//!
//! One thread at a time receives, for all halves. Where the server engine gives the connection
//! a thread, that is the engine's or any that waits for a reply; an engine that waits for
//! readiness alone receives, as readiness would not show what another thread has taken. A
//! thread that cannot send receives in between, so that two sides which both send much do not
//! wait for one another.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use orbium_channel::peer_memory::Budget;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, Deadline};

use crate::calls::HalfId;
use crate::inbound::{Half, Inbound};
use crate::outgoing::{Boundary, prepare};

/// How long a thread waits for room to send while another one receives.
const MOMENT: Duration = Duration::from_millis(5);

/// The sending direction.
#[derive(Debug, Default)]
struct Outbound {
    /// The half that sends.
    owner: Option<Half>,
    /// Where the server engine is in its message.
    boundary: Boundary,
    /// The end of a message of a calling half that ran out of time.
    rest: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) stream: Box<dyn ByteStream>,
    /// Whether requests go both ways by now.
    is_both: AtomicBool,
    /// Whether the server engine waits for readiness; until it has taken the connection on,
    /// that it may do so.
    is_polled: AtomicBool,
    /// What is announced until the peer has answered.
    announcement: Option<Arc<[u8]>>,
    inbound: Mutex<Inbound>,
    arrived: Condvar,
    outbound: Mutex<Outbound>,
    freed: Condvar,
}

impl Wire {
    /// A connection that this side opened: both ways from the beginning.
    ///
    /// # Errors
    /// Those of the stream.
    pub(crate) fn opened(
        stream: Box<dyn ByteStream>,
        announcement: Arc<[u8]>,
        budget: &Budget,
    ) -> io::Result<Arc<Self>> {
        // Completes a handshake, which would wait otherwise than a message does.
        stream.send(&[])?;
        let wire = Self::new(stream, true, Some(announcement), budget);
        wire.go_both_ways()?;
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
            announcement,
            inbound: Mutex::new(Inbound::new(is_opener, budget)),
            arrived: Condvar::new(),
            outbound: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// From now on requests go both ways. Only the thread that reads the connection may say so.
    ///
    /// # Errors
    /// Those of the stream.
    pub(crate) fn go_both_ways(&self) -> io::Result<()> {
        if !self.is_both() {
            self.stream.set_nonblocking(true)?;
            self.is_both.store(true, Ordering::Release);
        }
        Ok(())
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
        match self.is_both() {
            true => Ok(()),
            false => self.stream.set_nonblocking(is_polled),
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
        self.inbound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outbound(&self) -> MutexGuard<'_, Outbound> {
        self.outbound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing more comes.
    pub(crate) fn has_ended(&self) -> bool {
        self.inbound().has_ended()
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

    /// Receives what is for a half; `WouldBlock` at the deadline.
    ///
    /// # Errors
    /// With which the stream ended.
    pub(crate) fn receive(
        &self,
        half: Half,
        room: &mut [u8],
        deadline: Deadline,
    ) -> io::Result<usize> {
        let mut inbound = self.inbound();
        loop {
            if let Some(taken) = inbound.take(half, room) {
                return taken;
            }
            let may_read = half == Half::Serving || !self.is_polled();
            let left = deadline.remaining().ok();
            if may_read && !inbound.is_read && !inbound.is_full() {
                let came;
                (inbound, came) = self.read(inbound, left.unwrap_or(Some(Duration::ZERO)));
                if !came && inbound.has_some(half) {
                    continue;
                }
                if !came {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                continue;
            }
            inbound = match left {
                None => return Err(io::ErrorKind::WouldBlock.into()),
                Some(None) => self
                    .arrived
                    .wait(inbound)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(Some(left)) => {
                    let waited = self.arrived.wait_timeout(inbound, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Receives once, for all halves, as soon as something is there; whether something came.
    fn read<'w>(
        &'w self,
        mut inbound: MutexGuard<'w, Inbound>,
        timeout: Option<Duration>,
    ) -> (MutexGuard<'w, Inbound>, bool) {
        let mut room = inbound.begin_to_read();
        drop(inbound);
        if timeout != Some(Duration::ZERO) && !self.stream.has_buffered() {
            // An error shows when receiving.
            let _ = wait_for([(&self.stream.source(), Interest::Read)], timeout);
        }
        let received = self.stream.receive(&mut room);
        let mut inbound = self.inbound();
        let came = inbound.received(room, received);
        self.arrived.notify_all();
        (inbound, came)
    }

    /// Takes the sending direction for a half, and sends what another has left of a message.
    fn acquire(&self, half: Half, deadline: Deadline) -> io::Result<()> {
        let mut outbound = self.outbound();
        while outbound.owner.is_some_and(|owner| owner != half) {
            let left = deadline.remaining();
            outbound = match left.map_err(|_| io::ErrorKind::WouldBlock)? {
                None => self.freed.wait(outbound),
                Some(left) => match self.freed.wait_timeout(outbound, left) {
                    Ok((outbound, _)) => Ok(outbound),
                    Err(poisoned) => Ok(poisoned.into_inner().0),
                },
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
        outbound.owner = Some(half);
        if outbound.rest.is_empty() {
            return Ok(());
        }
        let rest = std::mem::take(&mut outbound.rest);
        drop(outbound);
        let sent = self.send_until(&rest, deadline);
        let left = sent.as_ref().map_or(0, |sent| rest.len() - sent);
        if left > 0 {
            self.outbound().rest = rest[rest.len() - left..].to_vec();
            self.release();
            return Err(io::ErrorKind::WouldBlock.into());
        }
        sent.map(|_| ()).inspect_err(|_| self.release())
    }

    fn release(&self) {
        self.outbound().owner = None;
        self.freed.notify_all();
    }

    /// Sends for the server engine; returns the bytes taken. Within a message, and behind
    /// bytes that the stream may have begun with, no calling half sends.
    ///
    /// # Errors
    /// Those of the stream; `WouldBlock` at the deadline.
    pub(crate) fn send_pieces(
        &self,
        pieces: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> io::Result<usize> {
        self.acquire(Half::Serving, deadline)?;
        loop {
            match self.stream.send_vectored(pieces) {
                Ok(sent) => {
                    let mut outbound = self.outbound();
                    outbound.boundary.pass(pieces, sent);
                    if outbound.boundary.is_between() {
                        outbound.owner = None;
                        drop(outbound);
                        self.freed.notify_all();
                    }
                    return Ok(sent);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.is_both() => {
                    if !self.wait_for_room(deadline) {
                        return Err(error);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        self.release();
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Sends a whole message of a calling half. At the deadline the rest of a message that has
    /// begun is left to those that send next.
    ///
    /// # Errors
    /// Those of the stream; `WouldBlock` if the message could not begin in time;
    /// `Unsupported` for a message older than GIOP 1.2.
    pub(crate) fn send_message(
        &self,
        half: HalfId,
        mut message: Vec<u8>,
        deadline: Deadline,
    ) -> io::Result<()> {
        {
            let mut inbound = self.inbound();
            let announcement = match inbound.was_answered() {
                true => None,
                false => self.announcement.as_deref(),
            };
            if !prepare(&mut message, half, &mut inbound.calls, announcement)? {
                return Ok(());
            }
        }
        self.acquire(Half::Calling(half), deadline)?;
        match self.send_until(&message, deadline) {
            Ok(sent) => {
                self.outbound().rest = message.split_off(sent);
                self.release();
                Ok(())
            }
            Err(error) => {
                self.release();
                Err(error)
            }
        }
    }

    /// Sends until all is sent, or the deadline has passed; returns the bytes sent.
    fn send_until(&self, octets: &[u8], deadline: Deadline) -> io::Result<usize> {
        let mut sent = 0;
        while sent < octets.len() {
            match self.stream.send(&octets[sent..]) {
                Ok(count) => sent += count,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        if !self.wait_for_room(deadline) {
                            return Ok(sent);
                        }
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(sent)
    }

    /// Waits until the peer may take more, and receives while it waits; `false` at the deadline.
    fn wait_for_room(&self, deadline: Deadline) -> bool {
        let Ok(left) = deadline.remaining() else {
            return false;
        };
        let sending = self.stream.sending_source();
        let source = self.stream.source();
        let sink: &dyn AsFd = match &sending {
            Some(sending) => sending,
            None => &source,
        };
        let mut inbound = self.inbound();
        if self.is_polled() || inbound.is_read || inbound.is_full() {
            drop(inbound);
            let moment = left.map_or(MOMENT, |left| left.min(MOMENT));
            let _ = wait_for([(sink, Interest::Write)], Some(moment));
            return true;
        }
        let mut room = inbound.begin_to_read();
        drop(inbound);
        let ready = match self.stream.has_buffered() {
            true => Ok([false, true]),
            false => wait_for([(sink, Interest::Write), (&source, Interest::Read)], left),
        };
        let received = match ready {
            Ok([_, true]) => self.stream.receive(&mut room),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        };
        self.inbound().received(room, received);
        self.arrived.notify_all();
        true
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
