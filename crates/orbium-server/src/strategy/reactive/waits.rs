// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nested waits of a reactor thread for its own calls.

use std::cell::Cell;

use orbium_invocation::priority;

use crate::ServerConnection;

/// Maximum number of nested waits on one stack. Beyond it, the reactor moves to another thread, and
/// the waits below just wait for their replies.
const MAX_NESTED_WAITS: u32 = 32;

/// The state of the nested waits of a reactor thread.
#[derive(Default)]
pub(super) struct Waits {
    /// Whether the request in progress has retained the reactor for its waits.
    pub(super) kept: Cell<bool>,
    /// The number of nested waits that serve requests.
    pub(super) depth: Cell<u32>,
}

impl Waits {
    /// Has a request of that connection retain the reactor, if it may.
    pub(super) fn may_keep(&self, connection: &ServerConnection) -> bool {
        // A thread with an overridden priority must not dispatch other requests.
        let may = self.depth.get() < MAX_NESTED_WAITS && priority::is(connection.priority());
        if may {
            self.kept.set(true);
        }
        may
    }

    pub(super) fn has_kept(&self) -> bool {
        self.kept.get()
    }

    /// Resets the flag for the next request.
    pub(super) fn let_go(&self) {
        self.kept.set(false);
    }
}
