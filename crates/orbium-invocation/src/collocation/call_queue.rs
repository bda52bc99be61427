// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collocated calls that wait for a thread of the lane that serves their object.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use orbium_giop::SystemException;

use crate::Priority;

/// An asynchronous collocated call in the queue of a lane.
pub trait QueueableCall: Send + Sync {
    /// Serves the call on a thread of the lane. Calls `answers` before the caller can have the
    /// result: the thread will be idle soon.
    fn serve(self: Arc<Self>, answers: &dyn Fn());

    /// Refuses the call: the queue is full, or the lane has ended. It was not begun.
    fn refuse(self: Arc<Self>, exception: SystemException);
}

/// A call to be enqueued in a lane.
#[derive(Clone)]
pub struct QueuedCall {
    /// The unique number of the call in its ORB.
    pub number: u64,
    /// Its priority: higher first.
    pub priority: Option<Priority>,
    /// The deadline of the call.
    pub deadline: Option<Instant>,
    /// Size of its message; 0 unless the queue [limits](CallQueue::bounds_octets) it.
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

/// The queue of a lane, for collocated callers. It contains received requests, too, and its limits
/// apply to both.
pub trait CallQueue: Send + Sync {
    /// Enqueues a call for a thread of the lane.
    ///
    /// # Errors
    /// TRANSIENT 1: the queue is full, or the lane has ended. The call was not begun.
    fn put(&self, call: QueuedCall) -> Result<(), SystemException>;

    /// Removes the call with that number, if it was not begun.
    fn withdraw(&self, number: u64);

    /// Whether the queue is limited to fewer bytes than a message may have: calls state their size
    /// then.
    fn bounds_octets(&self) -> bool;
}
