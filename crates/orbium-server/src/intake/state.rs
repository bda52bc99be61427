// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving side of a connection: what arrived, and what else is known.

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

/// The part of it that goes with the reading, to another thread too.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) limit: usize,
    pub(super) nesting: u16,
    /// The lane that is to serve the current request.
    pub(super) moved_to: Option<(Lane, Decided)>,
    /// A request that the connection's own thread is to deal with.
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

    /// Puts a request back that another thread is to deal with.
    #[cold]
    pub(crate) fn put_marked_back(&mut self) {
        if let Some(octets) = self.state.known.marked.take() {
            self.giop.put_back(octets);
        }
    }

    /// Whether a message has begun and is not complete.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.giop.is_unfinished()
    }

    /// Whether a message has been in assembly for too long.
    pub(crate) fn is_assembly_late(&self) -> bool {
        let deadline = self.giop.assembly().deadline();
        deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
