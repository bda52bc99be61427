// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code sets negotiated over a connection.

use super::Connection;
use super::code_sets::CodeSets;

impl Connection {
    /// The same; over which nothing was sent yet, with these code sets.
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

    /// The same, for what a message says of them.
    #[must_use]
    pub fn code_sets_mut(&mut self) -> &mut CodeSets {
        &mut self.continuation.code_sets
    }
}
