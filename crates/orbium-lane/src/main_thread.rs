// SPDX-License-Identifier: MIT OR Apache-2.0
//! The main thread: the one that serves adapters with MAIN_THREAD_MODEL.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};

use crate::Lane;

/// Identity of the main thread, and the lane that it serves.
#[derive(Debug)]
pub struct MainThread {
    thread: OnceLock<ThreadId>,
    lane: OnceLock<Lane>,
    calls: AtomicU64,
}

/// Asynchronous calls, which wait in the same queue, have the numbers below this.
const FIRST_CALL: u64 = 1 << 63;

impl Default for MainThread {
    fn default() -> Self {
        Self {
            thread: OnceLock::new(),
            lane: OnceLock::new(),
            calls: AtomicU64::new(FIRST_CALL),
        }
    }
}

impl MainThread {
    /// Whether the calling thread is the main one; it becomes the main one if there is none.
    #[must_use]
    pub fn claim(&self) -> bool {
        let mine = thread::current().id();
        *self.thread.get_or_init(|| mine) == mine
    }

    /// Whether the calling thread is the main one.
    #[must_use]
    pub fn is_this(&self) -> bool {
        self.thread.get() == Some(&thread::current().id())
    }

    /// The lane, if there is an adapter with that model.
    #[must_use]
    pub fn lane(&self) -> Option<&Lane> {
        self.lane.get()
    }

    /// A number for a call in its queue.
    pub(crate) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets the lane; `false` if another thread has set it.
    #[must_use]
    pub fn set_lane(&self, lane: Lane) -> bool {
        self.lane.set(lane).is_ok()
    }
}
