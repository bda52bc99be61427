// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap of a channel's timers, and the times of checks of its peers: two agendas that threads
//! wait for. The channel executes the tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex, MutexGuard};

use crate::delivery::start_once::StartOnce;

/// The tasks that one thread of a channel waits for.
#[derive(Default)]
pub(crate) struct Agenda<T> {
    /// The thread that waits.
    pub(crate) thread: StartOnce,
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Default)]
struct State<T> {
    tasks: T,
    is_closed: bool,
}

/// Tasks, each with its time.
pub(crate) trait Tasks {
    type Task;

    /// Takes a task that is due.
    fn take(&mut self, now: Instant) -> Option<Self::Task>;

    /// The time of the next task, if there is one.
    fn next_due(&self) -> Option<Instant>;
}

impl<T: Tasks> Agenda<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock().tasks);
        self.changed.notify_one();
    }

    /// Waits until a task is due; `None` when the channel has ended.
    pub(crate) fn next(&self) -> Option<T::Task> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            let now = Instant::now();
            if let Some(task) = state.tasks.take(now) {
                return Some(task);
            }
            state = match state.tasks.next_due() {
                Some(due) => {
                    let left = due.saturating_duration_since(now);
                    self.changed.wait_timeout(state, left).0
                }
                None => self.changed.wait(state),
            };
        }
    }
}

/// A timer of a subscription of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimerKey {
    pub(crate) consumer: u64,
    pub(crate) epoch: u64,
    pub(crate) timer: usize,
}

impl TimerKey {
    /// The timer of the batches of a consumer.
    pub(crate) fn of_batches(consumer: u64) -> Self {
        Self {
            consumer,
            epoch: 0,
            timer: usize::MAX,
        }
    }

    pub(crate) fn is_of_batches(&self) -> bool {
        self.timer == usize::MAX
    }
}

/// The timers of a channel. Each has one entry at most.
pub(crate) type Timers = Agenda<Heap>;

#[derive(Default)]
pub(crate) struct Heap(BinaryHeap<Reverse<(Instant, TimerKey)>>);

impl Tasks for Heap {
    type Task = TimerKey;

    fn take(&mut self, now: Instant) -> Option<TimerKey> {
        self.next_due().filter(|due| *due <= now)?;
        self.0.pop().map(|Reverse((_, key))| key)
    }

    fn next_due(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((due, _))| *due)
    }
}

impl Timers {
    pub(crate) fn add(&self, key: TimerKey, due: Instant) {
        self.change(|heap| heap.0.push(Reverse((due, key))));
    }

    pub(crate) fn remove(&self, key: TimerKey) {
        self.retain(|it| *it != key);
    }

    /// Removes the timers of a consumer.
    pub(crate) fn remove_all(&self, consumer: u64) {
        self.retain(|it| it.consumer != consumer);
    }

    /// Removes the timers of earlier subscriptions of a consumer than that number.
    pub(crate) fn remove_before(&self, consumer: u64, epoch: u64) {
        self.retain(|it| it.consumer != consumer || it.epoch >= epoch || it.is_of_batches());
    }

    fn retain(&self, is_kept: impl Fn(&TimerKey) -> bool) {
        self.change(|heap| heap.0.retain(|Reverse((_, key))| is_kept(key)));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().tasks.0.len()
    }
}

/// The times at which peers are checked and observers notified.
pub(crate) type Control = Agenda<Checks>;

#[derive(Default)]
pub(crate) struct Checks {
    observers_are_due: bool,
    ping_due: Option<Instant>,
    pinger_due: Option<Instant>,
}

/// The next task of the thread that checks peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Notify observers of changes.
    Observers,
    /// Ping peers.
    Ping,
    /// Start another thread that pings.
    StartPinger,
}

impl Tasks for Checks {
    type Task = Task;

    fn take(&mut self, now: Instant) -> Option<Task> {
        if std::mem::take(&mut self.observers_are_due) {
            return Some(Task::Observers);
        }
        let of_ping = self.ping_due.take_if(|due| *due <= now);
        let of_ping = of_ping.map(|_| Task::Ping);
        of_ping.or_else(|| {
            self.pinger_due.take_if(|due| *due <= now)?;
            Some(Task::StartPinger)
        })
    }

    fn next_due(&self) -> Option<Instant> {
        self.ping_due.into_iter().chain(self.pinger_due).min()
    }
}

impl Control {
    pub(crate) fn notify_observers(&self) {
        self.change(|checks| checks.observers_are_due = true);
    }

    /// Schedules the next ping of peers after `pause`, later or earlier than before; never if that
    /// time is not representable.
    pub(crate) fn ping_after(&self, pause: Duration) {
        let Some(time) = Instant::now().checked_add(pause) else {
            return;
        };
        self.change(|checks| {
            checks.ping_due = Some(checks.ping_due.map_or(time, |due| due.min(time)));
        });
    }

    /// Schedules the start of another thread that pings.
    pub(crate) fn start_pinger_after(&self, pause: Duration) {
        self.change(|checks| checks.pinger_due = Instant::now().checked_add(pause));
    }
}
