// SPDX-License-Identifier: MIT OR Apache-2.0
//! Server context of an ORB: limits, budgets, tables of connections and requests, identity. It has
//! no state of the engine itself.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_cdr::Owner;
use orbium_channel::peer_memory::Budget;
use orbium_sys::fork::Origin;

use crate::dedications::Dedications;
use crate::deferred::OpenRequests;
use crate::log;
use orbium_config::Limits;
use orbium_metrics::{Instruments, Measurements};
use orbium_sync::Versions;

/// Constant facts of an ORB, for its [`ServerContext`].
pub struct OrbFacts {
    /// Size in bytes above which replies are sent in fragments.
    pub fragment_size: Option<usize>,
    /// Whether replies to pipelined requests are batched.
    pub collects_replies: bool,
    /// The budget that connections are charged to.
    pub budget: Budget,
    /// Identifies the ORB within the process.
    pub number: usize,
    /// The owner by which references in requests are bound to the ORB.
    pub owner: Owner,
    /// The metrics and the connection book.
    pub instruments: Arc<Instruments>,
}

/// The state of an ORB used by its server engine. It neither keeps the ORB alive nor contains state
/// of the engine.
pub struct ServerContext {
    orb: OrbFacts,
    /// The limits of the ORB.
    limits: Versions<Limits>,
    /// Connections with dedicated threads.
    pub dedications: Dedications,
    /// Requests with deferred replies.
    pub open_requests: Arc<OpenRequests>,
    /// Whether requests may have to be routed to another lane than their connection's, or a hook be
    /// called.
    routed: AtomicBool,
    /// The process that runs the threads of the lanes.
    served_by: OnceLock<Origin>,
}

impl Deref for ServerContext {
    type Target = OrbFacts;

    #[inline(always)]
    fn deref(&self) -> &OrbFacts {
        &self.orb
    }
}

impl ServerContext {
    /// A context without lanes.
    #[must_use]
    pub fn new(orb: OrbFacts, limits: Limits) -> Self {
        Self {
            orb,
            limits: Versions::new(limits),
            dedications: Dedications::default(),
            open_requests: Arc::default(),
            routed: AtomicBool::new(false),
            served_by: OnceLock::new(),
        }
    }

    /// The present limits of the ORB.
    #[inline]
    pub fn limits(&self) -> &Limits {
        self.limits.current()
    }

    /// Replaces the limits. Connections keep the limits of messages and times with which they were
    /// accepted; all others apply at once.
    ///
    /// # Errors
    /// The limits were replaced too often, and are returned.
    pub fn set_limits(&self, limits: Limits) -> Result<(), Box<Limits>> {
        self.limits.replace(limits).map_err(Box::new)
    }

    /// The measurements, once metrics are on.
    #[inline(always)]
    pub fn measurements(&self) -> Option<&Arc<Measurements>> {
        self.instruments.measurements()
    }

    /// Whether requests are measured or have spans. Unobserved requests take a shorter path.
    #[inline(always)]
    pub fn observes_requests(&self) -> bool {
        log::wants_spans() || self.measurements().is_some()
    }

    /// Whether the lane of each request has to be determined when it arrives.
    pub fn is_routed(&self) -> bool {
        self.routed.load(Ordering::Acquire)
    }

    /// Makes the lane of each request be determined on arrival.
    pub fn route(&self) {
        self.routed.store(true, Ordering::Release);
    }

    /// Waits until no request of that adapter, or of all, is open, or for at most
    /// [`open_time`](Limits::open_time).
    pub fn settle_open_requests(&self, adapter: Option<usize>) {
        self.open_requests.settle(adapter, self.limits().open_time);
    }

    /// Records that the threads of the lanes run in this process.
    pub fn serve_here(&self) {
        let _ = self.served_by.set(Origin::here());
    }

    /// Whether the serving threads are in the process from which this one was forked.
    pub fn is_left_behind(&self) -> bool {
        self.served_by
            .get()
            .is_some_and(|process| !process.is_here())
    }
}

impl fmt::Debug for ServerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerContext")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
