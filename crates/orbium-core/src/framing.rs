// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages out of a stream of octets.
//!
//! One receive call per message: the buffer asks for as much as the message
//! before took (the adaptive size of GOPI), so that a large message arrives
//! whole and alone, and lies aligned.

use std::io;

use orbium_giop::{HEADER_LEN, HeaderError, MessageHeader};
use orbium_transport::ByteStream;

/// Octets asked for at least: many small messages arrive at once. With all else
/// that a server has for an idle connection they come to less than 8 KiB.
const SMALL: usize = 6 * 1024 + 256;

/// Octets by which a buffer may grow ahead of what has arrived.
const AHEAD: usize = 64 * 1024;

/// A buffer larger than this is given back once messages are small again.
const KEPT: usize = 1 << 20;

/// Why the stream holds no further message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingError {
    /// What should be a header is none.
    Header(HeaderError),
    /// The message is larger than the limit.
    TooLarge,
}

/// The receive buffer of a connection.
#[derive(Debug)]
pub(crate) struct Framing {
    /// Initialised octets; those from `start` to `end` were received.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Octets of the message before.
    last: usize,
    limit: usize,
}

impl Framing {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            last: 0,
            limit,
        }
    }

    /// A buffer that begins with octets received elsewhere.
    pub(crate) fn with_octets(limit: usize, octets: Vec<u8>) -> Self {
        let end = octets.len();
        Self {
            buffer: octets,
            start: 0,
            end,
            last: 0,
            limit,
        }
    }

    /// The header of the next message, if it has arrived whole.
    #[inline]
    pub(crate) fn next(&self) -> Result<Option<MessageHeader>, FramingError> {
        match self.header()? {
            Some(header) if self.end - self.start >= total(&header) => Ok(Some(header)),
            _ => Ok(None),
        }
    }

    /// The header of the next message, if it has arrived whole and is a plain
    /// request: see [`MessageHeader::plain_request`]. Otherwise `next` knows.
    #[inline]
    pub(crate) fn next_plain_request(&self) -> Option<MessageHeader> {
        let octets = &self.buffer[self.start..self.end];
        let header = MessageHeader::plain_request(octets.first_chunk()?)?;
        (header.size as usize <= self.limit && total(&header) <= octets.len()).then_some(header)
    }

    #[inline]
    fn header(&self) -> Result<Option<MessageHeader>, FramingError> {
        let Some(octets) = self.buffer[self.start..self.end].first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let header = MessageHeader::parse(octets).map_err(FramingError::Header)?;
        if header.size as usize > self.limit {
            return Err(FramingError::TooLarge);
        }
        Ok(Some(header))
    }

    /// Whether a message has begun to arrive.
    #[inline]
    pub(crate) fn is_partial(&self) -> bool {
        self.start != self.end
    }

    /// Receives once.
    #[inline]
    pub(crate) fn receive(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        let until = if self.start == self.end && self.last <= SMALL && self.buffer.len() >= SMALL {
            self.start = 0;
            self.end = 0;
            SMALL
        } else {
            self.make_room()
        };
        probe!(TransportReceive);
        let received = stream.receive(&mut self.buffer[self.end..until])?;
        probe!(IoReceive);
        self.end += received;
        Ok(received)
    }

    /// Makes room for what is expected next; returns where it should end.
    #[inline(never)]
    fn make_room(&mut self) -> usize {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // A header that is wrong is found by `next` before more is received.
        let expected = match self.header() {
            Ok(Some(header)) => total(&header),
            _ => self.last.max(SMALL),
        };
        if self.end == 0 && self.buffer.len() > KEPT && expected < KEPT / 16 {
            self.buffer = Vec::new();
        }
        // Memory follows what has arrived, not what a header claims.
        let justified = expected.min(2 * self.end + AHEAD);
        if self.buffer.len() < justified {
            self.buffer.resize(justified, 0);
        }
        justified
    }

    /// The octets of the message whose header `next` gave.
    #[inline]
    pub(crate) fn message(&mut self, header: &MessageHeader) -> &mut [u8] {
        &mut self.buffer[self.start..self.start + total(header)]
    }

    /// The octets of that message, and those received behind it.
    #[inline]
    pub(crate) fn split(&mut self, header: &MessageHeader) -> (&mut [u8], &[u8]) {
        let (message, rest) = self.buffer[self.start..self.end].split_at_mut(total(header));
        (message, rest)
    }

    /// Drops the message whose header `next` gave.
    #[inline]
    pub(crate) fn consume(&mut self, header: &MessageHeader) {
        self.last = total(header);
        self.start += self.last;
    }

    /// What was received and not consumed yet.
    pub(crate) fn received(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

#[inline]
fn total(header: &MessageHeader) -> usize {
    HEADER_LEN + header.size as usize
}
