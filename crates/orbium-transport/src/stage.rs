// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stages of connection establishment, for the explanation of failed calls.
//!
//! A connector reports each stage on the thread that connects. Reports cost a
//! connection some nanoseconds and a call nothing.

use std::cell::RefCell;

use orbium_sys::Stamp;

/// A stage of making a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A host name is looked up.
    Resolve,
    /// The peer is connected to.
    Connect,
    /// Both sides authenticate, and agree on keys.
    Secure,
}

/// Maximum number of stored reports; there are three stages, and connectors may be stacked.
const MAX_REPORTS: usize = 8;

thread_local! {
    static REACHED: RefCell<Vec<(Stage, Stamp)>> = const { RefCell::new(Vec::new()) };
}

impl Stage {
    /// Reports that the connection being opened by this thread enters a stage.
    pub fn enter(self) {
        REACHED.with_borrow_mut(|reached| {
            if reached.len() < MAX_REPORTS {
                reached.push((self, Stamp::now()));
            }
        });
    }

    /// The stages that this thread has reported since the last call, in order, each with the time
    /// of its beginning.
    #[must_use]
    pub fn take_reports() -> Vec<(Self, Stamp)> {
        REACHED.take()
    }
}
