// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving side of a connection: received data and state.

use std::time::Instant;

use orbium_channel::connection::Connection;
use orbium_config::Limits;

use orbium_lane::{Decided, Lane};

/// The receiving side of a connection.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) giop: Connection,
    pub(super) state: State,
}

/// State of a connection, without the receive buffer.
#[derive(Debug)]
pub(super) struct State {
    /// The buffer for replies.
    pub(super) storage: Vec<u8>,
    pub(super) known: Known,
}

/// The part of the state that is handed off with the reading.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) limit: usize,
    pub(super) nesting: u16,
    /// The lane that has to serve the current request.
    pub(super) moved_to: Option<(Lane, Decided)>,
    /// A request for the dedicated thread of the connection.
    pub(super) marked: Option<Vec<u8>>,
}

impl Intake {
    /// For a connection from which nothing has been received.
    pub(crate) fn new(giop: Connection, limits: &Limits) -> Self {
        Self {
            giop,
            state: State {
                storage: Vec::new(),
                known: Known {
                    limit: limits.message_size,
                    nesting: limits.nesting,
                    moved_to: None,
                    marked: None,
                },
            },
        }
    }

    /// Returns a request for another thread to the receive buffer.
    #[cold]
    pub(crate) fn put_marked_back(&mut self) {
        if let Some(octets) = self.state.known.marked.take() {
            self.giop.put_back(octets);
        }
    }

    /// Whether an incomplete message was received.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.giop.is_unfinished()
    }

    /// Whether a message has been in assembly for too long.
    pub(crate) fn is_assembly_late(&self) -> bool {
        let deadline = self.giop.assembly().deadline();
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
