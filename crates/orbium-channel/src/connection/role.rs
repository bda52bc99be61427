// SPDX-License-Identifier: MIT OR Apache-2.0
//! Role of a connection: the messages its peer may send, and their bounds.

use std::time::Duration;

use orbium_giop::{MessageKind, ReassemblyLimits};

/// Role of a connection, by the messages its peer may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This side sends requests, the peer replies.
    Client,
    /// The peer sends requests, this side replies.
    Server,
    /// Both sides send requests: bidirectional GIOP (clause 9.8).
    Both,
}

impl Role {
    /// Whether the peer may send messages of that kind. Either side may send MessageError and
    /// CloseConnection: before GIOP 1.2 a client sends no CloseConnection, but one that does is
    /// accepted.
    pub(super) const fn receives(self, kind: MessageKind) -> bool {
        match kind {
            MessageKind::Request | MessageKind::LocateRequest | MessageKind::CancelRequest => {
                matches!(self, Self::Server | Self::Both)
            }
            MessageKind::Reply | MessageKind::LocateReply => {
                matches!(self, Self::Client | Self::Both)
            }
            MessageKind::CloseConnection | MessageKind::MessageError | MessageKind::Fragment => {
                true
            }
        }
    }
}

/// Bounds of the memory that a peer may occupy on this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a message in one piece, header included.
    pub message: usize,
    /// Messages in fragments.
    pub reassembly: ReassemblyLimits,
    /// Time for a fragmented message to be complete; `None` means no limit, if the wait for it has
    /// a deadline.
    pub message_time: Option<Duration>,
}

/// Replies in fragments that a connection of both sides assembles at once, in addition to requests.
const SHARED_REPLIES: usize = 256;

impl Bounds {
    /// The same for a bidirectional connection.
    #[must_use]
    pub fn of_both_sides(self) -> Self {
        Self {
            reassembly: of_both_sides(self.reassembly),
            ..self
        }
    }
}

/// Limits of reassembly if many calls may have replies in fragments: the budget of peers bounds
/// them together.
pub(super) fn of_both_sides(limits: ReassemblyLimits) -> ReassemblyLimits {
    let messages = limits.messages.saturating_add(SHARED_REPLIES);
    ReassemblyLimits {
        messages,
        total: limits.message.saturating_mul(messages),
        ..limits
    }
}

impl Default for Bounds {
    /// Messages of 64 MiB, and the defaults of reassembly; no time.
    fn default() -> Self {
        Self {
            message: 64 << 20,
            reassembly: ReassemblyLimits::default(),
            message_time: None,
        }
    }
}
