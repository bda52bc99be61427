// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notifying the thread of a reactor of deadlines and changed connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_sync::lock::Mutex;
use orbium_sys::{Interest, Poller, Waker};

/// The part of a reactor shared with its connections: poller and waker.
#[derive(Debug)]
pub(crate) struct Notifier {
    pub(crate) poller: Poller,
    waker: Arc<Waker>,
    /// Connections with a new deadline.
    timed: Mutex<Vec<u64>>,
    /// Whether `timed` has entries, readable without the lock.
    any_timed: AtomicBool,
    /// Whether connections are registered one-shot (EPOLLONESHOT): several threads wait.
    pub(crate) oneshot: bool,
}

impl Notifier {
    pub(crate) fn new(waker: &Arc<Waker>, oneshot: bool, poller: Poller) -> Self {
        Self {
            poller,
            waker: Arc::clone(waker),
            timed: Mutex::default(),
            any_timed: AtomicBool::new(false),
            oneshot,
        }
    }

    /// The interest to register, one-shot if several threads wait.
    pub(crate) fn interest(&self, interest: Interest) -> Interest {
        match interest {
            Interest::Read if self.oneshot => Interest::ReadOnce,
            Interest::Write if self.oneshot => Interest::WriteOnce,
            Interest::Both if self.oneshot => Interest::BothOnce,
            other => other,
        }
    }

    /// Registers the new deadline of a connection, and wakes the reactor, which may otherwise sleep
    /// beyond it.
    pub(crate) fn notify_deadline(&self, id: u64) {
        self.timed.lock().push(id);
        // Release, after the push: a reactor that sees the flag (AcqRel in `take_timed`)
        // finds the id.
        self.any_timed.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Takes the connections that got a deadline since the last call.
    pub(crate) fn take_timed(&self) -> Vec<u64> {
        // Relaxed is enough: a later notification wakes the reactor, which checks again.
        if !self.any_timed.load(Ordering::Relaxed) || !self.any_timed.swap(false, Ordering::AcqRel)
        {
            return Vec::new();
        }
        std::mem::take(&mut self.timed.lock())
    }

    /// Wakes a waiting thread, or the next one that waits.
    pub(crate) fn wake(&self) {
        self.waker.wake();
    }

    /// Clears the wake-up. The caller then checks everything that notifications are sent for, so
    /// none is lost.
    pub(crate) fn clear(&self) {
        self.waker.clear();
    }
}
