// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways under SYNC_NONE: the buffer of a pool, and the connection that it is sent over.
//!
//! The connection stays with the buffer as long as no call needs it. A message is written without
//! the lock, since its arguments may have marshalling code of their own.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use orbium_channel::oneway_buffer::OnewayBuffer;
use orbium_sync::lock::{Mutex, MutexGuard};

use crate::connection::Connection;
use crate::introduction::{Introduction, PriorityContext};

/// What waits to be sent, and where.
#[derive(Debug, Default)]
pub(crate) struct BufferedOneways {
    state: Mutex<State>,
    /// Callers that write a message for the connection.
    writers: AtomicUsize,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) connection: Option<Box<Connection>>,
    /// Counts connections: a message that was written for an earlier one is written anew.
    pub(super) generation: u64,
    pub(super) buffer: OnewayBuffer,
    pub(super) storage: Vec<u8>,
    /// When the buffer is to be sent.
    pub(super) due: Option<Instant>,
    /// The connection takes nothing now: flow control has begun.
    pub(super) is_blocked: bool,
}

impl BufferedOneways {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether messages are being written for the connection. Under the lock.
    pub(super) fn has_writers(&self) -> bool {
        self.writers.load(Ordering::Acquire) > 0
    }
}

/// What a oneway says that is written for the connection of the buffer, which stays there
/// until the message is there.
pub(crate) struct Begun<'p> {
    oneways: &'p BufferedOneways,
    pub(super) generation: u64,
    pub(crate) request_id: u32,
    pub(crate) introduction: Option<Introduction>,
    /// Memory for the message.
    pub(crate) storage: Vec<u8>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.oneways.writers.fetch_sub(1, Ordering::Release);
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It is in the buffer, or sent.
    Buffered,
    /// The connection has been replaced: it is to be written anew.
    Outdated,
}

impl BufferedOneways {
    /// Begins a message for the connection; `None` without one.
    pub(super) fn begin(&self, state: &mut State, said: PriorityContext) -> Option<Begun<'_>> {
        let is_first = state.buffer.is_empty();
        let connection = state.connection.as_mut()?;
        let (request_id, introduction) = connection.introduce_oneway(said, is_first);
        self.writers.fetch_add(1, Ordering::Relaxed);
        Some(Begun {
            oneways: self,
            generation: state.generation,
            request_id,
            introduction,
            storage: std::mem::take(&mut state.storage),
        })
    }
}
