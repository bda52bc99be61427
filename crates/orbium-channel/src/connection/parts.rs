// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message, and the state that continues beyond it.

use super::assembly::Assembly;
use super::code_sets::CodeSets;

/// A message that has arrived whole, and its surroundings.
#[derive(Debug)]
pub struct Parts<'c> {
    /// Its octets, from the message header on.
    pub message: &'c mut [u8],
    /// The boundaries of its fragments.
    pub seams: &'c [u32],
    /// The bytes received after it.
    pub rest: &'c [u8],
    /// The state that continues beyond it.
    pub continuation: &'c mut Continuation,
}

/// State that continues from one message of a connection to the next: fragments in assembly,
/// and the code sets. A thread that continues the connection needs it.
#[derive(Debug)]
pub struct Continuation {
    /// The messages in assembly.
    pub(super) assembly: Assembly,
    /// The code sets of text.
    pub code_sets: CodeSets,
    /// Whether the messages are delivered whole, by a connection that the halves of a
    /// bidirectional one share.
    pub(super) is_delivered: bool,
}

impl Continuation {
    /// Takes all of it out, for [`Connection::continued`](super::Connection::continued).
    #[must_use]
    pub fn take(&mut self) -> Self {
        Self {
            assembly: std::mem::take(&mut self.assembly),
            code_sets: self.code_sets,
            is_delivered: self.is_delivered,
        }
    }
}
