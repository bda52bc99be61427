// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends the replies that wait for others while a servant takes longer than expected.
//!
//! The thread that serves a connection may be anywhere in a servant, so another one has to
//! look. It runs on a thread of the lane's cache while replies are collected at all, and
//! wakes up each [`TICK`]: what it finds twice it has sent. So a reply is held for two
//! ticks at most, whatever a servant does; one that waits for something the client does
//! after an earlier reply gets it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use orbium_sync::ThreadCache;
use orbium_sync::lock::{Mutex, MutexGuard};

/// Between two looks at the connections.
const TICK: Duration = Duration::from_millis(1);

/// What the flusher is to do about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    Watch,
    Forget,
    /// Replies have waited for a tick.
    Flush,
}

/// A connection that may hold replies back.
pub(crate) trait Held: Send + Sync {
    /// Looks whether replies wait for a servant that takes long; with `ends` nothing more is
    /// expected.
    fn tick(&self, ends: bool) -> Tick;

    /// Sends them.
    fn flush(&self);
}

#[derive(Default)]
struct State {
    watched: Vec<Weak<dyn Held>>,
    is_running: bool,
}

/// Looks at the connections of a lane that collect replies.
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

    /// Looks at a connection from now on; `false` if there is no thread to do so.
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

    /// The lane ends: as soon as nothing is collected, so does its thread.
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

    /// Looks at a connection; whether to do so again.
    fn tick(&self, connection: &Weak<dyn Held>) -> bool {
        let Some(connection) = connection.upgrade() else {
            return false;
        };
        match connection.tick(self.ends.load(Ordering::Acquire)) {
            Tick::Watch => {}
            Tick::Forget => return false,
            Tick::Flush => {
                // A peer that takes nothing blocks this thread, and no other.
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
