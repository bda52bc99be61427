// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deferred replies to asynchronous collocated calls.

/// Receives the reply of a call for which no thread waits.
pub trait LateAnswer: Send {
    /// Receives the message of the reply.
    fn answered(self: Box<Self>, message: Vec<u8>);

    /// Whether the call has already ended.
    fn is_over(&self) -> bool;
}
