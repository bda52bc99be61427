// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages and events that one connection cuts out of a stream and delivers to another.

use orbium_giop::HEADER_LEN;

use super::assembly::Whole;
use super::event::{Event, Violation};

/// What a bidirectional connection delivers to one of its halves.
#[derive(Debug)]
pub enum Delivery {
    /// Messages in one piece, one behind the other.
    Messages(Vec<u8>),
    /// A message that came in fragments, or a large one.
    Whole(Whole),
    /// What is no message for this half: a cancelled or refused request, the end of the connection,
    /// or what has violated the protocol.
    Event(Result<Event, Violation>),
}

impl Delivery {
    /// Its bytes; for an event those of a CancelRequest, so that a flood of them is bounded as one of requests is.
    #[must_use]
    pub fn octets(&self) -> usize {
        match self {
            Self::Messages(octets) => octets.len(),
            Self::Whole(whole) => whole.message.len(),
            Self::Event(_) => HEADER_LEN + 4,
        }
    }
}
