// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages and events that one connection cuts out of a stream and delivers to another.

use orbium_giop::HEADER_LEN;

use super::assembly::Whole;
use super::event::{Event, Violation};

/// A delivery of a bidirectional connection to one of its halves.
#[derive(Debug)]
pub enum Delivery {
    /// Messages in one piece, in sequence.
    Messages(Vec<u8>),
    /// A large or fragmented message.
    Whole(Whole),
    /// Any other event for this half: a cancelled or refused request, the end of the connection, or
    /// a violation of the protocol.
    Event(Result<Event, Violation>),
}

impl Delivery {
    /// Its bytes; an event counts as a CancelRequest, so that a flood of events is bounded like one
    /// of requests.
    #[must_use]
    pub fn octets(&self) -> usize {
        match self {
            Self::Messages(octets) => octets.len(),
            Self::Whole(whole) => whole.message.len(),
            Self::Event(_) => HEADER_LEN + 4,
        }
    }
}
