// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of a message, or of the request in it.

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was dispatched or answered by this thread; the next may follow.
    Dispatched,
    /// It was dispatched; what follows is for the dedicated thread that the connection
    /// was granted.
    ThreadGranted,
    /// No whole message is there.
    Incomplete,
    /// It is dispatched, but another thread reads the connection by now.
    HandedOff,
    /// Another lane is to dispatch it.
    Forwarded,
    /// It waits for a place in a queue; nothing is read before it has one.
    QueueFull,
    /// The dedicated thread is to dispatch it.
    Dedicated,
    /// The connection is to be closed.
    Close,
}
