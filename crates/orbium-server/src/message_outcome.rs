// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of a message, or of the request in it.

/// The result of processing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was dispatched or answered by this thread; the next may follow.
    Dispatched,
    /// It was dispatched; later messages are for the dedicated thread that the connection was
    /// granted.
    ThreadGranted,
    /// There is no complete message.
    Incomplete,
    /// It is dispatched, but another thread reads the connection now.
    HandedOff,
    /// Another lane has to dispatch it.
    Forwarded,
    /// It waits for a place in a queue; reading is suspended until then.
    QueueFull,
    /// The dedicated thread has to dispatch it.
    Dedicated,
    /// The connection has to be closed.
    Close,
}
