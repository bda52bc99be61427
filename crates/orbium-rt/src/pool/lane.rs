// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lane: threads of one priority, and what waits for them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orbium_core::{DetachedRequest, Priority};

use super::{ThreadpoolId, ThreadpoolLane};

/// Time a dynamic thread waits for a request before it ends.
const LINGER: Duration = Duration::from_secs(10);

/// A request that waits for a thread.
pub(super) struct Job {
    pub(super) request: DetachedRequest,
    pub(super) octets: usize,
    /// At which it is served, be it a borrowed thread or not.
    pub(super) priority: Priority,
    /// Whether it waits because nobody was free.
    pub(super) buffered: bool,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Box<Job>>,
    /// Threads that wait for a request.
    idle: usize,
    /// Threads that have answered theirs, and will soon wait.
    soon_idle: usize,
    /// All threads.
    alive: u32,
    closed: bool,
}

pub(super) struct Lane {
    pub(super) pool: ThreadpoolId,
    pub(super) priority: Priority,
    pub(super) asked: ThreadpoolLane,
    state: Mutex<State>,
    changed: Condvar,
}

impl Lane {
    pub(super) fn new(pool: ThreadpoolId, priority: Priority, asked: ThreadpoolLane) -> Self {
        Self {
            pool,
            priority,
            asked,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a job to a thread that is free; gives it back if none is.
    pub(super) fn offer(&self, job: Box<Job>) -> Result<(), Box<Job>> {
        let mut state = self.lock();
        if state.closed || state.idle + state.soon_idle <= state.queue.len() {
            return Err(job);
        }
        state.queue.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Has a job wait for whoever is free next; gives it back if nobody will be.
    pub(super) fn keep(&self, job: Box<Job>) -> Result<(), Box<Job>> {
        let mut state = self.lock();
        if state.closed {
            return Err(job);
        }
        state.queue.push_back(job);
        drop(state);
        // Somebody may have become free meanwhile.
        self.changed.notify_one();
        Ok(())
    }

    /// Counts one more thread in, if there may be one.
    pub(super) fn claim_thread(&self) -> bool {
        let mut state = self.lock();
        let most = self
            .asked
            .static_threads
            .saturating_add(self.asked.dynamic_threads);
        let may = !state.closed && state.alive < most;
        if may {
            state.alive += 1;
        }
        may
    }

    /// Counts a thread out.
    pub(super) fn ended(&self) {
        self.lock().alive -= 1;
        self.changed.notify_all();
    }

    /// Waits until no more threads than that are there.
    pub(super) fn wait_until_left(&self, own: u32) {
        let mut state = self.lock();
        while state.alive > own {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A thread answers its request: the client's next one finds it free.
    pub(super) fn answers(&self) {
        self.lock().soon_idle += 1;
    }

    /// The next job; `None` if the thread is to end. `answered` if it has told
    /// that it would come.
    pub(super) fn next(&self, answered: bool) -> Option<Box<Job>> {
        let mut state = self.lock();
        state.soon_idle -= usize::from(answered);
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            let waited = self.changed.wait_timeout(state, LINGER);
            let (guard, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = guard;
            state.idle -= 1;
            let spare = state.alive > self.asked.static_threads;
            if waited.timed_out() && spare && state.queue.is_empty() {
                return None;
            }
        }
    }

    /// Takes nothing more; what waited.
    pub(super) fn close(&self) -> VecDeque<Box<Job>> {
        let mut state = self.lock();
        state.closed = true;
        let left = std::mem::take(&mut state.queue);
        drop(state);
        self.changed.notify_all();
        left
    }
}
