// SPDX-License-Identifier: MIT OR Apache-2.0
//! The main thread: the one that serves adapters with MAIN_THREAD_MODEL.

use std::sync::OnceLock;
use std::thread::{self, ThreadId};

use crate::Lane;

/// Which thread it is, and the lane that it serves.
#[derive(Default)]
pub(crate) struct MainThread {
    thread: OnceLock<ThreadId>,
    lane: OnceLock<Lane>,
}

impl MainThread {
    /// Whether the calling thread is the main one: it becomes it if none is.
    pub(crate) fn claim(&self) -> bool {
        let mine = thread::current().id();
        *self.thread.get_or_init(|| mine) == mine
    }

    /// Whether the calling thread is the main one.
    pub(crate) fn is_this(&self) -> bool {
        self.thread.get() == Some(&thread::current().id())
    }

    /// The lane, if there is an adapter of that model.
    pub(crate) fn lane(&self) -> Option<&Lane> {
        self.lane.get()
    }

    /// Sets the lane; `false` if another thread was faster.
    pub(crate) fn set_lane(&self, lane: Lane) -> bool {
        self.lane.set(lane).is_ok()
    }
}
