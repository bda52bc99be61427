// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stages of making a connection: for explanations of calls that failed.
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

/// Reports that are kept; there are three stages, and connectors may be stacked.
const MAX_REPORTS: usize = 8;

thread_local! {
    static REACHED: RefCell<Vec<(Stage, Stamp)>> = const { RefCell::new(Vec::new()) };
}

impl Stage {
    /// Reports that the connection which this thread is making enters a stage.
    pub fn enter(self) {
        REACHED.with_borrow_mut(|reached| {
            if reached.len() < MAX_REPORTS {
                reached.push((self, Stamp::now()));
            }
        });
    }

    /// The stages that this thread has reported since it was asked last, in order, each
    /// with the moment it began.
    #[must_use]
    pub fn take_reports() -> Vec<(Self, Stamp)> {
        REACHED.take()
    }
}
