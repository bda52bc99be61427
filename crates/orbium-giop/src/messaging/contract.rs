// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interface of a messaging protocol.

use core::fmt::Debug;
use core::ops::Range;

use super::error::MessagingError;
use super::message::Message;
use crate::Headers;

/// Octets that a part of a message has at most, or little more: see
/// [`Decoder::decode_part`].
pub const PART: usize = 64 * 1024;

/// Octets by which a frame may be longer than the message in it.
pub const MAX_OVERHEAD: usize = 64;

/// A messaging protocol.
pub trait Messaging: Send + Sync + Debug {
    /// The name that endpoints and references have for it, as in
    /// `?messaging=name`: lower-case letters, digits and hyphens.
    fn name(&self) -> &str;

    /// What it is able to carry.
    fn input(&self) -> Input;

    /// Whether a frame can be understood only after those before it. Such a
    /// messaging protocol needs a stream: datagrams get lost and overtake each other.
    fn is_stateful(&self) -> bool {
        false
    }

    /// A shorter name for endpoints, lists and policies, where the name says more.
    fn alias(&self) -> Option<&str> {
        None
    }

    /// Which headers requests and replies have over a stream. Others than GIOP's the ORB
    /// writes and reads itself, and this value is not asked for a session.
    fn headers(&self) -> Headers {
        Headers::GIOP
    }

    /// The state of a new connection. `limit` is how many octets the largest
    /// message has, its header included; a larger one is not decoded.
    fn session(&self, side: Side, limit: usize) -> Session;
}

/// Input that a messaging protocol can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// GIOP messages alone: it looks into them, so it must be the outermost.
    Giop,
    /// Any octets, GIOP messages or frames of another messaging protocol.
    Octets,
}

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that opened it.
    Client,
    /// The one that accepted it.
    Server,
}

/// State of a messaging protocol for one connection: two parts, as one thread may send
/// while another receives.
#[derive(Debug)]
pub struct Session {
    /// The part that sends.
    pub encoder: Box<dyn Encoder>,
    /// The part that receives.
    pub decoder: Box<dyn Decoder>,
}

impl Session {
    /// A session of these two parts.
    #[must_use]
    pub fn new(encoder: impl Encoder + 'static, decoder: impl Decoder + 'static) -> Self {
        Self {
            encoder: Box::new(encoder),
            decoder: Box::new(decoder),
        }
    }
}

/// The sending part of a session.
pub trait Encoder: Send + Debug {
    /// Turns one whole message into one frame: what is appended to `head`, then
    /// the range of the message that is returned, then what is appended to
    /// `tail`. So a body that is sent as it is need not be copied.
    ///
    /// A frame is at most [`MAX_OVERHEAD`] octets longer than its message.
    /// Frames are sent in the order in which they were encoded.
    ///
    /// # Errors
    /// [`MessagingError`] if the message is not what the protocol carries or
    /// exceeds what it can express. Then nothing further may be sent.
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError>;
}

/// The receiving part of a session. What it is given comes from the network:
/// nothing of it may be believed.
pub trait Decoder: Send + Debug {
    /// How long the frame at the start of `wire` is; `None` if more octets are
    /// needed to tell. The same for the same start, whatever follows.
    ///
    /// # Errors
    /// [`MessagingError`] if no frame starts so, or one that is too long.
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError>;

    /// Appends the message in one whole frame, of the length that
    /// [`Decoder::frame_len`] returned. Appends nothing if there is none, as in a
    /// frame that only concerns the two protocols.
    ///
    /// # Errors
    /// [`MessagingError`] for what is wrong with it. What was appended then
    /// means nothing, and nothing further may be received.
    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError>;

    /// As [`Decoder::decode`], but only the next part of the message, of at most
    /// [`PART`] octets or a little more; returns whether that was the last. Called with
    /// the same frame until it is; what was appended before may be gone by then. For
    /// messaging protocols with messages much longer than their frames: the receiver
    /// checks its limits after each part. By default the whole is one part.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    fn decode_part(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<bool, MessagingError> {
        self.decode(frame, message).map(|()| true)
    }

    /// Octets of memory that are held for the frame being decoded, besides the
    /// message itself. By default none.
    fn held(&self) -> usize {
        0
    }

    /// Octets decoded from the frame that are no part of a message yet, as between two
    /// protocols. The receiver limits how many times longer than the frame they are. By
    /// default none.
    fn undelivered(&self) -> usize {
        0
    }
}
