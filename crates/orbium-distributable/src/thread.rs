// SPDX-License-Identifier: MIT OR Apache-2.0
//! A distributable thread, as one process sees it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orbium::giop::Ior;
use orbium::{CancellationToken, Orb};

use crate::id::ThreadId;
use crate::thread_control::Control;

/// A distributable thread (`RTScheduling::DistributableThread`). A clone is the same thread.
#[derive(Clone)]
pub struct DistributableThread(Arc<Inner>);

/// Whether a distributable thread was cancelled (`DT_State`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It was not.
    Active,
    /// It was: it raises THREAD_CANCELLED at its next scheduling point.
    Cancelled,
}

struct Inner {
    id: ThreadId,
    cancelled: AtomicBool,
    token: CancellationToken,
    calls: Mutex<Vec<Outgoing>>,
}

/// A call of the thread that is under way.
struct Outgoing {
    request: u32,
    /// Where its cancellation is sent; none where that is not known.
    control: Option<Ior>,
}

impl DistributableThread {
    pub(crate) fn new(id: ThreadId) -> Self {
        Self(Arc::new(Inner {
            id,
            cancelled: AtomicBool::new(false),
            token: CancellationToken::new(),
            calls: Mutex::default(),
        }))
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.0.id
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn state(&self) -> State {
        match self.0.cancelled.load(Ordering::SeqCst) {
            true => State::Cancelled,
            false => State::Active,
        }
    }

    /// Cancels the thread, here and in the processes that its calls have reached: `orb` sends them
    /// the cancellation. At its next scheduling point the head of the thread raises
    /// THREAD_CANCELLED, and its callers up to the root after it. Cancelling it again, or when it has ended,
    /// does nothing.
    pub fn cancel(&self, orb: &Orb) {
        if self.mark_cancelled() {
            for control in self.controls() {
                // A peer that is gone serves this thread no more, and the call there fails by itself.
                if let Ok(control) = orb.resolve::<Control>(&control.to_string()) {
                    let _ = control.cancel(self.0.id.as_bytes());
                }
            }
        }
    }

    /// A token for references (`with_cancellation`): their calls end at once when the thread is cancelled
    /// rather than when the servant has returned: the caller gets TRANSIENT 3, and peers without
    /// distributable threads get a CancelRequest.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.0.token
    }

    /// Marks the thread without notifying other processes. Returns whether it was active.
    pub(crate) fn mark_cancelled(&self) -> bool {
        // Before the calls are read: a call that begins later sees the mark.
        let was_active = !self.0.cancelled.swap(true, Ordering::SeqCst);
        self.0.token.cancel();
        was_active
    }

    pub(crate) fn begin_call(&self, request: u32, control: Option<Ior>) {
        self.lock().push(Outgoing { request, control });
    }

    /// Returns whether the call was under way.
    pub(crate) fn end_call(&self, request: u32) -> bool {
        let mut calls = self.lock();
        let index = calls.iter().rposition(|it| it.request == request);
        index.map(|index| calls.remove(index)).is_some()
    }

    fn controls(&self) -> Vec<Ior> {
        let calls = self.lock();
        calls.iter().filter_map(|it| it.control.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Outgoing>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for DistributableThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistributableThread")
            .field("id", &self.id())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
