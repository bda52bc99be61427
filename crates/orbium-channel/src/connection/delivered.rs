// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections to which messages are delivered whole: those of the halves of a bidirectional
//! connection, which does the framing.

use std::io;

use orbium_transport::ByteStream;

use super::code_sets::CodeSets;
use super::delivery::Delivery;
use super::parts::Continuation;
use super::{Connection, Role};
use crate::bidirectional::BidirectionalHalf;
use crate::peer_memory::Budget;

impl Connection {
    /// Prepares receiving from that stream: deliveries, if the stream is one half of a
    /// bidirectional connection.
    pub fn attach(&mut self, stream: &dyn ByteStream) {
        if BidirectionalHalf::of(stream).is_some_and(BidirectionalHalf::is_delivered) {
            self.continuation.is_delivered = true;
            self.follow();
        }
    }

    /// Switches to deliveries, if the bytes received after the last message were passed to the
    /// connection that makes them: see [`Continuation::share`](super::Continuation::share).
    #[inline]
    pub fn follow(&mut self) {
        if self.continuation.is_delivered {
            self.framing.expect_deliveries();
        }
    }

    /// As `receive`, for large messages and for deliveries.
    pub(super) fn receive_more(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        if self.continuation.is_delivered {
            self.receive_delivery(stream)
        } else {
            self.framing.receive_more(stream)
        }
    }

    fn receive_delivery(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        if self.framing.is_partial() || self.whole.is_some() || self.delivered.is_some() {
            // `next` has a result.
            return Ok(1);
        }
        let half = BidirectionalHalf::of(stream).ok_or(io::ErrorKind::Unsupported)?;
        let octets = stream.receive(&mut [])?;
        if octets == 0 {
            return Ok(0);
        }
        match half.deliveries().take(self.framing.take_memory()) {
            Some(Delivery::Messages(octets)) => self.framing.put_messages(octets),
            Some(Delivery::Whole(whole)) => self.whole = Some(whole),
            Some(Delivery::Event(event)) => self.delivered = Some(Box::new(event)),
            None => {}
        }
        Ok(octets)
    }
}

impl Continuation {
    /// The connection that from now on receives for both directions, beginning with the bytes
    /// `rest`. Its messages for this side are delivered here.
    #[must_use]
    pub fn share(&mut self, limit: usize, rest: &[u8], budget: &Budget) -> Connection {
        let mut assembly = std::mem::take(&mut self.assembly);
        assembly.widen();
        let shared = Self {
            assembly,
            code_sets: CodeSets::DEFAULT,
            is_delivered: false,
        };
        self.is_delivered = true;
        Connection::continued(Role::Both, limit, rest, shared, budget)
    }
}
