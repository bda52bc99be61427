// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedication state of a connection: the outcome of its markers so far.

use std::sync::atomic::AtomicBool;

use orbium_channel::dedication::{DedicationReply, Undedicated};
use orbium_sync::lock::Mutex;

use orbium_invocation::dedication::DedicatedThread;
use orbium_request::GrantedPlace;

/// The state of the decision.
#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    Unasked,
    Refused(Undedicated),
    Granted(
        Box<DedicatedThread>,
        #[expect(dead_code, reason = "held")] GrantedPlace,
    ),
    /// The grant was released: the connection is closed.
    Over,
}

/// The dedication state of a connection.
#[derive(Debug, Default)]
pub(crate) struct DedicationState {
    pub(crate) state: Mutex<State>,
    /// Whether a thread is due to take it over.
    pub(crate) is_due: AtomicBool,
    /// Whether a thread has taken it over.
    pub(crate) has_begun: AtomicBool,
}

/// The effect of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// The thread just granted serves the request.
    Due,
    /// The decision was made before: the reply contains it.
    Decided(DedicationReply),
}

impl DedicationState {
    pub(crate) fn set(&self, state: State) {
        let mut own = self.state.lock();
        // Dropped after the lock is released: its drop may run foreign code.
        let _before = std::mem::replace(&mut *own, state);
        drop(own);
    }
}
