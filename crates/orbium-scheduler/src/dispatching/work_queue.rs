// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue of the schedule that one thread serves.

use std::fmt;
use std::time::Duration;

use orbium::lock::{Condvar, Mutex, MutexGuard};
use orbium_sched::{Dispatching, Entry};

use crate::dispatching::ready_queue::{ReadyQueue, Waiting};

/// A [`ReadyQueue`] that one thread serves and others submit to.
///
/// ```
/// use orbium_sched::{Dispatching, Entry};
/// use orbium_scheduler::WorkQueue;
/// use std::time::Duration;
///
/// let queue = WorkQueue::new(Dispatching::Static, 8);
/// let entry = Entry::new("Log::write", (0, 0, 99), 500_000, 10_000);
/// std::thread::scope(|scope| {
///     let served = scope.spawn(|| queue.next().map(|it| it.work));
///     queue.submit((0, &entry), (Duration::ZERO, None), "line")?;
///     assert_eq!(served.join().ok().flatten(), Some("line"));
///     queue.close();
///     assert!(queue.next().is_none());
///     Ok::<(), orbium_scheduler::Refused<&str>>(())
/// })?;
/// # Ok::<(), orbium_scheduler::Refused<&str>>(())
/// ```
pub struct WorkQueue<W> {
    state: Mutex<State<W>>,
    submitted: Condvar,
}

struct State<W> {
    ready: ReadyQueue<W>,
    is_waited_for: bool,
    is_closed: bool,
}

/// Work that a queue does not accept, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused<W> {
    /// The queue is full.
    Full(W),
    /// The queue is closed.
    Closed(W),
}

impl<W> Refused<W> {
    /// The work.
    #[must_use]
    pub fn into_work(self) -> W {
        match self {
            Self::Full(work) | Self::Closed(work) => work,
        }
    }
}

impl<W> WorkQueue<W> {
    /// A queue for at most `bound` runs, as [`ReadyQueue::new`].
    #[must_use]
    pub fn new(dispatching: Dispatching, bound: usize) -> Self {
        Self {
            state: Mutex::new(State {
                ready: ReadyQueue::new(dispatching, bound),
                is_waited_for: false,
                is_closed: false,
            }),
            submitted: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock()
    }

    /// Adds a run of the operation of that index, with its release and its deadline, and notifies the
    /// thread if it waits.
    ///
    /// # Errors
    /// [`Refused`], with the work: no lock is held when it is dropped.
    pub fn submit(
        &self,
        operation: (usize, &Entry),
        times: (Duration, Option<Duration>),
        work: W,
    ) -> Result<(), Refused<W>> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(Refused::Closed(work));
        }
        let pushed = state.ready.push(operation, times, work);
        pushed.map_err(Refused::Full)?;
        if std::mem::take(&mut state.is_waited_for) {
            self.submitted.notify_one();
        }
        Ok(())
    }

    /// Waits for the most urgent run; none once the queue is closed. For one thread.
    pub fn next(&self) -> Option<Waiting<W>> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(waiting) = state.ready.pop() {
                return Some(waiting);
            }
            state.is_waited_for = true;
            state = self.submitted.wait(state);
        }
    }

    /// The most urgent run, also of a closed queue, without waiting.
    pub fn pop(&self) -> Option<Waiting<W>> {
        self.lock().ready.pop()
    }

    /// Removes the runs for which `is_kept` is false.
    pub fn retain(&self, is_kept: impl FnMut(&W) -> bool) {
        self.lock().ready.retain(is_kept);
    }

    /// The number of waiting items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().ready.len()
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().ready.is_empty()
    }

    /// Ends the thread after its present run. Waiting work is not run.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.submitted.notify_all();
    }
}

impl<W> fmt::Debug for WorkQueue<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_items_come_back_with_the_reason() {
        let queue = WorkQueue::new(Dispatching::Static, 1);
        let entry = Entry::new("", (0, 0, 1), 0, 0);
        let submit = |work| queue.submit((0, &entry), (Duration::ZERO, None), work);
        assert_eq!(submit('a'), Ok(()));
        assert_eq!(submit('b'), Err(Refused::Full('b')));
        queue.retain(|work| *work != 'a');
        assert_eq!(submit('b'), Ok(()));
        queue.close();
        assert_eq!(submit('c'), Err(Refused::Closed('c')));
        assert_eq!(submit('c').map_err(Refused::into_work), Err('c'));
        assert!(queue.next().is_none());
        assert_eq!(queue.len(), 1);
        assert_eq!(queue.pop().map(|it| it.work), Some('b'));
        assert!(queue.is_empty());
    }
}
