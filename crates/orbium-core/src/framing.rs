// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages out of a stream of octets.
//!
//! One receive call per message: the buffer asks for as much as the message
//! before took (the adaptive size of GOPI), so that a large message arrives
//! whole and alone, and lies aligned.

use std::fmt;
use std::io;

use orbium_giop::{HEADER_LEN, HeaderError, MessageHeader, MessageKind};
use orbium_transport::ByteStream;

use crate::receive_buffer::{ReceiveBuffer, SMALL};

/// Why the stream holds no further message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingError {
    /// What should be a header is none.
    Header(HeaderError),
    /// The message is larger than the limit.
    TooLarge {
        /// Its kind.
        kind: MessageKind,
        /// Octets of it, header included.
        size: usize,
        /// Octets that a message may have.
        limit: usize,
    },
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::TooLarge { kind, size, limit } => {
                let noun = match kind {
                    MessageKind::Request => "request",
                    MessageKind::Reply => "reply",
                    _ => "message",
                };
                TooLarge {
                    noun,
                    size: *size,
                    limit: *limit,
                }
                .fmt(f)
            }
        }
    }
}

/// Says by how much a message exceeds the limit.
pub(crate) struct TooLarge {
    /// What it is.
    pub(crate) noun: &'static str,
    /// Octets of it.
    pub(crate) size: usize,
    /// Octets that a message may have.
    pub(crate) limit: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noun, size, limit } = *self;
        let (size, limit) = (Grouped(size), Grouped(limit));
        write!(
            f,
            "{noun} of {size} bytes, limit {limit} (`limits.message_size`)"
        )
    }
}

/// A number with a comma before each three digits.
pub(crate) struct Grouped(pub(crate) usize);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 1000, self.0 % 1000) {
            (0, rest) => write!(f, "{rest}"),
            (more, rest) => write!(f, "{},{rest:03}", Self(more)),
        }
    }
}

/// The messages that a connection receives.
#[derive(Debug)]
pub(crate) struct Framing {
    buffer: ReceiveBuffer,
    /// Octets of the message before.
    last: usize,
    limit: usize,
}

impl Framing {
    pub(crate) fn new(limit: usize) -> Self {
        Self::with_octets(limit, Vec::new())
    }

    /// A stream that begins with octets received elsewhere.
    pub(crate) fn with_octets(limit: usize, octets: Vec<u8>) -> Self {
        Self {
            buffer: ReceiveBuffer::with_octets(octets),
            last: 0,
            limit,
        }
    }

    /// The header of the next message, if it has arrived whole.
    #[inline]
    pub(crate) fn next(&self) -> Result<Option<MessageHeader>, FramingError> {
        match self.header()? {
            Some(header) if self.received().len() >= total(&header) => Ok(Some(header)),
            _ => Ok(None),
        }
    }

    /// The header of the next message, if it has arrived whole and is a plain
    /// request: see [`MessageHeader::plain_request`]. Otherwise `next` knows.
    #[inline]
    pub(crate) fn next_plain_request(&self) -> Option<MessageHeader> {
        let octets = self.received();
        let header = MessageHeader::plain_request(octets.first_chunk()?)?;
        (header.size as usize <= self.limit && total(&header) <= octets.len()).then_some(header)
    }

    #[inline]
    fn header(&self) -> Result<Option<MessageHeader>, FramingError> {
        let Some(octets) = self.received().first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let header = MessageHeader::parse(octets).map_err(FramingError::Header)?;
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
    pub(crate) fn is_partial(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Receives once.
    #[inline]
    pub(crate) fn receive(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        let until = if self.last <= SMALL && self.buffer.is_ready_for_little() {
            SMALL
        } else {
            self.make_room()
        };
        probe!(TransportReceive);
        self.buffer.receive(stream, until)
    }

    /// Makes room for what is expected next; returns where it should end.
    #[inline(never)]
    fn make_room(&mut self) -> usize {
        // A header that is wrong is found by `next` before more is received.
        let expected = match self.header() {
            Ok(Some(header)) => total(&header),
            _ => self.last.max(SMALL),
        };
        self.buffer.make_room(expected)
    }

    /// The octets of the message whose header `next` gave.
    #[inline]
    pub(crate) fn message(&mut self, header: &MessageHeader) -> &mut [u8] {
        self.buffer.first_mut(total(header))
    }

    /// The octets of that message, and those received behind it.
    #[inline]
    pub(crate) fn split(&mut self, header: &MessageHeader) -> (&mut [u8], &[u8]) {
        let (message, rest) = self.buffer.received_mut().split_at_mut(total(header));
        (message, rest)
    }

    /// Drops the message whose header `next` gave.
    #[inline]
    pub(crate) fn consume(&mut self, header: &MessageHeader) {
        self.last = total(header);
        self.buffer.consume(self.last);
    }

    /// What was received and not consumed yet.
    #[inline]
    pub(crate) fn received(&self) -> &[u8] {
        self.buffer.received()
    }
}

#[inline]
fn total(header: &MessageHeader) -> usize {
    HEADER_LEN + header.size as usize
}
