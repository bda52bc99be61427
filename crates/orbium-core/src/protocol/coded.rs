// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stream that carries another messaging half than GIOP.
//!
//! The ORB above sends and receives GIOP messages; what goes over the stream
//! below are the frames of the half. GIOP itself needs none of this.

use std::fmt;
use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use orbium_giop::messaging::{
    Decoder, Encoder, MAX_OVERHEAD, Message, Messaging, MessagingError, Side,
};
use orbium_giop::{HEADER_LEN, MessageHeader};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_transport::{Acceptor, ByteStream, Connector, Deadline, Peer};

/// Most pieces sent at once: those of a message and what a half adds.
const MAX_PIECES: usize = 20;

/// Octets asked for at least.
const SMALL: usize = 8 * 1024;

/// Octets by which a buffer may grow ahead of what has arrived.
const AHEAD: usize = 64 * 1024;

/// A frame up to that many octets is put together before it is sent, which costs
/// less than having the kernel gather it.
const COPIED: usize = 4 * 1024;

/// A buffer larger than this is given back once it is empty.
const KEPT: usize = 1 << 20;

fn refused(error: MessagingError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// A byte stream of GIOP messages over one of frames.
pub(crate) struct CodedStream {
    inner: Box<dyn ByteStream>,
    sending: Mutex<Sending>,
    receiving: Mutex<Receiving>,
    /// Whether a receive has a timeout.
    bounded: AtomicBool,
}

impl fmt::Debug for CodedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodedStream")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

struct Sending {
    encoder: Box<dyn Encoder>,
    limit: usize,
    /// The start of a message whose rest was not given yet.
    begun: Vec<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// What is left of the last frame.
    left: Vec<u8>,
    sent: usize,
    /// Octets of the message that the frame is of, to be reported once it is
    /// gone: the caller sends them again until then.
    owed: usize,
}

struct Receiving {
    decoder: Box<dyn Decoder>,
    limit: usize,
    /// Initialised octets; those from `start` to `end` were received.
    wire: Vec<u8>,
    start: usize,
    end: usize,
    /// The message decoded last, and how much of it was handed on.
    message: Vec<u8>,
    at: usize,
}

impl CodedStream {
    pub(crate) fn new(
        inner: Box<dyn ByteStream>,
        messaging: &dyn Messaging,
        side: Side,
        limit: usize,
    ) -> Self {
        let limit = limit.saturating_add(HEADER_LEN);
        let session = messaging.session(side, limit);
        Self {
            inner,
            sending: Mutex::new(Sending {
                encoder: session.encoder,
                limit,
                begun: Vec::new(),
                head: Vec::new(),
                tail: Vec::new(),
                left: Vec::new(),
                sent: 0,
                owed: 0,
            }),
            receiving: Mutex::new(Receiving {
                decoder: session.decoder,
                limit,
                wire: Vec::new(),
                start: 0,
                end: 0,
                message: Vec::new(),
                at: 0,
            }),
            bounded: AtomicBool::new(false),
        }
    }

    fn sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receiving(&self) -> MutexGuard<'_, Receiving> {
        let receiving = self.receiving.lock();
        receiving.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Octets of the GIOP message that starts in the pieces, if the header is there.
fn message_len(pieces: &[&[u8]], limit: usize) -> io::Result<Option<usize>> {
    let mut head = [0; HEADER_LEN];
    let mut at = 0;
    for piece in pieces {
        let count = piece.len().min(HEADER_LEN - at);
        head[at..at + count].copy_from_slice(&piece[..count]);
        at += count;
    }
    if at < HEADER_LEN {
        return Ok(None);
    }
    let header = MessageHeader::parse(&head).map_err(|error| refused(error.into()))?;
    let len = HEADER_LEN + header.size as usize;
    if len > limit {
        return Err(refused(MessagingError::TooLarge));
    }
    Ok(Some(len))
}

impl Sending {
    /// Takes the next message from the start of `pieces`, whose octets are
    /// `given` in all, and sends its frame.
    fn send(&mut self, inner: &dyn ByteStream, given: &[&[u8]]) -> io::Result<usize> {
        if self.owed > 0 {
            return self.flush(inner);
        }
        let count: usize = given.iter().map(|piece| piece.len()).sum();
        let begun = std::mem::take(&mut self.begun);
        let mut pieces = [&[][..]; MAX_PIECES];
        let Some(room) = pieces.get_mut(1..=given.len()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        room.copy_from_slice(given);
        pieces[0] = &begun;
        let pieces = &mut pieces[..=given.len()];
        match message_len(pieces, self.limit)? {
            Some(len) if len <= begun.len() + count => {
                cut(pieces, len);
                self.owed = len - begun.len();
                self.send_frame(inner, Message::new(pieces))
            }
            _ => {
                self.begun = pieces.concat();
                Ok(count)
            }
        }
    }

    fn send_frame(&mut self, inner: &dyn ByteStream, message: Message<'_>) -> io::Result<usize> {
        self.head.clear();
        self.tail.clear();
        let encoded = self
            .encoder
            .encode(message, &mut self.head, &mut self.tail)
            .map_err(refused)?;
        let len = self.head.len() + encoded.len() + self.tail.len();
        let octets = std::iter::once(&self.head[..])
            .chain(message.slices(encoded))
            .chain(std::iter::once(&self.tail[..]))
            .filter(|slice| !slice.is_empty());
        self.sent = 0;
        if len <= COPIED {
            self.left.clear();
            octets.for_each(|slice| self.left.extend_from_slice(slice));
            probe!(MessagingSend);
            let sent = self.flush(inner);
            probe!(IoSend);
            return sent;
        }
        let mut slices = [IoSlice::new(&[]); MAX_PIECES + 2];
        let mut count = 0;
        for slice in octets {
            slices[count] = IoSlice::new(slice);
            count += 1;
        }
        probe!(MessagingSend);
        let sent = match inner.send_vectored(&slices[..count]) {
            Ok(sent) => sent,
            Err(error) if waits(&error) => 0,
            Err(error) => return Err(error),
        };
        probe!(IoSend);
        if sent == len {
            return Ok(std::mem::take(&mut self.owed));
        }
        self.left.clear();
        let mut before = sent;
        for slice in &slices[..count] {
            self.left
                .extend_from_slice(&slice[before.min(slice.len())..]);
            before = before.saturating_sub(slice.len());
        }
        self.flush(inner)
    }

    /// Sends what is left of a frame; then the message was sent.
    fn flush(&mut self, inner: &dyn ByteStream) -> io::Result<usize> {
        while self.sent < self.left.len() {
            self.sent += inner.send(&self.left[self.sent..])?;
        }
        if self.left.capacity() > KEPT {
            self.left = Vec::new();
        }
        self.left.clear();
        Ok(std::mem::take(&mut self.owed))
    }
}

/// Leaves of the pieces what a message of that length needs.
fn cut(pieces: &mut [&[u8]], mut len: usize) {
    for piece in pieces {
        let taken = len.min(piece.len());
        *piece = &piece[..taken];
        len -= taken;
    }
}

fn waits(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

impl Receiving {
    /// Receives what is there; with `bounded`, no more than once for part of a
    /// frame.
    fn receive(
        &mut self,
        inner: &dyn ByteStream,
        room: &mut [u8],
        bounded: bool,
    ) -> io::Result<usize> {
        while self.at == self.message.len() {
            self.message.clear();
            self.at = 0;
            if self.message.capacity() > KEPT {
                self.message = Vec::new();
            }
            match self.whole_frame()? {
                Ok(len) => {
                    let frame = &self.wire[self.start..self.start + len];
                    self.decoder
                        .decode(frame, &mut self.message)
                        .map_err(refused)?;
                    self.start += len;
                    probe!(MessagingReceive);
                }
                Err(expected) => {
                    if self.receive_octets(inner, expected)? == 0 {
                        return Ok(0);
                    }
                    // The bound holds for one receive, and octet by octet there
                    // can be any number; who waits knows how much time is left.
                    if bounded && self.whole_frame()?.is_err() && !inner.has_buffered() {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
            }
        }
        let left = &self.message[self.at..];
        let count = left.len().min(room.len());
        room[..count].copy_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }

    /// The length of the frame that was received whole, or else how many octets
    /// are expected of one that was not.
    fn whole_frame(&self) -> io::Result<Result<usize, usize>> {
        let wire = &self.wire[self.start..self.end];
        match self.decoder.frame_len(wire).map_err(refused)? {
            Some(len) if len > self.limit + MAX_OVERHEAD => Err(refused(MessagingError::TooLarge)),
            Some(0) => Err(refused(MessagingError::WrongLength)),
            Some(len) if len <= wire.len() => Ok(Ok(len)),
            Some(len) => Ok(Err(len)),
            None => Ok(Err(SMALL)),
        }
    }

    fn receive_octets(&mut self, inner: &dyn ByteStream, expected: usize) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.wire.len() > KEPT && expected < KEPT / 16 {
                self.wire = Vec::new();
            }
        } else if self.start > 0 {
            self.wire.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // Memory follows what has arrived, not what a header claims.
        let justified = expected.max(SMALL).min(2 * self.end + AHEAD);
        if self.wire.len() < justified {
            self.wire.resize(justified, 0);
        }
        let received = inner.receive(&mut self.wire[self.end..])?;
        probe!(IoReceive);
        self.end += received;
        Ok(received)
    }
}

impl ByteStream for CodedStream {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let bounded = self.bounded.load(Ordering::Relaxed);
        self.receiving().receive(&*self.inner, room, bounded)
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

    fn is_midway(&self) -> bool {
        let receiving = self.receiving();
        let handed_on = receiving.at == receiving.message.len();
        handed_on && receiving.start < receiving.end || self.inner.is_midway()
    }

    fn has_buffered(&self) -> bool {
        let receiving = self.receiving();
        let is_frame = || !matches!(receiving.whole_frame(), Ok(Err(_)));
        receiving.at < receiving.message.len() || is_frame() || self.inner.has_buffered()
    }
}

/// Accepts streams of frames.
#[derive(Debug)]
pub(crate) struct CodedAcceptor {
    pub(crate) inner: Box<dyn Acceptor>,
    pub(crate) messaging: Arc<dyn Messaging>,
    pub(crate) limit: usize,
}

impl Acceptor for CodedAcceptor {
    fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        let inner = self.inner.accept()?;
        let coded = CodedStream::new(inner, &*self.messaging, Side::Server, self.limit);
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
pub(crate) struct CodedConnector {
    pub(crate) inner: Box<dyn Connector>,
    pub(crate) messaging: Arc<dyn Messaging>,
    pub(crate) limit: usize,
}

impl Connector for CodedConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let inner = self.inner.connect(deadline)?;
        let coded = CodedStream::new(inner, &*self.messaging, Side::Client, self.limit);
        Ok(Box::new(coded))
    }
}

#[cfg(test)]
mod tests;
