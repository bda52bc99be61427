// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source of messages, and the hand-over of its reading and of its requests to other threads.

use std::sync::Arc;

use super::queued::Sink;
use super::state::Intake;
use crate::ServerConnection;
use orbium_request::{Dispatcher, ServerContext};

/// Where messages come from, and which threads continue reading if a servant blocks.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) context: &'s ServerContext,
    pub(crate) dispatcher: &'s dyn Dispatcher,
    pub(crate) connection: &'s Arc<ServerConnection>,
    pub(crate) reader: &'s dyn HandOver,
}

impl<'s> Source<'s> {
    /// The messages of a connection, which a thread reads for an ORB.
    pub(crate) fn new(
        dispatcher: &'s dyn Dispatcher,
        connection: &'s Arc<ServerConnection>,
        reader: &'s dyn HandOver,
    ) -> Self {
        Self {
            context: dispatcher.context(),
            dispatcher,
            connection,
            reader,
        }
    }
}

/// Hands the reading of a connection to another thread.
pub(crate) trait HandOver {
    /// Goes on reading with `intake` elsewhere; `false` if that cannot be.
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool;

    /// As `hand_over`, but this thread goes on with it while it waits for a
    /// reply, if it can.
    fn keep(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        self.hand_over(connection, intake)
    }

    /// What was kept goes to another thread after all.
    fn let_go(&self) {}

    /// The queue for requests that the reading thread does not serve itself.
    fn sink(&self) -> Option<&dyn Sink> {
        None
    }
}
