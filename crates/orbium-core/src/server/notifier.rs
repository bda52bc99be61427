// SPDX-License-Identifier: MIT OR Apache-2.0
//! How threads that are not the reactor's tell it something.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use orbium_sync::lock::Mutex;
use orbium_sys::{Interest, Poller, Waker};

/// What the connections of a reactor know of it.
#[derive(Debug)]
pub(super) struct Notifier {
    pub(super) poller: Poller,
    waker: Arc<Waker>,
    /// Connections that have got a deadline.
    timed: Mutex<Vec<u64>>,
    /// Whether there are any: known without the lock.
    any_timed: AtomicBool,
    /// Whether a connection that was told of is told of no more until it is
    /// asked for again: several threads wait in turn.
    pub(super) once: bool,
}

impl Notifier {
    pub(super) fn new(waker: &Arc<Waker>, once: bool) -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            waker: Arc::clone(waker),
            timed: Mutex::default(),
            any_timed: AtomicBool::new(false),
            once,
        })
    }

    /// What to ask the poller for.
    pub(super) fn interest(&self, interest: Interest) -> Interest {
        match interest {
            Interest::Read if self.once => Interest::ReadOnce,
            Interest::Write if self.once => Interest::WriteOnce,
            other => other,
        }
    }

    /// Says that a connection has got a deadline, which the reactor may be
    /// about to sleep through.
    #[inline(never)]
    pub(super) fn has_deadline(&self, id: u64) {
        self.timed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(id);
        self.any_timed.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// The connections that have got one since this was asked before.
    pub(super) fn timed(&self) -> Vec<u64> {
        // Whoever rings later wakes the reactor, which asks again.
        if !self.any_timed.load(Ordering::Relaxed) || !self.any_timed.swap(false, Ordering::AcqRel)
        {
            return Vec::new();
        }
        std::mem::take(&mut self.timed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Nobody has rung, until somebody does again. To be followed by a look at
    /// what they may have rung for.
    pub(super) fn clear(&self) {
        self.waker.clear();
    }
}
