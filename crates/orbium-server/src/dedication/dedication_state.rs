// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedication state of a connection: the outcome of its markers so far.

use std::sync::atomic::AtomicBool;

use orbium_channel::dedication::{DedicationReply, Undedicated};
use orbium_sync::lock::Mutex;

use orbium_invocation::dedication::DedicatedThread;
use orbium_request::GrantedPlace;

/// What was settled about it.
#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    Unasked,
    Refused(Undedicated),
    Granted(
        Box<DedicatedThread>,
        #[expect(dead_code, reason = "held")] GrantedPlace,
    ),
    /// It was given back: the connection ends.
    Over,
}

/// Whether a connection has a thread of its own.
#[derive(Debug, Default)]
pub(crate) struct DedicationState {
    pub(crate) state: Mutex<State>,
    /// A thread is to take it over.
    pub(crate) is_due: AtomicBool,
    /// One has.
    pub(crate) has_begun: AtomicBool,
}

/// What a marker comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// The thread that was just granted serves the request.
    Due,
    /// The decision was made before: the reply says so.
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
