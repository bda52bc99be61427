// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways of a pool under SYNC_NONE: into the buffer.

use std::sync::atomic::Ordering;
use std::time::Instant;

use orbium_cdr::CdrWriter;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::BufferingConstraint;
use orbium_sync::lock::MutexGuard;
use orbium_transport::{Deadline, Stamp};

use super::Pool;
use super::flushing::{RETRY, Unsent};
use super::oneway_state::{Begun, Connectable, Pushed, REPLACEMENTS, State};
use crate::connection::Connection;
use crate::introduction::PriorityContext;
use crate::outcome::Outcome;

/// From this size on a message is sent at once, after the buffered ones: a copy into the buffer
/// takes longer than the saved send.
const MIN_UNBUFFERED: usize = 16 * 1024;

impl Pool {
    /// Whether oneways are buffered here: not over datagrams, and not if connections are shared by
    /// callers, belong to threads, or are limited to one.
    pub fn buffers_oneways(&self) -> bool {
        self.buffers_oneways
    }

    /// Begins a oneway. Opens a connection for the buffer if it has none.
    ///
    /// # Errors
    /// As for any call that needs a connection.
    pub fn begin_oneway(
        &self,
        said: PriorityContext,
        deadline: Deadline,
    ) -> Result<Begun<'_>, SystemException> {
        let mut state = self.oneways.lock();
        loop {
            if let Some(begun) = self.oneways.begin(&mut state, said) {
                return Ok(begun);
            }
            drop(state);
            state = self.connect_oneways(deadline)?;
        }
    }

    /// Appends a message to the buffer, which is sent if the constraint requires it.
    ///
    /// # Errors
    /// TRANSIENT: there is no room, and the connection accepts no bytes before the deadline. The
    /// exceptions of sending, if the message is sent now.
    pub fn push_oneway(
        &self,
        begun: Begun<'_>,
        message: &mut CdrWriter<'_>,
        constraint: BufferingConstraint,
        deadline: Deadline,
    ) -> Result<Pushed, Outcome> {
        let state = self.oneways.lock();
        let mut state = self
            .make_room(state, message.len(), deadline)
            .ok_or(Outcome::Failed(no_room()))?;
        let is_of_connection = state.connection.is_some() && state.generation == begun.generation;
        if !is_of_connection || (state.buffer.is_empty() && !begun.is_first) {
            return Ok(Pushed::Outdated);
        }
        drop(begun);
        let fragment_size = self.config.fragment_size;
        // A caller that waits for the connection could not take it during the writing, and gets it
        // once all is sent. Never 0 again once the pool is closed.
        let is_awaited = self.callers_wait.load(Ordering::SeqCst) > 0;
        let is_held = state.is_blocked && !is_awaited;
        if message.len() >= MIN_UNBUFFERED && fragment_size.is_none() && !is_held {
            let flushed = self.send_oneways(&mut state, Some(message));
            state.storage = message.take_storage();
            return self.pushed(self.flush_after(flushed, state, None, deadline));
        }
        state.buffer.push(message, fragment_size);
        state.storage = message.take_storage();
        // The flusher finds out when a blocked connection accepts bytes again.
        if is_held && self.flush_at(&mut state, Instant::now() + RETRY) {
            return Ok(Pushed::Buffered);
        }
        let is_sent = constraint.is_reached(state.buffer.messages(), state.buffer.len());
        let due = constraint
            .timeout
            .and_then(|it| Instant::now().checked_add(it));
        if !is_sent && !is_awaited && due.is_none_or(|due| self.flush_at(&mut state, due)) {
            return Ok(Pushed::Buffered);
        }
        self.pushed(self.flush_from(state, None, deadline))
    }

    /// The outcome for a message with which the buffer was sent.
    fn pushed(&self, flushed: Result<(), Unsent>) -> Result<Pushed, Outcome> {
        match flushed {
            Ok(()) => Ok(Pushed::Buffered),
            Err(unsent) => {
                // The caller is notified of its own.
                self.counts
                    .note_lost_oneways(unsent.messages.saturating_sub(1));
                Err(unsent.outcome)
            }
        }
    }

    /// Ends a oneway that was begun and cannot be written.
    pub fn abandon_oneway(&self, begun: Begun<'_>) {
        drop(begun);
        let state = self.oneways.lock();
        if state.buffer.is_empty() {
            self.hand_over(state);
        }
    }

    /// Opens a connection for the buffer, unless another caller has.
    ///
    /// # Errors
    /// As for any call that needs a connection.
    pub(super) fn connect_oneways(
        &self,
        deadline: Deadline,
    ) -> Result<MutexGuard<'_, State>, SystemException> {
        let connecting = match self.oneways.connect_or_wait(deadline)? {
            Connectable::Connected(state) => return Ok(state),
            Connectable::Unconnected(connecting) => connecting,
        };
        let connection = self.acquire_for_oneways(deadline);
        let mut state = self.oneways.lock();
        connecting.end(&mut state);
        let connection = connection?;
        if state.connection.is_none() && connection.set_blocking(false).is_ok() {
            state.connection = Some(connection);
            state.generation += 1;
            return Ok(state);
        }
        drop(state);
        self.release(connection);
        Ok(self.oneways.lock())
    }

    /// A connection not known to be closed by the server.
    fn acquire_for_oneways(&self, deadline: Deadline) -> Result<Box<Connection>, SystemException> {
        for _ in 0..REPLACEMENTS {
            let Some(mut connection) = self.acquire_idle() else {
                break;
            };
            connection.note_use(Stamp::now());
            if !connection.has_ended() {
                return Ok(connection);
            }
            drop(connection);
            self.note_stale();
            self.discard();
        }
        let mut connection = self.acquire_new(deadline)?;
        connection.note_use(Stamp::now());
        Ok(connection)
    }
}

/// Raised if the buffer is full.
#[cold]
fn no_room() -> SystemException {
    let (kind, code) = (ExceptionKind::Transient, minor::ONEWAYS_BUFFERED);
    SystemException::orbium(kind, code, Completion::No)
}
