// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending direction: one half at a time, a whole message of a calling half, and any bytes of
//! the server engine.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium_sys::{Interest, wait_for};
use orbium_transport::Deadline;

use super::{SHORT_WAIT, WAIT_SLICE, Wire};
use crate::inbound::Half;
use crate::outgoing::{ends_connection, prepare};
use crate::pending_requests::HalfId;

impl Wire {
    /// Acquires the sending direction for a half, and sends the rest of another half's message.
    fn acquire(&self, half: Half, deadline: Deadline) -> io::Result<()> {
        let mut outbound = self.outbound();
        while outbound.owner.is_some_and(|owner| owner != half) {
            let left = deadline.remaining();
            let left = left.map_err(|_| io::ErrorKind::WouldBlock)?;
            outbound = self.freed.wait_at_most(outbound, left);
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
        self.outbound().rest_of = None;
        sent.map(|_| ()).inspect_err(|_| self.release())
    }

    pub(super) fn release(&self) {
        self.outbound().owner = None;
        self.freed.notify_all();
    }

    /// Sends for the server engine; returns the number of bytes accepted. Within a message, and
    /// after bytes that the stream may have begun to send, no calling half sends.
    ///
    /// # Errors
    /// The errors of the stream; `WouldBlock` at the deadline.
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
                    if !self
                        .wait_for_room(deadline)
                        .inspect_err(|_| self.release())?
                    {
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

    /// Sends a whole message of a calling half; returns the number of bytes not sent by the
    /// deadline. They are sent before any others.
    ///
    /// # Errors
    /// The errors of the stream; `WouldBlock` if the message could not be begun in time, and is
    /// unchanged; `Unsupported` for a message older than GIOP 1.2.
    pub(crate) fn send_message(
        &self,
        half: HalfId,
        message: &mut Vec<u8>,
        deadline: Deadline,
    ) -> io::Result<usize> {
        if ends_connection(message) {
            return Ok(0);
        }
        self.acquire(Half::Calling(half), deadline)?;
        let sent = match self.prepare(half, message) {
            Ok(true) => self.send_until(message, deadline),
            Ok(false) => Ok(message.len()),
            Err(error) => Err(error),
        };
        let left = sent.map(|sent| {
            let rest = message.split_off(sent);
            let left = rest.len();
            let mut outbound = self.outbound();
            outbound.rest_of = (left > 0).then_some(half);
            outbound.rest = rest;
            left
        });
        self.release();
        left
    }

    /// As [`prepare`], with the announcement until the peer has replied.
    fn prepare(&self, half: HalfId, message: &mut Vec<u8>) -> io::Result<bool> {
        let mut inbound = self.inbound();
        let announcement = if inbound.answered() < self.announced.load(Ordering::Acquire) {
            self.announcement()
        } else {
            None
        };
        let numbered = announcement.as_ref().map(|(number, it)| (*number, &**it));
        prepare(message, half, &mut inbound.calls, numbered)
    }

    /// Sends the rest of a message of a calling half; returns the number of bytes still unsent.
    ///
    /// # Errors
    /// The errors of the stream; `WouldBlock` while another thread sends them.
    pub(crate) fn send_rest(&self, half: HalfId, deadline: Deadline) -> io::Result<usize> {
        match self.acquire(Half::Calling(half), deadline) {
            Ok(()) => self.release(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        let outbound = self.outbound();
        if outbound.rest_of != Some(half) {
            Ok(0)
        } else if outbound.rest.is_empty() {
            Err(io::ErrorKind::WouldBlock.into())
        } else {
            Ok(outbound.rest.len())
        }
    }

    /// The descriptor for room to send.
    pub(crate) fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        let own = || {
            let source = self.stream.source().as_fd().try_clone_to_owned();
            source.ok().map(Arc::new)
        };
        let sending = self.stream.sending_source();
        sending.or_else(|| self.sending_source.get_or_init(own).clone())
    }

    /// Sends until all is sent, or the deadline has passed; returns the number of bytes sent.
    fn send_until(&self, octets: &[u8], deadline: Deadline) -> io::Result<usize> {
        let mut sent = 0;
        while sent < octets.len() {
            match self.stream.send(&octets[sent..]) {
                Ok(count) => sent += count,
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        if !self.wait_for_room(deadline)? {
                            return Ok(sent);
                        }
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(sent)
    }

    /// Waits until the peer may accept more, and receives while it waits; `false` at the deadline.
    ///
    /// # Errors
    /// With which the stream ended.
    fn wait_for_room(&self, deadline: Deadline) -> io::Result<bool> {
        let Ok(left) = deadline.remaining() else {
            return Ok(false);
        };
        let sending = self.stream.sending_source();
        let source = self.stream.source();
        let sink: &dyn AsFd = match &sending {
            Some(sending) => sending,
            None => &source,
        };
        let mut inbound = self.inbound();
        if let Some(kind) = inbound.failure() {
            return Err(kind.into());
        }
        // The end of a stream is always there to be received.
        if self.is_polled() || inbound.is_read() || inbound.has_ended() {
            drop(inbound);
            let moment = left.map_or(WAIT_SLICE, |left| left.min(WAIT_SLICE));
            let _ = wait_for([(sink, Interest::Write)], Some(moment));
            return Ok(true);
        }
        if inbound.is_full() {
            drop(inbound);
            let room = wait_for([(sink, Interest::Write)], Some(SHORT_WAIT));
            if !matches!(room, Ok([true])) {
                drop(self.read_slowly(self.inbound()));
            }
            return Ok(true);
        }
        let Some(mut giop) = inbound.begin_to_read() else {
            return Ok(true);
        };
        drop(inbound);
        let ready = if self.stream.has_buffered() {
            Ok([false, true])
        } else {
            wait_for([(sink, Interest::Write), (&source, Interest::Read)], left)
        };
        let received = match ready {
            Ok([_, true]) => giop.receive(&*self.stream),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        };
        self.inbound().received(giop, received);
        self.arrived.notify_all();
        Ok(true)
    }
}
