// SPDX-License-Identifier: MIT OR Apache-2.0
//! Multiplexed connections: one to a server, shared by all callers.
//!
//! A caller takes a *seat* at the connection and uses it as it would use a
//! stream of its own, so that all else is as with exclusive connections. Its
//! requests have ids that name the seat, by which the reader demultiplexes
//! replies. [`orbium_sync::LeaderFollower`] elects the reader.

mod inbox;
mod line;
mod message;
mod outbox;
mod seat;
mod sending;

use std::io;
use std::sync::{Arc, PoisonError};

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::{ByteStream, Connector, Deadline};

use crate::client::counts::{Counted, Counts};
use crate::client::waiting;
use crate::peer_memory::Budget;
use crate::{Channel, ClientStrategy, Config};
use line::Line;
use seat::Seat;

/// Makes the shared connection to one server, and seats at it.
#[derive(Debug)]
pub(super) struct Hub {
    connector: Box<dyn Connector>,
    channel: Channel,
    has_thread: bool,
    message_size: usize,
    budget: Budget,
    counts: Arc<Counts>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    line: Option<Arc<Line>>,
    connecting: bool,
}

/// A stream for one caller, the last id used there, and the distance to the
/// next.
pub(super) type Seated = (Box<dyn ByteStream>, (u32, u32));

impl Hub {
    /// Gives the connector back if callers have connections for themselves.
    pub(super) fn new(
        strategy: ClientStrategy,
        connector: Box<dyn Connector>,
        channel: &Channel,
        config: &Config,
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
            budget: config.protocols.budget().clone(),
            counts: Arc::clone(counts),
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat at the connection, which is made if there is none.
    ///
    /// # Errors
    /// As [`Connector::connect`].
    pub(super) fn seat(&self, deadline: Deadline) -> io::Result<Seated> {
        let mut state = self.lock();
        loop {
            if let Some(seat) = state.line.as_ref().and_then(Seat::take) {
                return Ok(seated(seat));
            }
            // Ended, or full.
            if let Some(line) = state.line.take() {
                line.retire();
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
            let bounds = (self.message_size, &self.budget);
            Line::start(counted.metered(stream), bounds, self.has_thread, counted)
        });
        let mut state = self.lock();
        state.connecting = false;
        self.changed.notify_all();
        let line = made?;
        let seat = Seat::take(&line).ok_or(io::ErrorKind::ConnectionReset)?;
        state.line = Some(line);
        Ok(seated(seat))
    }

    /// Closes the connection once nobody uses it any more.
    pub(super) fn close(&self) {
        let line = self.lock().line.take();
        if let Some(line) = line {
            line.retire();
        }
    }

    /// Whether there is a connection that nobody has found ended yet.
    pub(super) fn is_open(&self) -> bool {
        let state = self.lock();
        state
            .line
            .as_ref()
            .is_some_and(|line| line.ending().is_none())
    }
}

fn seated(seat: Seat) -> Seated {
    let ids = seat.ids();
    (Box::new(seat), ids)
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.close();
    }
}
