// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extracts messages from a stream of octets.
//!
//! One receive call per message: the buffer requests as many octets as the previous message had
//! (the adaptive size of GOPI), so that a large message arrives whole, alone, and aligned.
//!
//! A message for which there is no memory is refused when its first octets have arrived, and the
//! rest is received and discarded: the connection remains usable.

mod begun;
mod error;
mod short;
mod whole;

use std::io;

use orbium_giop::{HEADER_LEN, Headers, MessageHeader, MessageKind, RequestForm, UsualHeaders};
use orbium_transport::ByteStream;

use crate::peer_memory::{Budget, Charge, NoMemory, copied};
use crate::receive_buffer::{ReceiveBuffer, SMALL};
pub(crate) use begun::failure;
use begun::total;
pub use begun::{answered_by, begins_with_request, refusal};
pub use error::{FramingError, Grouped, TooLarge};

/// Bytes to receive at once while messages follow each other without a pause.
const BULK: usize = 64 * 1024;

/// Number of consecutive small receives after which the messages of a peer no longer follow each
/// other without a pause: a sender on the same processor pauses, and 64 KiB would be zeroed each
/// time.
const MAX_SMALL_RECEIVES: u8 = 64;

/// Writes received octets into the given buffer, and returns their number.
type Receive<'r> = dyn FnMut(&mut [u8]) -> io::Result<usize> + 'r;

/// The messages that a connection receives.
#[derive(Debug)]
pub struct Framing {
    buffer: ReceiveBuffer,
    /// Octets of the previous message; the maximum while a message is skipped.
    last: usize,
    limit: usize,
    /// Bytes to receive at once while messages follow each other without a pause; 0 otherwise.
    bulk: usize,
    /// Number of consecutive small receives in bulk mode.
    lulls: u8,
    /// Octets of a refused message that are still to be discarded.
    skipped: usize,
    /// Whether there is no memory for the partly received message.
    is_refused: bool,
    /// Whether whole messages are delivered into the buffer, instead of received bytes.
    is_delivered: bool,
    /// The header forms of messages besides GIOP's.
    headers: Headers,
    /// The beginnings of the usual requests and replies with those headers.
    usual: UsualHeaders,
}

impl Framing {
    /// A stream from which nothing was received yet.
    #[must_use]
    pub fn new(limit: usize, budget: &Budget) -> Self {
        Self::with_octets(limit, Vec::new(), budget)
    }

    /// A stream that begins with octets received elsewhere.
    pub fn with_octets(limit: usize, octets: Vec<u8>, budget: &Budget) -> Self {
        Self {
            buffer: ReceiveBuffer::with_octets(octets, budget),
            last: 0,
            limit,
            bulk: 0,
            lulls: 0,
            skipped: 0,
            is_refused: false,
            is_delivered: false,
            headers: Headers::GIOP,
            usual: UsualHeaders::new(Headers::GIOP),
        }
    }

    /// The same; messages may have these headers besides GIOP's.
    #[must_use]
    pub fn with_headers(self, headers: Headers) -> Self {
        Self {
            headers,
            usual: UsualHeaders::new(headers),
            ..self
        }
    }

    /// Maximum octets of a message.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The header forms that messages may have besides GIOP's.
    pub fn headers(&self) -> Headers {
        self.headers
    }

    /// The budget to which the messages are charged.
    pub fn budget(&self) -> &Budget {
        self.buffer.budget()
    }

    /// The header of the next message, if it has arrived whole.
    #[inline]
    pub fn next(&self) -> Result<Option<MessageHeader>, FramingError> {
        match self.header()? {
            Some(header) if self.received().len() >= total(&header) => Ok(Some(header)),
            Some(_) if self.is_refused => Err(FramingError::NoMemory),
            _ => Ok(None),
        }
    }

    /// The octets of the next message, if it has arrived whole and begins as a request of that
    /// form; and those received after it. Otherwise the caller calls `next`.
    #[inline(always)]
    pub fn next_request<F: RequestForm>(&mut self) -> Option<(&mut [u8], &[u8])> {
        let octets = self.buffer.received_mut();
        let size = F::size(&self.usual, octets.first_chunk()?)? as usize;
        if size > self.limit {
            return None;
        }
        let (message, rest) = octets.split_at_mut_checked(HEADER_LEN + size)?;
        Some((message, rest))
    }

    /// The message of that size at the start of the octets, if it is within the limit and has
    /// arrived whole.
    #[inline(always)]
    fn whole<'o>(&self, size: u32, octets: &'o [u8]) -> Option<&'o [u8]> {
        if size as usize <= self.limit {
            octets.get(..HEADER_LEN + size as usize)
        } else {
            None
        }
    }

    /// The header of the next message, if that much has arrived.
    #[inline]
    pub fn header(&self) -> Result<Option<MessageHeader>, FramingError> {
        let Some(octets) = self.received().first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let header = match MessageHeader::parse(octets) {
            Ok(header) => header,
            Err(error) => self.short_header(octets, error)?,
        };
        if header.size as usize > self.limit {
            return Err(FramingError::TooLarge {
                kind: header.kind,
                size: total(&header),
                limit: self.limit,
            });
        }
        Ok(Some(header))
    }

    /// Whether a message has begun to arrive.
    #[inline]
    pub fn is_partial(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The header of the next message if its size exceeds the limit, and its received octets.
    pub fn oversized(&mut self) -> Option<(MessageHeader, &mut [u8])> {
        let header = MessageHeader::parse_any(self.received().first_chunk()?)?;
        let len = self.received().len().min(total(&header));
        Some((header, self.buffer.first_mut(len)))
    }

    /// Drops that message; its rest as it arrives.
    pub fn skip_oversized(&mut self, header: &MessageHeader) {
        let here = self.received().len().min(total(header));
        self.buffer.consume(here);
        self.skipped = total(header) - here;
        self.last = 0;
        self.begin_to_skip();
    }

    /// Receives once, or returns at once if `next` has a result.
    #[inline]
    pub fn receive(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        match self.receive_little(stream) {
            Some(received) => received,
            None => self.receive_more(stream),
        }
    }

    /// Receives once, if a small message is expected and the buffer has room for one.
    #[inline(always)]
    pub fn receive_little(&mut self, stream: &dyn ByteStream) -> Option<io::Result<usize>> {
        // Not if messages are delivered into the buffer: it is never ready for little then.
        if self.last <= SMALL && self.buffer.is_ready_for_little() {
            orbium_trace::probe!(TransportReceive);
            return Some(self.buffer.receive(stream, SMALL));
        }
        None
    }

    /// As `receive`, in all other cases.
    ///
    /// # Errors
    /// The errors of the stream.
    pub fn receive_more(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        self.receive_much(&mut |room| stream.receive(room))
    }

    /// Takes octets that were received elsewhere, up to the free room, and returns their number: 0
    /// if `next` has a result to return first.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn push(&mut self, octets: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        self.receive_much(&mut |room| {
            taken = room.len().min(octets.len());
            room[..taken].copy_from_slice(&octets[..taken]);
            Ok(taken)
        })?;
        Ok(taken)
    }

    /// As `receive`, if more is expected than a small buffer can hold, or part of a message has
    /// arrived.
    fn receive_much(&mut self, receive: &mut Receive<'_>) -> io::Result<usize> {
        if self.skipped > 0 {
            return self.receive_to_skip(receive);
        }
        // A malformed header is reported by `next` before more is received.
        let begun = self.header().ok().flatten();
        if begun.is_some_and(|header| total(&header) <= self.received().len()) {
            // An empty buffer would read as the end of the stream.
            return Ok(1);
        }
        if self.buffer.is_filled() {
            self.bulk = BULK;
        }
        if self.bulk > 0 && self.budget().is_tight() {
            self.bulk = 0;
        }
        let expected = begun
            .as_ref()
            .map_or_else(|| self.after_last().max(SMALL), total);
        let room = match self.buffer.make_room(self.whole_messages(expected)) {
            Err(NoMemory) if self.bulk > expected => self.buffer.make_room(expected),
            room => room,
        };
        let until = match (room, begun) {
            (Ok(until), _) => until,
            (Err(NoMemory), Some(header)) => {
                self.refuse(&header);
                return Ok(1);
            }
            (Err(NoMemory), None) => self
                .buffer
                .make_room(SMALL)
                .map_err(|_| io::ErrorKind::OutOfMemory)?,
        };
        orbium_trace::probe!(TransportReceive);
        let received = self.buffer.receive_by(receive, until)?;
        if self.bulk > 0 {
            self.count_small_receive();
        }
        Ok(received)
    }

    /// Counts consecutive small receives, which end the bulk mode.
    fn count_small_receive(&mut self) {
        self.lulls = if self.received().len() <= SMALL {
            self.lulls + 1
        } else {
            0
        };
        if self.lulls == MAX_SMALL_RECEIVES {
            (self.bulk, self.lulls) = (0, 0);
        }
    }

    /// Bytes to receive if that many are expected: in bulk mode, so many that no part of a message
    /// would have to be moved before the next receive if all were as long as the last.
    fn whole_messages(&self, expected: usize) -> usize {
        match self.bulk.saturating_sub(expected) {
            0 => expected,
            more => expected + more.next_multiple_of(self.last.clamp(1, BULK)),
        }
    }

    /// Bytes to receive if no part of a message has arrived: as many as the last one had. Above
    /// small sizes some more, to detect whether others follow it.
    fn after_last(&self) -> usize {
        match self.last {
            moderate if moderate > SMALL && moderate < BULK - SMALL => moderate + SMALL,
            last => last,
        }
    }

    /// There is no memory for the partly received message. A reply is replaced by one with an
    /// exception; for any other message `next` returns the error.
    #[cold]
    fn refuse(&mut self, header: &MessageHeader) {
        self.budget().count_refused();
        self.is_refused = true;
        self.bulk = 0;
        if header.kind != MessageKind::Reply {
            return;
        }
        let received = self.received().len();
        let Some(request_id) = answered_by(header, self.received()) else {
            return;
        };
        let octets = refusal(header, request_id);
        self.skipped = total(header) - received;
        self.is_refused = false;
        self.buffer.replace(octets);
    }

    /// Discards the message for which `next` has returned a lack of memory, and its rest as it
    /// arrives.
    #[cold]
    pub fn skip(&mut self) {
        let header = self.header().ok().flatten();
        let rest = header.map_or(0, |header| total(&header));
        self.skipped = rest.saturating_sub(self.received().len());
        self.is_refused = false;
        self.buffer.clear();
        self.begin_to_skip();
    }

    /// The next octets are the rest of a refused message. One octet of it remains until all of it
    /// has arrived, so that the message counts as unfinished.
    fn begin_to_skip(&mut self) {
        if self.skipped > 0 {
            self.last = usize::MAX;
            self.buffer.replace(vec![0]);
            self.skipped += 1;
        }
    }

    #[cold]
    fn receive_to_skip(&mut self, receive: &mut Receive<'_>) -> io::Result<usize> {
        let until = self.buffer.make_room(SMALL);
        let until = until.map_err(|_| io::ErrorKind::OutOfMemory)?;
        let received = self.buffer.receive_by(receive, until)?;
        let there = self.received().len();
        if there >= self.skipped {
            self.buffer.consume(self.skipped);
            (self.skipped, self.last) = (0, 0);
        } else {
            self.buffer.consume(there - 1);
            self.skipped -= there - 1;
        }
        Ok(received)
    }

    /// The bytes of the message with that header, as given by `next`.
    #[inline]
    pub fn message(&mut self, header: &MessageHeader) -> &mut [u8] {
        self.buffer.first_mut(total(header))
    }

    /// The octets of that message, and those received after it.
    #[inline]
    pub fn split(&mut self, header: &MessageHeader) -> (&mut [u8], &[u8]) {
        let (message, rest) = self.buffer.received_mut().split_at_mut(total(header));
        (message, rest)
    }

    /// Takes out the message with that header, as given by `next`: into `room`, or with the buffer
    /// that it was received into.
    ///
    /// # Errors
    /// There is no memory for it; it remains in the buffer.
    pub fn take_out(
        &mut self,
        header: &MessageHeader,
        room: Vec<u8>,
    ) -> Result<(Vec<u8>, Charge), NoMemory> {
        if let Some(taken) = self.buffer.take_if_alone(total(header)) {
            self.last = 0;
            return Ok(taken);
        }
        let octets = &self.buffer.received()[..total(header)];
        let copied = copied(octets, room, self.buffer.budget())?;
        self.consume(header);
        Ok(copied)
    }

    /// Drops the message with that header, as given by `next`.
    #[inline]
    pub fn consume(&mut self, header: &MessageHeader) {
        self.consume_octets(total(header));
    }

    /// Discards the next message, of that many octets.
    #[inline]
    pub fn consume_octets(&mut self, octets: usize) {
        self.last = octets;
        self.buffer.consume(octets);
        // In bulk mode the buffer remains until all messages in it are consumed.
        if self.buffer.is_large() && (self.bulk == 0 || self.buffer.is_empty()) {
            self.settle();
        }
    }

    /// Falls back to a small buffer, if much memory is no longer needed.
    #[cold]
    fn settle(&mut self) {
        if self.is_delivered {
            return self.settle_delivered();
        }
        self.last = self.whole_messages(self.last);
        if self.buffer.settle(self.last) {
            // The next receive does not expect as much either.
            self.last = 0;
            self.bulk = 0;
        }
        if self.skipped > 0 {
            // The message replaced a refused one.
            self.begin_to_skip();
        }
    }

    /// The bytes received and not consumed yet.
    #[inline]
    pub fn received(&self) -> &[u8] {
        self.buffer.received()
    }
}

#[cfg(test)]
mod tests;
