// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multiplexed connections: one to a server, shared by all callers.
//!
//! A caller takes a *call slot* of the connection, sends over it as over a stream of its
//! own, and receives whole replies from it. The ids of its requests name the slot, by which
//! the reader demultiplexes replies. [`orbium_sync::LeaderFollower`] elects the reader.

mod call_slot;
mod connection;
mod pending_reply;
mod send_queue;
mod sending;

use std::io;
use std::sync::Arc;

use orbium_channel::Channel;
use orbium_channel::connection::{Connection, Role};
use orbium_channel::peer_memory::Budget;
use orbium_config::ClientStrategy;
use orbium_giop::Headers;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::{ByteStream, Connector, Deadline};

use crate::client_config::ClientConfig;
use crate::counts::{Counted, Counts};
pub(crate) use call_slot::CallSlot;
use call_slot::SlotStream;
pub(crate) use connection::End;
use connection::MultiplexedConnection;

/// Opens the multiplexed connection to one server, and allocates its call slots.
#[derive(Debug)]
pub(super) struct Multiplexer {
    connector: Box<dyn Connector>,
    channel: Channel,
    has_thread: bool,
    message_size: usize,
    /// The headers of replies.
    headers: Headers,
    budget: Budget,
    counts: Arc<Counts>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Arc<MultiplexedConnection>>,
    connecting: bool,
}

/// The connection is being opened until this is dropped, also by a panic of the transport.
struct Connecting<'m>(&'m Multiplexer);

impl<'m> Connecting<'m> {
    fn begin(multiplexer: &'m Multiplexer, state: &mut State) -> Self {
        state.connecting = true;
        Self(multiplexer)
    }
}

impl Drop for Connecting<'_> {
    fn drop(&mut self) {
        self.0.lock().connecting = false;
        self.0.changed.notify_all();
    }
}

/// A stream for one caller, the last request id used there, and the distance to the
/// next.
pub(super) type ConnectedSlot = (Arc<CallSlot>, Box<dyn ByteStream>);

impl Multiplexer {
    /// Returns the connector if the strategy is exclusive.
    pub(super) fn new(
        strategy: ClientStrategy,
        connector: Box<dyn Connector>,
        channel: &Channel,
        config: &ClientConfig,
        counts: &Arc<Counts>,
    ) -> Result<Self, Box<dyn Connector>> {
        if !strategy.is_multiplexed() {
            return Err(connector);
        }
        Ok(Self {
            connector,
            channel: channel.clone(),
            has_thread: strategy == ClientStrategy::IoThread,
            message_size: config.limits.message_size,
            headers: config.protocols.headers(channel),
            budget: config.protocols.budget().clone(),
            counts: Arc::clone(counts),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// A call slot of the connection, which is opened if there is none.
    ///
    /// # Errors
    ///
    /// As [`Connector::connect`].
    pub(super) fn call_slot(&self, deadline: Deadline) -> io::Result<ConnectedSlot> {
        let mut state = self.lock();
        loop {
            if let Some(slot) = state.connection.as_ref().and_then(CallSlot::take) {
                return Ok(connected(slot));
            }
            // Ended, or full.
            if let Some(connection) = state.connection.take() {
                connection.retire();
            }
            if !state.connecting {
                break;
            }
            let left = deadline.remaining()?;
            state = self.changed.wait_at_most(state, left);
        }
        let connecting = Connecting::begin(self, &mut state);
        drop(state);
        let made = self.connector.connect(deadline).and_then(|stream| {
            let counted = Counted::new(&self.counts, &self.channel);
            let bounds = connection::bounds(self.message_size);
            let giop = Connection::new(Role::Client, bounds, &self.budget);
            let mut giop = giop.with_headers(self.headers);
            giop.attach(&*stream);
            MultiplexedConnection::start(counted.metered(stream), giop, self.has_thread, counted)
        });
        let connection = made?;
        let slot = CallSlot::take(&connection).ok_or(io::ErrorKind::ConnectionReset)?;
        self.lock().connection = Some(connection);
        drop(connecting);
        Ok(connected(slot))
    }

    /// Closes the connection once no slot is in use.
    pub(super) fn close(&self) {
        let connection = self.lock().connection.take();
        if let Some(connection) = connection {
            connection.retire();
        }
    }

    /// Whether there is a connection that is not known to have ended.
    pub(super) fn is_open(&self) -> bool {
        self.lock()
            .connection
            .as_ref()
            .is_some_and(|connection| connection.ending().is_none())
    }
}

fn connected(slot: CallSlot) -> ConnectedSlot {
    let slot = Arc::new(slot);
    let stream = Box::new(SlotStream(Arc::clone(&slot)));
    (slot, stream)
}

impl Drop for Multiplexer {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;
