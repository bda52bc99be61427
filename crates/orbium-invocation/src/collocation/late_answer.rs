// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers to asynchronous calls of the ORB's own servants that are given after the servant has
//! returned.

/// Takes the answer of a call for which no thread waits.
pub trait LateAnswer: Send {
    /// The message of the answer.
    fn answered(self: Box<Self>, message: Vec<u8>);

    /// Whether the call has ended without it.
    fn is_over(&self) -> bool;
}
