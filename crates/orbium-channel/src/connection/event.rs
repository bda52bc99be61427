// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of a connection: messages that have arrived, refused requests and protocol
//! violations.

use std::fmt;

use orbium_cdr::CdrError;
use orbium_giop::messaging::MessagingError;
use orbium_giop::{FragmentError, MessageHeader, MessageKind, Version, message_error};

use crate::framing::FramingError;

/// Event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A Request, Reply, LocateRequest or LocateReply has arrived, reassembled if it was
    /// fragmented. It remains until it is consumed or taken.
    Message(MessageHeader),
    /// A part of a message: more is outstanding, or the message was discarded before.
    Fragment,
    /// The peer no longer waits for the reply to that request. A message in assembly under its id
    /// is discarded.
    Cancel(u32),
    /// A request was discarded before it was read. The connection remains usable.
    Refused(Refused),
    /// CloseConnection: no unanswered request was begun (clause 9.4.7).
    Close,
    /// The peer could not read a message (clause 9.4.8).
    MessageError,
}

/// A discarded request, with the data for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Version of the request, and so of its reply.
    pub version: Version,
    /// Its id.
    pub request_id: u32,
    /// Whether its client expects a reply.
    pub expects_reply: bool,
    /// Bytes of the message, or of the fragment with which it was discarded.
    pub octets: usize,
    /// The cause.
    pub cause: Cause,
}

/// Cause for which a request was discarded before it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It exceeds the limit of messages; the details, unless it was fragmented.
    TooLarge(Option<FramingError>),
    /// The budget of memory for peers is exhausted.
    NoMemory,
}

/// The peer violated the protocol, or its message cannot be accepted: the connection must be
/// closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// The octets are not a GIOP message, or exceed the limit.
    Framing(FramingError),
    /// A fragment out of order, or beyond a limit.
    Fragment(FragmentError),
    /// A message that the peer's role does not send.
    Unexpected(MessageKind),
    /// A CancelRequest without an id.
    Malformed(CdrError),
    /// Undefined or contradictory numbers in a request.
    Numbers(MessagingError),
    /// A reply without the id of its request.
    NoRequestId,
    /// Messages in fragments were not completed in time.
    Late,
}

impl Violation {
    /// The MessageError to be sent to the peer before the connection is closed; `None` for a peer
    /// that was merely too slow.
    #[must_use]
    pub fn answer(&self) -> Option<[u8; orbium_giop::HEADER_LEN]> {
        match self {
            Self::Late => None,
            _ => Some(message_error(Version::V1_2)),
        }
    }

    /// Whether a limit was exceeded, and not the protocol violated.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::Framing(FramingError::TooLarge { .. })
                | Self::Fragment(
                    FragmentError::MessageTooLarge(_)
                        | FragmentError::TooManyMessages(_)
                        | FragmentError::TooManyOctets(_)
                )
        )
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Framing(error) => error.fmt(f),
            Self::Fragment(error) => error.fmt(f),
            Self::Unexpected(kind) => write!(f, "a {kind:?} message from the wrong side"),
            Self::Malformed(error) => error.fmt(f),
            Self::Numbers(error) => error.fmt(f),
            Self::NoRequestId => f.write_str("a reply without a request id"),
            Self::Late => f.write_str("fragments not completed in time"),
        }
    }
}

/// The same words as `Display`.
impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Violation {}
