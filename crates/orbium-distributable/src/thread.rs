// SPDX-License-Identifier: MIT OR Apache-2.0
//! A distributable thread in one process.

pub(crate) mod current;
pub(crate) mod id;
pub(crate) mod level;
pub(crate) mod native;
pub(crate) mod registry;
pub(crate) mod spawning;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium::lock::{Mutex, MutexGuard};
use orbium::{CancellationToken, Orb};

use crate::propagation::presence::Presence;
use crate::thread::id::ThreadId;
use crate::thread_control::Control;

/// A distributable thread (`RTScheduling::DistributableThread`). A clone is the same thread.
#[derive(Clone)]
pub struct DistributableThread(Arc<Inner>);

/// State of a distributable thread, cancelled or not (`DT_State`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The thread was not cancelled.
    Active,
    /// The thread was cancelled: it raises THREAD_CANCELLED at its next scheduling point.
    Cancelled,
}

struct Inner {
    id: ThreadId,
    cancelled: AtomicBool,
    token: CancellationToken,
    presence: Mutex<Presence>,
}

impl DistributableThread {
    pub(crate) fn new(id: ThreadId) -> Self {
        Self(Arc::new(Inner {
            id,
            cancelled: AtomicBool::new(false),
            token: CancellationToken::new(),
            presence: Mutex::default(),
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
        if self.0.cancelled.load(Ordering::SeqCst) {
            State::Cancelled
        } else {
            State::Active
        }
    }

    /// Cancels the thread, here and in the processes that its calls have reached: `orb` sends them
    /// the cancellation. At its next scheduling point the head of the thread raises
    /// THREAD_CANCELLED, followed by its callers up to the root. Without effect if it is cancelled
    /// already, or has ended.
    pub fn cancel(&self, orb: &Orb) {
        if self.mark_cancelled() {
            let controls = self.presence().controls();
            for control in controls {
                // A peer that has ended does not serve this thread any more, and the call there
                // fails.
                if let Ok(control) = orb.resolve::<Control>(&control.to_string()) {
                    let _ = control.cancel(self.0.id.as_bytes());
                }
            }
        }
    }

    /// A token for references (`with_cancellation`): their calls end immediately when the thread is
    /// cancelled rather than when the servant has returned: the caller gets TRANSIENT 3, and peers
    /// without distributable threads get a CancelRequest.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.0.token
    }

    /// Marks the thread without notifying other processes. Returns whether it was active.
    pub(crate) fn mark_cancelled(&self) -> bool {
        // Before the calls are read: a call that begins later sees the mark.
        let was_active = !self.0.cancelled.swap(true, Ordering::SeqCst);
        self.0.token.cancel();
        if let Some(waiting) = self.presence().waiting() {
            waiting.unpark();
        }
        was_active
    }

    /// Its state in this process.
    pub(crate) fn presence(&self) -> MutexGuard<'_, Presence> {
        self.0.presence.lock()
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
