// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shared connection as one caller sees it: a stream of its own.
//!
//! What is received is what answers this caller; whole messages are sent, never
//! mixed with those of others.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind};
use orbium_sync::lock::Mutex;
use orbium_transport::{ByteStream, Deadline, Peer};

use super::inbox::Inbox;
use super::line::{End, Line, STRIDE, lock};
use super::message::request_id;

/// Octets from which the header of a message in fragments, and its id, are
/// known.
const HEAD: usize = HEADER_LEN + 4;

/// Most pieces taken at once.
const MAX_PIECES: usize = 16;

/// One caller's place at a shared connection.
pub(super) struct Seat {
    line: Arc<Line>,
    place: usize,
    inbox: Arc<Inbox>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    receive_timeout: Option<Duration>,
    send_timeout: Option<Duration>,
    /// What of the message being sent is still to come; the turn to send is
    /// ours meanwhile.
    left: usize,
    /// Fragments of the same message follow it.
    more_fragments: bool,
}

impl Seat {
    pub(super) fn take(line: &Arc<Line>) -> Option<Self> {
        let (place, inbox) = line.join()?;
        Some(Self {
            line: Arc::clone(line),
            place,
            inbox,
            state: Mutex::default(),
        })
    }

    /// The last id that was used here, and how far the next is from it.
    pub(super) fn ids(&self) -> (u32, u32) {
        (self.inbox.last_id(), STRIDE)
    }

    /// Notes what a message is about before it is sent; whether it is to be
    /// sent at all. The ends of the connection are not one caller's affair.
    fn begin(&self, state: &mut State, pieces: &[IoSlice<'_>]) -> io::Result<bool> {
        let mut head = [0; HEAD];
        let len = gather(pieces, &mut head);
        let header = head
            .first_chunk()
            .filter(|_| len >= HEADER_LEN)
            .and_then(|head| MessageHeader::parse(head).ok())
            .ok_or(io::ErrorKind::InvalidInput)?;
        match header.kind {
            MessageKind::CloseConnection => return Ok(false),
            MessageKind::MessageError | MessageKind::CancelRequest => {
                let mut octets = Vec::new();
                for piece in pieces {
                    octets.extend_from_slice(piece);
                }
                if header.kind == MessageKind::MessageError {
                    self.line.end_with(&octets);
                } else {
                    self.line.say(&octets);
                }
                return Ok(false);
            }
            MessageKind::Request | MessageKind::LocateRequest => {
                let id = if header.version.minor < 2 {
                    pieces.first().and_then(|first| request_id(&header, first))
                } else {
                    request_id(&header, &head[..len])
                };
                self.inbox
                    .await_answer(id.ok_or(io::ErrorKind::InvalidInput)?);
            }
            _ => {}
        }
        state.left = HEADER_LEN + header.size as usize;
        state.more_fragments = header.more_fragments;
        Ok(true)
    }

    /// Sends pieces of messages. What was begun is taken whole: a caller whose
    /// time is over leaves the rest to the connection.
    fn send_pieces(&self, pieces: &mut [IoSlice<'_>]) -> io::Result<usize> {
        let total = pieces.iter().map(|piece| piece.len()).sum();
        let mut state = lock(&self.state);
        let deadline = Deadline::after(state.send_timeout);
        let mut is_first = false;
        if state.left == 0 {
            let goes_on = state.more_fragments;
            if !self.begin(&mut state, pieces)? {
                return Ok(total);
            }
            if !goes_on {
                let acquired = self.line.outbox.acquire(deadline);
                let acquired = acquired.and_then(|()| self.send_rest(deadline));
                if let Err(error) = acquired {
                    state.left = 0;
                    state.more_fragments = false;
                    return Err(match self.line.ending() {
                        Some(end) => end.error(),
                        None => error,
                    });
                }
                is_first = true;
            }
        }
        if let Err(error) = self.send_or_leave(pieces, total, is_first, deadline) {
            state.left = 0;
            state.more_fragments = false;
            self.line.release();
            return Err(error);
        }
        state.left = state.left.saturating_sub(total);
        if state.left == 0 && !state.more_fragments {
            self.line.release();
        }
        Ok(total)
    }

    /// What others left goes first.
    fn send_rest(&self, deadline: Deadline) -> io::Result<()> {
        if !self.line.outbox.has_rest() {
            return Ok(());
        }
        let rest = self.line.outbox.take_rest();
        let sent = self.line.push(&mut [IoSlice::new(&rest)], deadline)?;
        if sent == rest.len() {
            return Ok(());
        }
        self.line.outbox.put_rest([&rest[sent..]].into_iter());
        self.line.release();
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn send_or_leave(
        &self,
        mut pieces: &mut [IoSlice<'_>],
        total: usize,
        is_first: bool,
        deadline: Deadline,
    ) -> io::Result<()> {
        if let Some(end) = self.line.ending() {
            return Err(end.error());
        }
        let outbox = &self.line.outbox;
        let sent = if outbox.has_rest() {
            0
        } else {
            let mut copies = [IoSlice::new(&[]); MAX_PIECES];
            let copies = &mut copies[..pieces.len()];
            copies.copy_from_slice(pieces);
            self.line.push(copies, deadline)?
        };
        if sent == total {
            return Ok(());
        }
        if sent == 0 && is_first {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        IoSlice::advance_slices(&mut pieces, sent);
        outbox.put_rest(pieces.iter().map(|piece| &**piece));
        Ok(())
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

/// Streams have it. Not derived: the whole connection would be shown.
impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.place)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let (left, more) = {
            let state = lock(&self.state);
            (state.left, state.more_fragments)
        };
        if left > 0 || more {
            // A message that nobody can complete any more.
            self.line.finish(End::Lost);
            self.line.release();
        }
        self.inbox.forget();
        self.line.leave(self.place);
    }
}

impl ByteStream for Seat {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let timeout = lock(&self.state).receive_timeout;
        let deadline = Deadline::after(timeout);
        loop {
            let taken = self.inbox.take(room);
            if taken > 0 || room.is_empty() {
                return Ok(taken);
            }
            if let Some(end) = self.line.ending() {
                // Looked at again: what came before the end counts.
                return match (self.inbox.take(room), end) {
                    (0, End::Refused) => Err(end.error()),
                    (taken, _) => Ok(taken),
                };
            }
            if !self.line.wait(self.place, timeout, deadline) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_pieces(&mut [IoSlice::new(octets)])
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut copies = [IoSlice::new(&[]); MAX_PIECES];
        let count = pieces.len().min(MAX_PIECES);
        copies[..count].copy_from_slice(&pieces[..count]);
        self.send_pieces(&mut copies[..count])
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if receive == Some(Some(Duration::ZERO)) || send == Some(Some(Duration::ZERO)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut state = lock(&self.state);
        state.receive_timeout = receive.unwrap_or(state.receive_timeout);
        state.send_timeout = send.unwrap_or(state.send_timeout);
        Ok(())
    }

    /// Callers wait.
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if nonblocking {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(())
    }

    fn shutdown(&self, _how: Shutdown) {
        self.line.finish(End::Lost);
    }

    fn peer(&self) -> Peer {
        self.line.stream.peer()
    }

    fn source(&self) -> &dyn AsFd {
        self.line.stream.source()
    }

    fn sending_source(&self) -> Option<Arc<OwnedFd>> {
        self.line.stream.sending_source()
    }

    fn has_buffered(&self) -> bool {
        !self.inbox.is_empty() || self.line.ending().is_some()
    }
}
