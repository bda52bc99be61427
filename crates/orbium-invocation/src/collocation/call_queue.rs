// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that wait for a thread of the lane that serves their object, both in one process.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use orbium_giop::SystemException;

use crate::Priority;

/// An asynchronous call of an object of its own ORB, as the queue of a lane sees it.
pub trait QueueableCall: Send + Sync {
    /// Serves the call on a thread of the lane. Runs `answers` before the caller can have the
    /// result: the thread is about to be idle.
    fn serve(self: Arc<Self>, answers: &dyn Fn());

    /// There is no room for the call, or the lane has ended: it was not begun.
    fn refuse(self: Arc<Self>, exception: SystemException);
}

/// A call on its way into the queue of a lane.
#[derive(Clone)]
pub struct QueuedCall {
    /// No other call of its ORB has it.
    pub number: u64,
    /// Higher goes first.
    pub priority: Option<Priority>,
    /// Until when its caller waits, or considers it worth executing.
    pub deadline: Option<Instant>,
    /// Octets that its message would have; 0 unless the queue [bounds](CallQueue::bounds_octets)
    /// them.
    pub octets: usize,
    /// The call itself.
    pub call: Arc<dyn QueueableCall>,
}

impl fmt::Debug for QueuedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueuedCall")
            .field("number", &self.number)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}

/// The queue of a lane, as callers of the same ORB see it. It holds requests that came by
/// messages too, and its bounds are those of both.
pub trait CallQueue: Send + Sync {
    /// Has a call wait until a thread of the lane serves it.
    ///
    /// # Errors
    /// TRANSIENT 1: there is no room for it, or the lane has ended. It was not begun.
    fn put(&self, call: QueuedCall) -> Result<(), SystemException>;

    /// Drops the call of that number, if it was not begun.
    fn withdraw(&self, number: u64);

    /// Whether fewer octets may wait than one message may have: calls say how many theirs are.
    fn bounds_octets(&self) -> bool;
}
