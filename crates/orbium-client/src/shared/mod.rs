// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multiplexed connections: one to a server, shared by all callers.
//!
//! A caller takes a *call slot* of the connection and uses it as a stream of its own,
//! so that all else is as with exclusive connections. The ids of its requests name the
//! slot, by which the reader demultiplexes replies. [`orbium_sync::LeaderFollower`]
//! elects the reader.

mod call_slot;
mod connection;
mod message;
mod reply_queue;
mod send_queue;
mod sending;

use std::io;
use std::sync::{Arc, PoisonError};

use orbium_channel::Channel;
use orbium_channel::framing::Framing;
use orbium_channel::peer_memory::Budget;
use orbium_config::ClientStrategy;
use orbium_giop::Headers;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::{ByteStream, Connector, Deadline};

use crate::config::ClientConfig;
use crate::counts::{Counted, Counts};
use crate::waiting;
use call_slot::CallSlot;
use connection::MultiplexedConnection;

/// Opens the multiplexed connection to one server, and gives out its call slots.
#[derive(Debug)]
pub(super) struct Multiplexer {
    connector: Box<dyn Connector>,
    channel: Channel,
    has_thread: bool,
    message_size: usize,
    /// Which headers replies may have.
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

/// A stream for one caller, the last request id used there, and the distance to the
/// next.
pub(super) type ConnectedSlot = (Box<dyn ByteStream>, (u32, u32));

impl Multiplexer {
    /// Gives the connector back if the strategy is exclusive.
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
                return Ok(with_ids(slot));
            }
            // Ended, or full.
            if let Some(connection) = state.connection.take() {
                connection.retire();
            }
            if !state.connecting {
                break;
            }
            let left = deadline.remaining()?;
            state = waiting::wait(&self.changed, state, left);
        }
        state.connecting = true;
        drop(state);
        let made = self.connector.connect(deadline).and_then(|stream| {
            let counted = Counted::new(&self.counts, &self.channel);
            let framing = Framing::new(self.message_size, &self.budget).with_headers(self.headers);
            let bounds = (self.message_size, &self.budget);
            MultiplexedConnection::start(
                counted.metered(stream),
                framing,
                bounds,
                self.has_thread,
                counted,
            )
        });
        let mut state = self.lock();
        state.connecting = false;
        self.changed.notify_all();
        let connection = made?;
        let slot = CallSlot::take(&connection).ok_or(io::ErrorKind::ConnectionReset)?;
        state.connection = Some(connection);
        Ok(with_ids(slot))
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
        let state = self.lock();
        state
            .connection
            .as_ref()
            .is_some_and(|connection| connection.ending().is_none())
    }
}

fn with_ids(slot: CallSlot) -> ConnectedSlot {
    let ids = slot.ids();
    (Box::new(slot), ids)
}

impl Drop for Multiplexer {
    fn drop(&mut self) {
        self.close();
    }
}
