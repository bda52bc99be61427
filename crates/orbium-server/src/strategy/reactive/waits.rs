// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nested waits of a reactor thread for its own calls.

use std::cell::Cell;

use orbium_invocation::priority;

use crate::ServerConnection;

/// Waits one within the other on one stack. Beyond, the reactor moves to another
/// thread, and those below wait for their replies alone.
const MAX_NESTED_WAITS: u32 = 32;

/// What a thread that has a reactor knows of its own waits.
#[derive(Default)]
pub(super) struct Waits {
    /// Whether the request being served has kept the reactor for its waits.
    pub(super) kept: Cell<bool>,
    /// Waits that serve others, one within the other.
    pub(super) depth: Cell<u32>,
}

impl Waits {
    /// Has a request of that connection keep the reactor, if it may.
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

    /// The next request has kept nothing yet.
    pub(super) fn let_go(&self) {
        self.kept.set(false);
    }
}
