// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending of collected replies while a servant takes longer than expected.
//!
//! The thread that serves a connection may be in a servant, so another thread checks for collected
//! replies. It runs on a thread of the lane's cache while replies are collected at all, wakes up
//! each [`TICK`], and sends the batches that it sees twice. So a reply is held for at most two
//! ticks, however long a servant takes, and a servant that waits for the client's reaction to an
//! earlier reply does not deadlock.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium_sync::ThreadCache;
use orbium_sync::lock::{Mutex, MutexGuard};

/// The interval of the checks.
const TICK: Duration = Duration::from_millis(1);

/// The action of the flusher for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    Watch,
    Forget,
    /// Replies have been collected for a tick.
    Flush,
}

/// A connection with collected replies.
pub(crate) trait Held: Send + Sync {
    /// Checks whether replies wait for a slow servant; with `ends` no more are expected.
    fn tick(&self, ends: bool) -> Tick;

    /// Sends the collected replies.
    fn flush(&self);
}

#[derive(Default)]
struct State {
    watched: Vec<Weak<dyn Held>>,
    is_running: bool,
}

/// Watches the connections of a lane that collect replies.
pub(crate) struct Flusher {
    threads: ThreadCache,
    state: Mutex<State>,
    ends: AtomicBool,
}

impl fmt::Debug for Flusher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Flusher")
    }
}

impl Flusher {
    pub(crate) fn new(threads: &ThreadCache) -> Arc<Self> {
        Arc::new(Self {
            threads: threads.clone(),
            state: Mutex::default(),
            ends: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Watches a connection; `false` if no thread can be started.
    pub(crate) fn watch(self: &Arc<Self>, connection: Weak<dyn Held>) -> bool {
        let mut state = self.lock();
        if !state.is_running {
            let flusher = Arc::clone(self);
            let started = self.threads.run(move || flusher.run());
            if started.is_err() {
                return false;
            }
            state.is_running = true;
        }
        state.watched.push(connection);
        true
    }

    /// Ends the thread, as soon as no replies are collected: the lane ends.
    pub(crate) fn end(&self) {
        self.ends.store(true, Ordering::Release);
    }

    fn run(&self) {
        loop {
            std::thread::sleep(TICK);
            let watched = std::mem::take(&mut self.lock().watched);
            let watched = watched.into_iter().filter(|it| self.tick(it));
            let mut watched: Vec<_> = watched.collect();
            let mut state = self.lock();
            state.watched.append(&mut watched);
            if state.watched.is_empty() {
                state.is_running = false;
                return;
            }
        }
    }

    /// Checks a connection; returns whether to continue.
    fn tick(&self, connection: &Weak<dyn Held>) -> bool {
        let Some(connection) = connection.upgrade() else {
            return false;
        };
        match connection.tick(self.ends.load(Ordering::Acquire)) {
            Tick::Watch => {}
            Tick::Forget => return false,
            Tick::Flush => {
                // A peer that does not receive blocks only this thread.
                let late = Arc::clone(&connection);
                let started = self.threads.run(move || late.flush());
                if started.is_err() {
                    connection.flush();
                }
            }
        }
        true
    }
}
