// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call slot: a multiplexed connection as a byte stream of one caller.
//!
//! It receives the replies to this caller; it sends whole messages, never interleaved
//! with those of other callers.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use orbium_channel::connection::Whole;
use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind};
use orbium_sync::lock::Mutex;
use orbium_transport::{ByteStream, Deadline, Peer};

use super::connection::{End, MultiplexedConnection, STRIDE};
use super::pending_reply::PendingReply;
use orbium_channel::request_id;

/// Enough of a fragmented message for its header and its request id.
const HEAD: usize = HEADER_LEN + 4;

/// Limit of slices sent at once.
const MAX_PIECES: usize = 16;

/// One caller's slot at a multiplexed connection.
pub(crate) struct CallSlot {
    connection: Arc<MultiplexedConnection>,
    slot: usize,
    pending: Arc<PendingReply>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    receive_timeout: Option<Duration>,
    send_timeout: Option<Duration>,
    /// Outstanding bytes of the message being sent; this slot holds the send lock until then.
    left: usize,
    /// Whether fragments of the same message follow it.
    more_fragments: bool,
    /// Whether the rest of the last message was left in the send queue.
    has_left_rest: bool,
}

impl CallSlot {
    pub(super) fn take(connection: &Arc<MultiplexedConnection>) -> Option<Self> {
        let (slot, pending) = connection.join()?;
        Some(Self {
            connection: Arc::clone(connection),
            slot,
            pending,
            state: Mutex::default(),
        })
    }

    /// The last request id of this slot, and the distance to the next.
    pub(crate) fn ids(&self) -> (u32, u32) {
        (self.pending.last_id(), STRIDE)
    }

    /// The reply to the last request, once it has arrived, or the end of the connection.
    ///
    /// # Errors
    /// `WouldBlock` after the receive timeout.
    pub(crate) fn receive_reply(&self) -> io::Result<Result<Whole, End>> {
        let timeout = self.state.lock().receive_timeout;
        let deadline = Deadline::after(timeout);
        loop {
            if let Some(reply) = self.pending.take() {
                return Ok(Ok(reply));
            }
            if let Some(end) = self.connection.ending() {
                // Once more: replies that arrived before the end are valid.
                return Ok(self.pending.take().ok_or(end));
            }
            if !self.connection.wait(self.slot, timeout, deadline) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    /// Whether the last message was not sent whole before the deadline of the caller.
    pub(crate) fn has_left_rest(&self) -> bool {
        self.state.lock().has_left_rest
    }

    /// Returns the memory of a consumed reply for reuse.
    pub(crate) fn recycle(&self, reply: Whole) {
        self.pending.recycle(reply);
    }

    /// Registers the message about to be sent; `false` if it must not be sent unchanged.
    /// CloseConnection is discarded: one caller must not end a shared connection.
    fn begin(&self, state: &mut State, pieces: &[IoSlice<'_>]) -> io::Result<bool> {
        let mut head = [0; HEAD];
        let len = gather(pieces, &mut head);
        let header = head
            .first_chunk()
            .filter(|_| len >= HEADER_LEN)
            .and_then(MessageHeader::parse_any)
            .ok_or(io::ErrorKind::InvalidInput)?;
        match header.kind {
            MessageKind::CloseConnection => return Ok(false),
            MessageKind::MessageError | MessageKind::CancelRequest => {
                let mut octets = Vec::new();
                for piece in pieces {
                    octets.extend_from_slice(piece);
                }
                if header.kind == MessageKind::MessageError {
                    self.connection.end_with(&octets);
                } else {
                    self.connection.say(&octets);
                }
                return Ok(false);
            }
            MessageKind::Request | MessageKind::LocateRequest => {
                let id = if header.version.minor < 2 {
                    pieces.first().and_then(|first| request_id(&header, first))
                } else {
                    request_id(&header, &head[..len])
                };
                self.pending
                    .await_answer(id.ok_or(io::ErrorKind::InvalidInput)?);
            }
            _ => {}
        }
        state.left = HEADER_LEN + header.size as usize;
        state.more_fragments = header.more_fragments;
        Ok(true)
    }

    /// Sends slices of messages. A message once begun is accepted whole: at its
    /// deadline a caller leaves the rest in the send queue.
    fn send_pieces(&self, pieces: &mut [IoSlice<'_>]) -> io::Result<usize> {
        let total = pieces.iter().map(|piece| piece.len()).sum();
        let mut state = self.state.lock();
        let deadline = Deadline::after(state.send_timeout);
        let mut is_first = false;
        if state.left == 0 {
            let goes_on = state.more_fragments;
            state.has_left_rest &= goes_on;
            if !self.begin(&mut state, pieces)? {
                return Ok(total);
            }
            if !goes_on {
                let acquired = self.connection.send_queue.acquire(deadline);
                let acquired = acquired.and_then(|()| self.send_rest(deadline));
                if let Err(error) = acquired {
                    state.left = 0;
                    state.more_fragments = false;
                    return Err(match self.connection.ending() {
                        Some(end) => end.error(),
                        None => error,
                    });
                }
                is_first = true;
            }
        }
        match self.send_or_leave(pieces, total, is_first, deadline) {
            Ok(is_sent) => state.has_left_rest |= !is_sent,
            Err(error) => {
                state.left = 0;
                state.more_fragments = false;
                self.connection.release();
                return Err(error);
            }
        }
        state.left = state.left.saturating_sub(total);
        if state.left == 0 && !state.more_fragments {
            self.connection.release();
        }
        Ok(total)
    }

    /// Sends the unsent rests of other callers first.
    fn send_rest(&self, deadline: Deadline) -> io::Result<()> {
        if !self.connection.send_queue.has_rest() {
            return Ok(());
        }
        let rest = self.connection.send_queue.take_rest();
        let sent = self.connection.push(&mut [IoSlice::new(&rest)], deadline)?;
        if sent == rest.len() {
            return Ok(());
        }
        self.connection
            .send_queue
            .put_rest([&rest[sent..]].into_iter());
        self.connection.release();
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Sends slices, as far as the peer accepts them before the deadline; returns whether it accepts
    /// all of them. The rest is left in the send queue.
    fn send_or_leave(
        &self,
        mut pieces: &mut [IoSlice<'_>],
        total: usize,
        is_first: bool,
        deadline: Deadline,
    ) -> io::Result<bool> {
        if let Some(end) = self.connection.ending() {
            return Err(end.error());
        }
        let send_queue = &self.connection.send_queue;
        let sent = if send_queue.has_rest() {
            0
        } else {
            let mut copies = [IoSlice::new(&[]); MAX_PIECES];
            let copies = &mut copies[..pieces.len()];
            copies.copy_from_slice(pieces);
            self.connection.push(copies, deadline)?
        };
        if sent == total {
            return Ok(true);
        }
        // What the stream has begun with cannot be taken back.
        if sent == 0 && is_first && self.connection.stream.begun() == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        IoSlice::advance_slices(&mut pieces, sent);
        send_queue.put_rest(pieces.iter().map(|piece| &**piece));
        Ok(false)
    }
}

/// The first octets of several pieces.
fn gather(pieces: &[IoSlice<'_>], head: &mut [u8]) -> usize {
    let mut len = 0;
    for piece in pieces {
        let count = piece.len().min(head.len() - len);
        head[len..len + count].copy_from_slice(&piece[..count]);
        len += count;
    }
    len
}

/// Required of streams. Not derived: it would print the whole connection.
impl fmt::Debug for CallSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.slot)
    }
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        let (left, more) = {
            let state = self.state.lock();
            (state.left, state.more_fragments)
        };
        if left > 0 || more {
            // The rest of the message is never sent: the stream is out of step.
            self.connection.finish(End::Lost);
            self.connection.release();
        }
        self.pending.forget();
        self.connection.leave(self.slot);
    }
}

/// The sending side of a call slot, as the stream of a connection.
#[derive(Debug)]
pub(super) struct SlotStream(pub(super) Arc<CallSlot>);

impl ByteStream for SlotStream {
    /// A slot receives replies, not bytes: see [`CallSlot::receive_reply`]. The result, like the
    /// end of a stream, only shows that something has arrived: the end, or a late reply.
    fn receive(&self, _room: &mut [u8]) -> io::Result<usize> {
        let timeout = self.0.state.lock().receive_timeout;
        let deadline = Deadline::after(timeout);
        while !self.has_buffered() {
            if !self.0.connection.wait(self.0.slot, timeout, deadline) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        Ok(0)
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.0.send_pieces(&mut [IoSlice::new(octets)])
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut copies = [IoSlice::new(&[]); MAX_PIECES];
        let count = pieces.len().min(MAX_PIECES);
        copies[..count].copy_from_slice(&pieces[..count]);
        self.0.send_pieces(&mut copies[..count])
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if receive == Some(Some(Duration::ZERO)) || send == Some(Some(Duration::ZERO)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut state = self.0.state.lock();
        state.receive_timeout = receive.unwrap_or(state.receive_timeout);
        state.send_timeout = send.unwrap_or(state.send_timeout);
        Ok(())
    }

    /// Callers block: there is no nonblocking mode.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if nonblocking {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(())
    }

    fn shutdown(&self, _how: Shutdown) {
        self.0.connection.finish(End::Lost);
    }

    fn peer(&self) -> Peer {
        self.0.connection.stream.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.0.connection.stream.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.0.connection.stream.sending_source()
    }

    fn has_buffered(&self) -> bool {
        !self.0.pending.is_empty() || self.0.connection.ending().is_some()
    }
}
