// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interface of a messaging protocol.

use core::fmt::Debug;
use core::ops::Range;

use super::error::MessagingError;
use super::message::Message;
use crate::Headers;

/// Maximum octets of a part of a message, or slightly more: see [`Decoder::decode_part`].
pub const PART: usize = 64 * 1024;

/// Maximum number of octets by which a frame may exceed its message.
pub const MAX_OVERHEAD: usize = 64;

/// A messaging protocol.
pub trait Messaging: Send + Sync + Debug {
    /// The name in endpoints and references, as in `?messaging=name`: lower-case letters, digits
    /// and hyphens.
    fn name(&self) -> &str;

    /// The messages that it can carry.
    fn input(&self) -> Input;

    /// Whether decoding a frame depends on the frames before it. Such a messaging protocol needs a
    /// stream: datagrams are lost and reordered.
    fn is_stateful(&self) -> bool {
        false
    }

    /// A shorter name for endpoints, lists and policies, if the name has parameters.
    fn alias(&self) -> Option<&str> {
        None
    }

    /// The headers of requests and replies over a stream. The ORB itself reads and writes headers
    /// other than GIOP's, without a session of this protocol.
    fn headers(&self) -> Headers {
        Headers::GIOP
    }

    /// The state of a new connection. `limit` is the maximum number of octets of a message, its
    /// header included; a larger one is not decoded.
    fn session(&self, side: Side, limit: usize) -> Session;
}

/// Input that a messaging protocol can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Only GIOP messages: the protocol parses them, so it must be the outermost.
    Giop,
    /// Any octets, GIOP messages or frames of another messaging protocol.
    Octets,
}

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side that opened the connection.
    Client,
    /// The side that accepted the connection.
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
    /// Encodes one whole message as one frame: the octets appended to `head`, the returned range of
    /// the message, and the octets appended to `tail`. A body that is sent unchanged is thus not
    /// copied.
    ///
    /// A frame is at most [`MAX_OVERHEAD`] octets longer than its message. Frames are sent in the
    /// order in which they were encoded.
    ///
    /// # Errors
    /// [`MessagingError`] if the protocol cannot carry the message or its length. No further
    /// messages may be sent then.
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError>;
}

/// The receiving part of a session. Its input comes from the network and is untrusted.
pub trait Decoder: Send + Debug {
    /// The length of the frame at the start of `wire`; `None` if more octets are needed. The result
    /// depends only on the start of the frame, not on the octets after it.
    ///
    /// # Errors
    /// [`MessagingError`] if the octets do not start a frame, or the frame is too long.
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError>;

    /// Decodes one whole frame, of the length that [`Decoder::frame_len`] returned, and appends its
    /// message. Appends nothing for a frame without one, as in an exchange between the two
    /// protocols.
    ///
    /// # Errors
    /// [`MessagingError`] if the frame is invalid. The appended octets are then undefined, and no
    /// further frames may be decoded.
    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError>;

    /// As [`Decoder::decode`], but only the next part of the message, of [`PART`] octets or a
    /// little more; returns whether that was the last. Called with the same frame until it is; the
    /// caller may consume the parts appended before. For messaging protocols with messages much
    /// longer than their frames: the receiver checks its limits after each part. By default the
    /// message is one part.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    fn decode_part(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<bool, MessagingError> {
        self.decode(frame, message).map(|()| true)
    }

    /// Octets of memory in use for the frame being decoded, besides the message itself. By default
    /// none.
    fn held(&self) -> usize {
        0
    }

    /// Octets decoded from the frame that are not yet part of a message, for example between two
    /// protocols. The receiver limits their ratio to the length of the frame. By default none.
    fn undelivered(&self) -> usize {
        0
    }
}
