// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending the buffered oneways of a pool.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use orbium_cdr::CdrWriter;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::reactor::wait_on_reactor;
use orbium_sync::lock::MutexGuard;
use orbium_sys::Interest;
use orbium_transport::{Deadline, Stamp};

use super::Pool;
use super::oneway_state::{REPLACEMENTS, State};
use crate::connection::Connection;
use crate::flusher::Flusher;
use crate::outcome::Outcome;

/// Interval of retries over a connection that accepts no bytes.
pub(super) const RETRY: Duration = Duration::from_millis(1);

/// The outcome of sending the buffer.
pub(super) enum Flushed {
    Empty,
    /// The connection accepts no more now.
    Blocked,
    /// There is no connection, and no part of the buffer was passed to an earlier one.
    Unconnected,
    /// The connection failed: that many messages were not sent whole.
    Lost(usize),
}

/// Messages that were not sent, and why.
pub(super) struct Unsent {
    pub(super) messages: usize,
    pub outcome: Outcome,
}

impl Unsent {
    fn lost(messages: usize) -> Self {
        let outcome = Outcome::NotBegun(send_failed());
        Self { messages, outcome }
    }

    fn exception(&self) -> SystemException {
        match &self.outcome {
            Outcome::Failed(exception) | Outcome::NotBegun(exception) => *exception,
            _ => send_failed(),
        }
    }
}

/// Raised if the connection is lost with unsent messages.
#[cold]
fn send_failed() -> SystemException {
    let (kind, code) = (ExceptionKind::CommFailure, minor::SEND_FAILED);
    SystemException::orbium(kind, code, Completion::No)
}

impl Pool {
    /// Sends the buffer, and waits until the deadline if the connection does not accept all of it.
    ///
    /// # Errors
    /// TIMEOUT: the rest remains in the buffer. Any other exception: it is lost.
    pub fn flush_oneways(&self, deadline: Deadline) -> Result<(), SystemException> {
        let flushed = self.flush_from(self.oneways.lock(), Some(deadline), deadline);
        flushed.map_err(|unsent| {
            self.counts.note_lost_oneways(unsent.messages);
            unsent.exception()
        })
    }

    /// Sends the buffer. `waits` is the deadline of waiting for a connection that accepts no bytes;
    /// if `None`, the flusher sends the rest. `connects` is the deadline of opening a new
    /// connection.
    pub(super) fn flush_from<'p>(
        &'p self,
        mut state: MutexGuard<'p, State>,
        waits: Option<Deadline>,
        connects: Deadline,
    ) -> Result<(), Unsent> {
        let flushed = self.send_oneways(&mut state, None);
        self.flush_after(flushed, state, waits, connects)
    }

    /// As `flush_from`, after a first attempt.
    pub(super) fn flush_after<'p>(
        &'p self,
        mut flushed: Flushed,
        mut state: MutexGuard<'p, State>,
        waits: Option<Deadline>,
        connects: Deadline,
    ) -> Result<(), Unsent> {
        let mut replaced = 0;
        loop {
            match flushed {
                Flushed::Empty => {
                    self.hand_over(state);
                    return Ok(());
                }
                Flushed::Blocked => match waits {
                    None => {
                        self.flush_at(&mut state, Instant::now() + RETRY);
                        return Ok(());
                    }
                    Some(deadline) => {
                        state = self.await_room(state, deadline).ok_or(Unsent {
                            messages: 0,
                            outcome: Outcome::Failed(deadline_passed()),
                        })?;
                    }
                },
                Flushed::Unconnected if replaced < REPLACEMENTS => {
                    replaced += 1;
                    drop(state);
                    state = self.reconnect(connects, waits.is_some())?;
                }
                Flushed::Unconnected => return Err(Unsent::lost(state.drop_all())),
                Flushed::Lost(messages) => return Err(Unsent::lost(messages)),
            }
            flushed = self.send_oneways(&mut state, None);
        }
    }

    /// Opens a connection for the buffer, which is discarded on failure, except at the deadline if
    /// `keeps`.
    fn reconnect(&self, deadline: Deadline, keeps: bool) -> Result<MutexGuard<'_, State>, Unsent> {
        self.connect_oneways(deadline).or_else(|exception| {
            let mut state = self.oneways.lock();
            // Another caller has connected.
            if state.connection.is_some() {
                return Ok(state);
            }
            let messages = if keeps && exception.kind == ExceptionKind::Timeout {
                0
            } else {
                state.drop_all()
            };
            let outcome = Outcome::Failed(exception);
            Err(Unsent { messages, outcome })
        })
    }

    /// Sends the buffer, and the message `behind` after it, as far as the connection accepts them.
    /// The rest is buffered.
    pub(super) fn send_oneways(
        &self,
        state: &mut State,
        behind: Option<&CdrWriter<'_>>,
    ) -> Flushed {
        if state.buffer.is_empty() && behind.is_none() {
            return Flushed::Empty;
        }
        let buffered = |state: &mut State| {
            behind
                .into_iter()
                .for_each(|it| state.buffer.push(it, None));
        };
        let Some(connection) = &mut state.connection else {
            buffered(state);
            return Flushed::Unconnected;
        };
        // The loss of buffered messages would not be reported. A single message is like any oneway.
        let messages = state.buffer.messages() + usize::from(behind.is_some());
        let is_looked_at = connection.needs_check(Stamp::now()) || messages > 1;
        if is_looked_at && !state.buffer.is_begun() && connection.has_ended() {
            buffered(state);
            self.note_stale();
            self.drop_connection(state);
            return Flushed::Unconnected;
        }
        match connection.send_buffered(&mut state.buffer, behind) {
            Ok(is_all) => {
                self.note_flow_control(state, !is_all);
                if is_all {
                    Flushed::Empty
                } else {
                    Flushed::Blocked
                }
            }
            Err(error) => Flushed::Lost(self.lose(state, &error)),
        }
    }

    #[cold]
    fn lose(&self, state: &mut State, error: &io::Error) -> usize {
        orbium_trace::log::debug!(target: "orbium::conn", channel = %self.channel(), %error, "cannot send");
        self.note_flow_control(state, false);
        self.drop_connection(state);
        state.drop_all()
    }

    fn drop_connection(&self, state: &mut State) {
        if state.connection.take().is_some() {
            self.discard();
        }
    }

    /// Notes that the connection no longer accepts bytes, or accepts them again.
    fn note_flow_control(&self, state: &mut State, is_blocked: bool) {
        if std::mem::replace(&mut state.is_blocked, is_blocked) != is_blocked {
            self.counts.note_flow_control(self.channel(), is_blocked);
        }
    }

    /// Sends until there is room for that many bytes; `None` if the connection accepts too little
    /// before the deadline, or without a deadline at once.
    pub(super) fn make_room<'p>(
        &'p self,
        mut state: MutexGuard<'p, State>,
        len: usize,
        deadline: Deadline,
    ) -> Option<MutexGuard<'p, State>> {
        let limit = self.config.limits.buffered_oneways;
        let fits = |state: &State| state.buffer.is_empty() || state.buffer.len() + len <= limit;
        while !fits(&state) {
            match self.send_oneways(&mut state, None) {
                Flushed::Empty | Flushed::Unconnected => break,
                Flushed::Lost(messages) => self.counts.note_lost_oneways(messages),
                Flushed::Blocked if fits(&state) => break,
                Flushed::Blocked => {
                    self.flush_at(&mut state, Instant::now() + RETRY);
                    // Without a deadline SYNC_NONE does not wait.
                    deadline.instant()?;
                    state = self.await_room(state, deadline)?;
                }
            }
        }
        Some(state)
    }

    /// Waits until the connection accepts bytes again; `None` at the deadline.
    fn await_room<'p>(
        &'p self,
        state: MutexGuard<'p, State>,
        deadline: Deadline,
    ) -> Option<MutexGuard<'p, State>> {
        let connection = state.connection.as_ref();
        let room = connection.and_then(|it| it.room_to_send().ok())?;
        drop(state);
        wait_on_reactor(&room, Interest::Write, deadline).ok()?;
        Some(self.oneways.lock())
    }

    /// Schedules the sending of the buffer, unless it is due earlier; `false` if there is no thread
    /// for that.
    pub(super) fn flush_at(&self, state: &mut State, due: Instant) -> bool {
        if state.due.is_some_and(|before| before <= due) {
            return true;
        }
        let all = self.all.upgrade();
        let is_armed = all.is_some_and(|all| all.flush_at(due));
        if is_armed {
            state.due = Some(due);
        }
        is_armed
    }

    /// Sends the buffer if it is due; otherwise returns the time at which it is. A thread of its own
    /// waits for a connection: the buffers of other servers may be due.
    pub(crate) fn flush_due(self: &Arc<Self>, now: Instant, flusher: &Flusher) -> Option<Instant> {
        let mut state = self.oneways.lock();
        let due = state.due?;
        if due > now {
            return Some(due);
        }
        state.due = None;
        match self.send_oneways(&mut state, None) {
            Flushed::Unconnected => {
                drop(state);
                let pool = Arc::clone(self);
                if flusher.connect_by(move || pool.flush_connecting()) {
                    return None;
                }
                self.flush_connecting();
            }
            flushed => self.flush_at_once(flushed, state),
        }
        self.oneways.lock().due
    }

    /// Sends the buffer, over a new connection if it has none.
    fn flush_connecting(&self) {
        let mut state = self.oneways.lock();
        let flushed = self.send_oneways(&mut state, None);
        self.flush_at_once(flushed, state);
    }

    /// As `flush_after`, without waiting for a connection that accepts no bytes.
    fn flush_at_once<'p>(&'p self, flushed: Flushed, state: MutexGuard<'p, State>) {
        let connects = Deadline::after(Some(self.config.connect_timeout.0));
        if let Err(unsent) = self.flush_after(flushed, state, None, connects) {
            self.counts.note_lost_oneways(unsent.messages);
        }
        self.put_back_flushed();
    }

    /// Releases the connection to a waiting caller, if the buffer does not need it.
    pub(super) fn hand_over(&self, mut state: MutexGuard<'_, State>) {
        state.due = None;
        // SeqCst: a caller that increments the count later finds the connection itself.
        if self.callers_wait.load(Ordering::SeqCst) > 0
            && let Some(connection) = self.take_if_flushed(&mut state)
        {
            drop(state);
            self.release(connection);
        }
    }

    /// The connection of the buffer, once that is sent, for use by a call.
    pub fn take_flushed(&self) -> Option<Box<Connection>> {
        let mut state = self.oneways.lock();
        match self.send_oneways(&mut state, None) {
            Flushed::Lost(messages) => self.counts.note_lost_oneways(messages),
            // The thread that flushes hands the connection over once all is sent.
            Flushed::Blocked => {
                self.flush_at(&mut state, Instant::now() + RETRY);
            }
            Flushed::Empty | Flushed::Unconnected => {}
        }
        self.take_if_flushed(&mut state)
    }

    fn take_if_flushed(&self, state: &mut State) -> Option<Box<Connection>> {
        if !state.buffer.is_empty() || self.oneways.has_writers() {
            return None;
        }
        let connection = state.connection.take()?;
        if connection.set_blocking(true).is_err() {
            self.discard();
            return None;
        }
        Some(connection)
    }

    /// Releases the connection of an empty buffer.
    pub(super) fn put_back_flushed(&self) {
        let connection = {
            let mut state = self.oneways.lock();
            self.take_if_flushed(&mut state)
        };
        if let Some(connection) = connection {
            self.release(connection);
        }
    }

    /// Sends the buffer, as far as the server accepts it before the deadline, and closes the
    /// connection in order.
    pub(super) fn end_oneways(&self, deadline: Deadline) {
        // Lost messages are counted, late ones below.
        let _ = self.flush_oneways(deadline);
        let mut state = self.oneways.lock();
        let unsent = state.drop_all();
        self.note_flow_control(&mut state, false);
        let connection = state.connection.take();
        drop(state);
        self.counts.note_lost_oneways(unsent);
        if let Some(connection) = connection {
            connection.close();
            drop(connection);
            self.discard();
        }
    }
}

impl State {
    /// Discards the buffer; returns the number of messages that were not sent whole.
    fn drop_all(&mut self) -> usize {
        self.due = None;
        self.buffer.clear()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use orbium_cdr::Format;
    use orbium_channel::Channel;
    use orbium_config::{ConnectTimeout, Limits};
    use orbium_giop::codeset::Negotiated;
    use orbium_invocation::BufferingConstraint;
    use orbium_metrics::ConnectionBook;
    use orbium_testkit::{PATIENCE, eventually, within};

    use super::*;
    use crate::client_config::ClientConfig;
    use crate::introduction::PriorityContext;
    use crate::pools::Pools;
    use crate::pools::partition::ConnectionPartition;
    use crate::pools::pool::Pushed;
    use crate::pools::pool_key::PoolKey;

    /// A server, and the pool of connections to it.
    fn served(pools: &Pools) -> (TcpListener, Arc<Pool>) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let key = PoolKey {
            channel: Channel::giop("iiop", server.local_addr().unwrap().to_string()),
            negotiated: Negotiated::with_server(None, None).unwrap(),
            partition: ConnectionPartition::default(),
        };
        let pool = pools.pool(key).unwrap();
        (server, pool)
    }

    /// Buffers a message of four octets.
    fn buffer(pool: &Pool, timeout: Option<Duration>) {
        let constraint = BufferingConstraint {
            message_count: Some(100),
            timeout,
            ..BufferingConstraint::default()
        };
        let (said, never) = (PriorityContext::None, Deadline::NEVER);
        let begun = pool.begin_oneway(said, never).unwrap();
        let mut message = CdrWriter::new(Format::native());
        message.write_u32(7);
        let pushed = pool.push_oneway(begun, &mut message, constraint, never);
        assert_eq!(pushed.unwrap(), Pushed::Buffered);
    }

    /// The server ends the connection of the buffer.
    fn disconnect(server: &TcpListener, pool: &Pool) {
        drop(server.accept().unwrap());
        eventually("the end of the connection has come", || {
            let state = pool.oneways.lock();
            state.connection.as_ref().unwrap().has_unexpected_input()
        });
        assert!(pool.take_flushed().is_none() && !pool.is_in_use());
    }

    /// The server receives a message over its next connection.
    fn expect_message(server: &TcpListener) {
        let (mut stream, _) = server.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }

    /// Regression: the last pool of a server that had ended a connection was dropped with the lock
    /// of all pools held: its buffered oneways opened a connection, which waited for that lock.
    #[test]
    fn a_pool_that_no_reference_uses_is_dropped_with_what_it_has_buffered() {
        let pools = Pools::new(Arc::default(), &ConnectionBook::default());
        let (server, pool) = served(&pools);
        (0..2).for_each(|_| buffer(&pool, None));
        disconnect(&server, &pool);
        drop(pool);
        within("the sweep", move || pools.0.sweep());
        server.accept().unwrap();
    }

    /// Regression: the thread that sends the buffers of all servers waited for a connection to one
    /// of them, and sent nothing to the others.
    #[test]
    fn a_buffer_without_a_connection_delays_no_other() {
        let config = ClientConfig {
            limits: Limits {
                connections_per_server: 1,
                ..Limits::default()
            },
            connect_timeout: ConnectTimeout(2 * PATIENCE),
            ..ClientConfig::default()
        };
        let pools = Pools::new(Arc::new(config), &ConnectionBook::default());
        let (server, pool) = served(&pools);
        (0..2).for_each(|_| buffer(&pool, None));
        disconnect(&server, &pool);
        let busy = pool.acquire_new(Deadline::NEVER).unwrap();
        assert!(pool.flush_at(&mut pool.oneways.lock(), Instant::now()));
        eventually("the buffer waits for the connection", || {
            pool.callers_wait.load(Ordering::SeqCst) > 0
        });
        let (other_server, other) = served(&pools);
        buffer(&other, Some(Duration::from_millis(1)));
        expect_message(&other_server);
        pool.release(busy);
        expect_message(&server);
    }
}
