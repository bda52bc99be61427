// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that end the messages of a stream, and how sizes are shown.

use std::fmt;

use orbium_giop::{HeaderError, MessageKind};

/// Error that ends the messages of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingError {
    /// The octets are not a message header.
    Header(HeaderError),
    /// The message is larger than the limit.
    TooLarge {
        /// Its kind.
        kind: MessageKind,
        /// Octets of it, header included.
        size: usize,
        /// Maximum octets of a message.
        limit: usize,
    },
    /// There is no memory for the message: see [`Framing::skip`](super::Framing::skip).
    NoMemory,
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::NoMemory => f.write_str("no memory for a message (`limits.peer_memory`)"),
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
pub struct TooLarge {
    /// Noun for the message.
    pub noun: &'static str,
    /// Octets of it.
    pub size: usize,
    /// Maximum octets of a message.
    pub limit: usize,
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

/// A number with commas between groups of three digits.
pub struct Grouped(pub usize);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 1000, self.0 % 1000) {
            (0, rest) => write!(f, "{rest}"),
            (more, rest) => write!(f, "{},{rest:03}", Self(more)),
        }
    }
}
