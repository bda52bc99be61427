// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a lane while its ORB runs on: what it has accepted is served.
//!
//! First it listens nowhere, and what waited there is taken on, so that CloseConnection reaches
//! those clients too. Then nothing more is read: each connection ends with its last reply, and what
//! comes before that over one that calls share is for other lanes. The queue is served by the
//! threads that there are, which end one by one. The lane then has no thread and no descriptor,
//! but its queue is open: another lane may just have decided to hand a request over.

use std::sync::atomic::{AtomicBool, Ordering};

/// How a lane ends while its ORB runs on.
#[derive(Default)]
pub(crate) struct Draining {
    begun: AtomicBool,
    /// Nothing more is begun.
    overdue: AtomicBool,
    /// Another lane listens at the same endpoints.
    keeps_clients: AtomicBool,
}

impl Draining {
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Release);
    }

    /// The deadline has passed.
    pub(super) fn expire(&self) {
        self.overdue.store(true, Ordering::Release);
    }

    pub(super) fn keep_clients(&self) {
        self.keeps_clients.store(true, Ordering::Release);
    }

    /// Whether what comes over connections that wait for their last reply is served here: elsewhere
    /// is the address of these connections.
    pub(crate) fn keeps_clients(&self) -> bool {
        self.keeps_clients.load(Ordering::Acquire)
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Whether what comes over connections that wait for their last reply is still for others.
    pub(crate) fn goes_on(&self) -> bool {
        self.has_begun() && !self.overdue.load(Ordering::Acquire)
    }
}
