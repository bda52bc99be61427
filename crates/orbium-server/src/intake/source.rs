// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source of messages, and the hand-off of its reading and of its requests to other threads.

use std::sync::Arc;

use super::queued::Sink;
use super::state::Intake;
use crate::ServerConnection;
use orbium_request::{Dispatcher, ServerContext};

/// The source of messages, and the threads that continue reading if a servant blocks.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) context: &'s ServerContext,
    pub(crate) dispatcher: &'s dyn Dispatcher,
    pub(crate) connection: &'s Arc<ServerConnection>,
    pub(crate) reader: &'s dyn HandOver,
}

impl<'s> Source<'s> {
    /// The messages of a connection, read by a thread for an ORB.
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

/// Hands off the reading of a connection to another thread.
pub(crate) trait HandOver {
    /// Has another thread continue reading with `intake`; `false` if that is impossible.
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool;

    /// As `hand_over`, but this thread continues while it waits for a reply, if it can.
    fn keep(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        self.hand_over(connection, intake)
    }

    /// Hands the retained reading off to another thread after all.
    fn let_go(&self) {}

    /// The request for which the reading was handed over, or kept, was served.
    fn returns(&self) {}

    /// The queue for requests that the reading thread does not serve itself.
    fn sink(&self) -> Option<&dyn Sink> {
        None
    }
}
