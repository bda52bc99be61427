// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways under SYNC_NONE: the buffer of a pool, and the connection over which it is sent.
//!
//! The connection remains with the buffer until a call needs it. A message is written without the
//! lock, since its arguments may have custom marshalling code.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use orbium_channel::oneway_buffer::OnewayBuffer;
use orbium_giop::SystemException;
use orbium_invocation::exceptions::deadline_passed;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::Deadline;

use crate::connection::Connection;
use crate::introduction::{Introduction, PriorityContext};

/// Maximum number of replacements of a connection that turns out to be closed.
pub(super) const REPLACEMENTS: usize = 64;

/// The buffered oneways, and their connection.
#[derive(Debug, Default)]
pub(crate) struct BufferedOneways {
    state: Mutex<State>,
    /// A thread has connected, or failed to.
    connected: Condvar,
    /// Callers that write a message for the connection.
    writers: AtomicUsize,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) connection: Option<Box<Connection>>,
    /// Counts connections: a message that was written for an earlier one must be written again.
    pub(super) generation: u64,
    pub(super) buffer: OnewayBuffer,
    pub(super) storage: Vec<u8>,
    /// Time at which the buffer is to be sent.
    pub(super) due: Option<Instant>,
    /// Whether flow control is in effect: the connection accepts no bytes now.
    pub(super) is_blocked: bool,
    /// Whether a thread is opening the connection.
    is_connecting: bool,
}

/// Whether the buffer has a connection.
pub(super) enum Connectable<'p> {
    Connected(MutexGuard<'p, State>),
    /// The calling thread is to open it.
    Unconnected(Connecting<'p>),
}

/// Held by the thread that opens the connection of the buffer.
pub(super) struct Connecting<'p>(&'p BufferedOneways);

impl Connecting<'_> {
    /// Releases the waiting threads, with or without a connection.
    pub(super) fn end(self, state: &mut State) {
        state.is_connecting = false;
        self.0.connected.notify_all();
        mem::forget(self);
    }
}

/// The thread has panicked.
impl Drop for Connecting<'_> {
    fn drop(&mut self) {
        self.0.lock().is_connecting = false;
        self.0.connected.notify_all();
    }
}

impl BufferedOneways {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Lets the calling thread connect, or waits until another one has done so. One connects at a
    /// time: of two connections the second would become idle, and could become that of the buffer
    /// before the server has served the requests sent over the first.
    ///
    /// # Errors
    /// TIMEOUT: another thread was still connecting at the deadline.
    pub(super) fn connect_or_wait(
        &self,
        deadline: Deadline,
    ) -> Result<Connectable<'_>, SystemException> {
        let mut state = self.lock();
        while state.is_connecting {
            let left = deadline.remaining().map_err(|_| deadline_passed())?;
            state = self.connected.wait_at_most(state, left);
        }
        if state.connection.is_some() {
            return Ok(Connectable::Connected(state));
        }
        state.is_connecting = true;
        Ok(Connectable::Unconnected(Connecting(self)))
    }

    /// Whether messages are being written for the connection. Under the lock.
    pub(super) fn has_writers(&self) -> bool {
        self.writers.load(Ordering::Acquire) > 0
    }
}

/// A oneway being written for the connection of the buffer, which remains there until the message
/// is finished.
pub struct Begun<'p> {
    oneways: &'p BufferedOneways,
    pub(super) generation: u64,
    /// It was begun while the buffer was empty, and announces the code sets.
    pub(super) is_first: bool,
    /// The id of the message.
    pub request_id: u32,
    /// The other contents of its introduction.
    pub introduction: Option<Introduction>,
    /// Memory for the message.
    pub storage: Vec<u8>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        // Release: the writing happens-before the connection is taken by a thread that
        // reads 0.
        self.oneways.writers.fetch_sub(1, Ordering::Release);
    }
}

/// The outcome of appending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is in the buffer, or sent.
    Buffered,
    /// The connection was replaced, or the messages before it in the buffer were sent: it must be
    /// written again.
    Outdated,
}

impl BufferedOneways {
    /// Begins a message for the connection; `None` if there is no connection.
    pub(super) fn begin(&self, state: &mut State, said: PriorityContext) -> Option<Begun<'_>> {
        let is_first = state.buffer.is_empty();
        let connection = state.connection.as_mut()?;
        let (request_id, introduction) = connection.introduce_oneway(said, is_first);
        self.writers.fetch_add(1, Ordering::Relaxed);
        Some(Begun {
            oneways: self,
            generation: state.generation,
            is_first,
            request_id,
            introduction,
            storage: std::mem::take(&mut state.storage),
        })
    }
}
