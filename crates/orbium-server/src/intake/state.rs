// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving side of a connection: what arrived, and what else is known.

use std::time::Duration;

use orbium_channel::framing::Framing;
use orbium_channel::peer_memory::Charge;
use orbium_giop::Headers;
use orbium_giop::Reassembly;
use orbium_giop::codeset::Negotiated;
use orbium_transport::{ByteStream, Deadline};

use crate::ServerContext;
use crate::lane::{Decided, Lane};

/// The receiving side of a connection.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) framing: Framing,
    pub(super) state: State,
}

/// State of a connection, without the receive buffer.
#[derive(Debug)]
pub(super) struct State {
    /// The buffer for replies.
    pub(super) storage: Vec<u8>,
    pub(super) known: Known,
}

/// The part of it that goes with the reading, to another thread too.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) reassembly: Reassembly,
    /// For the messages in assembly.
    pub(super) assembly_charge: Charge,
    pub(super) negotiated: Negotiated,
    /// Code sets are agreed for one message alone.
    pub(super) agrees_anew: bool,
    pub(super) limit: usize,
    pub(super) nesting: u16,
    /// Time a peer may take to complete a message.
    pub(super) message_time: Duration,
    /// Until when a message in assembly must be complete.
    pub(super) assembly: Option<Deadline>,
    /// The lane that is to serve the current request.
    pub(super) moved_to: Option<(Lane, Decided)>,
    /// A request that the connection's own thread is to deal with.
    pub(super) marked: Option<Vec<u8>>,
}

impl Intake {
    pub(crate) fn new(context: &ServerContext, stream: &dyn ByteStream, headers: Headers) -> Self {
        let (limits, budget) = (&context.limits, &context.budget);
        Self {
            framing: Framing::new(limits.message_size, budget).with_headers(headers),
            state: State {
                storage: Vec::new(),
                known: Known {
                    reassembly: Reassembly::new(limits.reassembly()),
                    assembly_charge: budget.charge(),
                    negotiated: Negotiated::DEFAULT,
                    agrees_anew: stream.has_many_peers(),
                    limit: limits.message_size,
                    nesting: limits.nesting,
                    message_time: limits.message_time,
                    assembly: None,
                    moved_to: None,
                    marked: None,
                },
            },
        }
    }

    /// Puts a request back that another thread is to deal with.
    #[cold]
    pub(crate) fn put_marked_back(&mut self) {
        if let Some(mut octets) = self.state.known.marked.take() {
            octets.extend_from_slice(self.framing.received());
            let limit = self.state.known.limit;
            let headers = self.framing.headers();
            self.framing =
                Framing::with_octets(limit, octets, self.framing.budget()).with_headers(headers);
        }
    }

    /// Whether a message has begun and is not complete.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.framing.is_partial() || self.state.known.assembly.is_some()
    }

    /// Whether a message has been in assembly for too long.
    pub(crate) fn is_assembly_late(&self) -> bool {
        self.state.known.assembly.is_some_and(Deadline::has_passed)
    }
}

impl State {
    /// Starts, renews or ends the time for messages in assembly.
    pub(super) fn watch_assembly(&mut self, completed: bool) {
        if self.known.reassembly.is_empty() {
            self.known.assembly = None;
        } else if completed || self.known.assembly.is_none() {
            self.known.assembly = Some(Deadline::after(Some(self.known.message_time)));
        }
    }
}
