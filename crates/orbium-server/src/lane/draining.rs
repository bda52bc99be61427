// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a lane while its ORB continues: accepted requests are served.
//!
//! First it stops listening, and accepts the connections in the backlog, so that CloseConnection
//! reaches those clients, too. Then it stops reading: each connection is closed after its last
//! reply; requests received before that over shared connections are for other lanes. The queue is
//! served by the existing threads, which end one by one. The lane then has neither threads nor
//! descriptors, but its queue is open: another lane may just have decided to hand off a request to
//! it.

use std::sync::atomic::{AtomicBool, Ordering};

/// The state of a lane that ends while its ORB continues.
#[derive(Default)]
pub(crate) struct Draining {
    begun: AtomicBool,
    /// Whether requests are no longer begun.
    overdue: AtomicBool,
    /// Whether another lane listens at the same endpoints.
    keeps_clients: AtomicBool,
}

impl Draining {
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Release);
    }

    /// Ends the drain: the deadline has passed.
    pub(super) fn expire(&self) {
        self.overdue.store(true, Ordering::Release);
    }

    pub(super) fn keep_clients(&self) {
        self.keeps_clients.store(true, Ordering::Release);
    }

    /// Whether requests over connections that wait for their last reply are served here: a forward
    /// would have the address of these connections.
    pub(crate) fn keeps_clients(&self) -> bool {
        self.keeps_clients.load(Ordering::Acquire)
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Whether requests over connections that wait for their last reply are still forwarded.
    pub(crate) fn goes_on(&self) -> bool {
        self.has_begun() && !self.overdue.load(Ordering::Acquire)
    }
}
