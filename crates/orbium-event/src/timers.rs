// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap of a channel's timers, and when its peers are checked: two things that threads wait
//! for. What is done then, the channel knows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A timer of a subscription of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerKey {
    pub(crate) consumer: u64,
    pub(crate) epoch: u64,
    pub(crate) timer: usize,
}

/// The timers of a channel. Each has one entry at most.
#[derive(Default)]
pub(crate) struct Timers {
    heap: Mutex<Heap>,
    changed: Condvar,
}

#[derive(Default)]
struct Heap {
    entries: BinaryHeap<Reverse<(Instant, TimerKey)>>,
    has_thread: bool,
    is_closed: bool,
}

impl Timers {
    fn lock(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, key: TimerKey, due: Instant) {
        self.lock().entries.push(Reverse((due, key)));
        self.changed.notify_one();
    }

    /// True for the caller that is to start the thread.
    pub(crate) fn begin(&self) -> bool {
        !std::mem::replace(&mut self.lock().has_thread, true)
    }

    /// The thread could not be started.
    pub(crate) fn end(&self) {
        self.lock().has_thread = false;
    }

    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits until a timer is due; `None` when the channel has ended.
    pub(crate) fn next(&self) -> Option<TimerKey> {
        let mut heap = self.lock();
        loop {
            if heap.is_closed {
                return None;
            }
            let now = Instant::now();
            let first = heap.entries.peek().map(|Reverse((due, _))| *due);
            heap = match first {
                Some(due) if due <= now => {
                    return heap.entries.pop().map(|Reverse((_, key))| key);
                }
                Some(due) => {
                    let waited = self.changed.wait_timeout(heap, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(heap);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

/// What the thread that checks peers does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Notify observers of changes.
    Observers,
    /// Ping peers.
    Ping,
}

/// When peers are checked and observers notified.
#[derive(Default)]
pub(crate) struct Control {
    state: Mutex<ControlState>,
    changed: Condvar,
}

#[derive(Default)]
struct ControlState {
    has_thread: bool,
    is_closed: bool,
    observers_are_due: bool,
    ping_due: Option<Instant>,
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_observers(&self) {
        self.lock().observers_are_due = true;
        self.changed.notify_one();
    }

    /// Peers are to be pinged at that time or earlier.
    pub(crate) fn ping_by(&self, time: Instant) {
        let mut state = self.lock();
        state.ping_due = Some(state.ping_due.map_or(time, |due| due.min(time)));
        self.changed.notify_one();
    }

    /// True for the caller that is to start the thread.
    pub(crate) fn begin(&self) -> bool {
        !std::mem::replace(&mut self.lock().has_thread, true)
    }

    /// The thread could not be started.
    pub(crate) fn end(&self) {
        self.lock().has_thread = false;
    }

    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Waits for the next task; `None` when the channel has ended.
    pub(crate) fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if std::mem::take(&mut state.observers_are_due) {
                return Some(Task::Observers);
            }
            let now = Instant::now();
            state = match state.ping_due {
                Some(due) if due <= now => {
                    state.ping_due = None;
                    return Some(Task::Ping);
                }
                Some(due) => {
                    let waited = self.changed.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}
