// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that sends buffered oneways when they are due: one for an ORB, and one for each buffer
//! that waits for a connection.

use std::time::{Duration, Instant};

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::{ThreadCache, ThreadOptions};

/// The main function of a thread.
type Job = Box<dyn FnOnce() + Send>;

/// The time at which buffers are due, and the thread that sends them.
#[derive(Debug)]
pub(crate) struct Flusher {
    state: Mutex<State>,
    changed: Condvar,
    /// Threads that wait for a connection.
    connecting: ThreadCache,
}

#[derive(Debug, Default)]
struct State {
    due: Option<Instant>,
    thread: Option<orbium_sys::Thread>,
    ended: bool,
}

impl Default for Flusher {
    fn default() -> Self {
        let (options, start) = (ThreadOptions::default(), orbium_sys::spawn_detached);
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            connecting: ThreadCache::with_starter("orbium-flush", Duration::ZERO, options, start),
        }
    }
}

impl Flusher {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Has the thread check buffers at that time or before; `start` returns the main function of a
    /// new one. Returns whether there is a thread.
    pub(crate) fn wake_at(&self, due: Instant, start: impl FnOnce() -> Job) -> bool {
        let mut state = self.lock();
        if state.ended {
            return false;
        }
        if state.thread.is_none() {
            match orbium_sys::spawn("orbium-flush", None, start()) {
                Ok(thread) => state.thread = Some(thread),
                Err(error) => {
                    orbium_trace::log::warn!(target: "orbium::conn", %error, "no thread to send buffered oneways");
                    return false;
                }
            }
        }
        if state.due.is_none_or(|before| due < before) {
            state.due = Some(due);
            self.changed.notify_one();
        }
        true
    }

    /// Waits until a buffer is due; `false` at the end.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.lock();
        while !state.ended {
            let now = Instant::now();
            state = match state.due {
                Some(due) if due <= now => {
                    state.due = None;
                    return true;
                }
                Some(due) => self.changed.wait_timeout(state, due - now).0,
                None => self.changed.wait(state),
            };
        }
        false
    }

    /// Runs a job that waits for a connection on a thread of its own; `false` if there is none.
    pub(crate) fn connect_by(&self, job: impl FnOnce() + Send + 'static) -> bool {
        self.connecting.run(job).is_ok()
    }

    /// Ends the threads and waits for their end.
    pub(crate) fn end(&self) {
        let thread = {
            let mut state = self.lock();
            state.ended = true;
            state.thread.take()
        };
        self.changed.notify_all();
        if let Some(thread) = thread
            && !thread.is_current()
        {
            thread.join();
        }
        self.connecting.close(None);
    }
}
