// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code sets negotiated over a connection.

use super::Connection;
use super::code_sets::CodeSets;

impl Connection {
    /// The same, before anything is sent, with these code sets.
    #[must_use]
    pub fn with_code_sets(mut self, code_sets: CodeSets) -> Self {
        self.continuation.code_sets = code_sets;
        self
    }

    /// The code sets of text.
    #[must_use]
    pub fn code_sets(&self) -> &CodeSets {
        &self.continuation.code_sets
    }

    /// Its code sets, to be updated by a message.
    #[must_use]
    pub fn code_sets_mut(&mut self) -> &mut CodeSets {
        &mut self.continuation.code_sets
    }
}
