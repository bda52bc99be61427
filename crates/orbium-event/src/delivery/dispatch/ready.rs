// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work that the thread of a queue of the schedule has taken: ready in its order, or held by a release guard. Without a
//! clock and threads.

use std::time::Duration;

use orbium_sched::{Dispatching, Entry};
use orbium_scheduler::{ReadyQueue, Waiting};

use crate::delivery::release_guard::ReleaseGuard;

/// Work that the thread of a queue has taken from the inbox, in the order of the queue's
/// dispatching.
pub(crate) struct Ready<W> {
    queue: ReadyQueue<(W, &'static Entry)>,
    held: Vec<Held<W>>,
    /// The number of times that work was held.
    holds: u64,
}

/// Work that a release guard holds.
struct Held<W> {
    until: Duration,
    waiting: Waiting<(W, &'static Entry)>,
}

/// The guard of some work, if it has one.
pub(crate) type GuardOf<'g, W> = &'g dyn for<'w> Fn(&'w W) -> Option<&'w ReleaseGuard>;

impl<W> Ready<W> {
    pub(super) fn new(order: Dispatching, bound: usize) -> Self {
        Self {
            queue: ReadyQueue::new(order, bound),
            held: Vec::new(),
            holds: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len() + self.held.len()
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(&W) -> bool) {
        self.queue.retain(|(work, _)| is_kept(work));
        self.held.retain(|it| is_kept(&it.waiting.work.0));
    }

    /// Adds work. The caller has checked that there is space.
    pub(super) fn push(
        &mut self,
        operation: (usize, &'static Entry),
        times: (Duration, Option<Duration>),
        work: W,
    ) {
        // The caller has checked that there is space.
        let _ = self.queue.push(operation, times, (work, operation.1));
    }

    /// The most urgent work that is not held. If there is none, the queue is idle: then the held
    /// work with the earliest release.
    pub(super) fn pop(
        &mut self,
        guard_of: GuardOf<'_, W>,
        now: impl Fn() -> Duration,
    ) -> Option<W> {
        if !self.held.is_empty() {
            self.end_holds(now());
        }
        while let Some(waiting) = self.queue.pop() {
            let Some(guard) = guard_of(&waiting.work.0) else {
                return Some(waiting.work.0);
            };
            let now = now();
            match guard.early(now) {
                None => {
                    guard.released(now);
                    return Some(waiting.work.0);
                }
                Some(until) => self.held.push(Held { until, waiting }),
            }
            self.holds += u64::from(!self.queue.is_empty());
        }
        let held = self.held.iter().enumerate();
        let (first, _) = held.min_by_key(|(_, it)| it.until)?;
        let work = self.held.swap_remove(first).waiting.work.0;
        if let Some(guard) = guard_of(&work) {
            guard.released(now());
        }
        Some(work)
    }

    /// The number of times that work was held while other work was ready, since the last call.
    pub(super) fn take_holds(&mut self) -> u64 {
        std::mem::take(&mut self.holds)
    }

    fn end_holds(&mut self, now: Duration) {
        let due = |it: &mut Held<W>| it.until <= now;
        let due: Vec<_> = self.held.extract_if(.., due).collect();
        for Held { waiting, .. } in due {
            let times = (waiting.released, waiting.deadline);
            let (work, entry) = waiting.work;
            self.push((waiting.operation, entry), times, work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    static ANY_OPERATION: Entry = Entry::new("any", (0, 0, 9), 500_000, 0);
    const MS: Duration = Duration::from_millis(1);

    /// A number with its guard.
    type Work = (usize, Option<Arc<ReleaseGuard>>);

    const GUARD_OF: GuardOf<'_, Work> = &|work| work.1.as_deref();

    /// Numbers of which some have their own guards.
    struct Queue(Ready<Work>, [Arc<ReleaseGuard>; 2]);

    impl Queue {
        fn new() -> Self {
            let guards = [(); 2].map(|()| Arc::new(ReleaseGuard::new(10 * MS)));
            Self(Ready::new(Dispatching::Static, 9), guards)
        }

        /// 0 and 1 are guarded.
        fn push(&mut self, all: &[usize]) {
            for number in all {
                let work = (*number, self.1.get(*number).cloned());
                self.0.push((0, &ANY_OPERATION), (MS, None), work);
            }
        }

        fn pop(&mut self, now: u32) -> Option<usize> {
            let popped = self.0.pop(GUARD_OF, || now * MS);
            popped.map(|(number, _)| number)
        }
    }

    #[test]
    fn early_work_waits_for_other_work_or_its_time() {
        let mut queue = Queue::new();
        queue.push(&[0, 0, 1, 7]);
        assert_eq!(queue.pop(1), Some(0));
        // The second one is early.
        assert_eq!(queue.pop(2), Some(1));
        assert_eq!(queue.0.take_holds(), 1);
        assert_eq!(queue.pop(3), Some(7));
        assert_eq!(queue.0.len(), 1);
        // Idle: it is released early, and the next one 10 ms later.
        assert_eq!(queue.pop(4), Some(0));
        queue.push(&[0, 7, 8]);
        assert_eq!(queue.pop(12), Some(7));
        // By its time, behind work that was ready earlier.
        assert_eq!([(); 3].map(|()| queue.pop(14)), [Some(8), Some(0), None]);
    }

    #[test]
    fn work_that_is_held_is_removed_too() {
        let mut queue = Queue::new();
        queue.push(&[0, 0, 5, 6]);
        assert_eq!([(); 2].map(|()| queue.pop(1)), [Some(0), Some(5)]);
        queue.0.retain(|(number, _)| *number != 0);
        assert_eq!([(); 2].map(|()| queue.pop(1)), [Some(6), None]);
    }
}
