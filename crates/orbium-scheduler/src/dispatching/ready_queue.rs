// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ready queue of the schedule, in the order of dispatching. Without a clock and threads.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

use orbium_sched::{Dispatching, Entry};

/// Maximum number of runs for which memory is allocated initially.
const MAX_RESERVED: usize = 1 << 16;

/// The waiting runs of a queue, the most urgent first: by subpriority, earliest deadline or least
/// laxity, and in the order of their arrival among equals.
///
/// ```
/// use orbium_sched::{Dispatching, Entry};
/// use orbium_scheduler::ReadyQueue;
/// use std::time::Duration;
///
/// let mut queue = ReadyQueue::new(Dispatching::Deadline, 2);
/// let entry = Entry::new("Log::write", (0, 0, 99), 500_000, 10_000);
/// let ms = Duration::from_millis;
/// queue.push((0, &entry), (ms(0), Some(ms(90))), "late")?;
/// queue.push((0, &entry), (ms(1), Some(ms(50))), "soon")?;
/// assert_eq!(queue.push((0, &entry), (ms(2), None), "full"), Err("full"));
/// assert_eq!(queue.pop().map(|it| it.work), Some("soon"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct ReadyQueue<W> {
    dispatching: Dispatching,
    bound: usize,
    submitted: u64,
    waiting: BinaryHeap<Waiting<W>>,
}

/// A waiting run.
#[derive(Debug)]
pub struct Waiting<W> {
    order: (i128, u32, u64),
    /// The index of the operation in its table.
    pub operation: usize,
    /// Its release time, on the clock of the threads that push.
    pub released: Duration,
    /// Its deadline, on the same clock.
    pub deadline: Option<Duration>,
    /// The work to run.
    pub work: W,
}

impl<W> ReadyQueue<W> {
    /// A queue for at most `bound` runs. Their memory is allocated initially; beyond 65,536 it
    /// grows with the queue.
    #[must_use]
    pub fn new(dispatching: Dispatching, bound: usize) -> Self {
        Self {
            dispatching,
            bound,
            submitted: 0,
            waiting: BinaryHeap::with_capacity(bound.min(MAX_RESERVED)),
        }
    }

    /// Adds a run of the operation of that index, with its release and its deadline.
    ///
    /// # Errors
    /// `work`: the queue is full.
    pub fn push(
        &mut self,
        (operation, entry): (usize, &Entry),
        (released, deadline): (Duration, Option<Duration>),
        work: W,
    ) -> Result<(), W> {
        if self.waiting.len() >= self.bound {
            return Err(work);
        }
        let urgency = match self.dispatching {
            Dispatching::Static | Dispatching::TimeSliced => 0,
            Dispatching::Deadline => deadline.map_or(i128::MAX, nanoseconds),
            // The laxity of all waiting runs decreases equally, so its order is that of the latest
            // starts.
            Dispatching::Laxity => deadline.map_or(i128::MAX, |deadline| {
                nanoseconds(deadline) - i128::from(entry.worst_case.ticks()) * 100
            }),
        };
        let place = match self.dispatching {
            Dispatching::TimeSliced => 0,
            _ => entry.assignment.subpriority,
        };
        self.waiting.push(Waiting {
            order: (urgency, place, self.submitted),
            operation,
            released,
            deadline,
            work,
        });
        self.submitted += 1;
        Ok(())
    }

    /// The most urgent run.
    pub fn pop(&mut self) -> Option<Waiting<W>> {
        self.waiting.pop()
    }

    /// Removes the runs for which `is_kept` is false.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&W) -> bool) {
        self.waiting.retain(|it| is_kept(&it.work));
    }

    /// The number of waiting runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

fn nanoseconds(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

impl<W> Ord for Waiting<W> {
    /// The greatest is the most urgent, as the heap requires.
    fn cmp(&self, other: &Self) -> Ordering {
        other.order.cmp(&self.order)
    }
}

impl<W> PartialOrd for Waiting<W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<W> PartialEq for Waiting<W> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<W> Eq for Waiting<W> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subpriority, deadline and worst case in milliseconds of the runs; returns their order.
    fn order(dispatching: Dispatching, runs: &[(u32, Option<u64>, u64)]) -> Vec<usize> {
        let mut queue = ReadyQueue::new(dispatching, runs.len());
        for (number, (place, deadline, worst_case)) in runs.iter().enumerate() {
            let entry = Entry::new("", (0, *place, 1), 0, worst_case * 10_000);
            let deadline = deadline.map(Duration::from_millis);
            let pushed = queue.push((number, &entry), (Duration::ZERO, deadline), ());
            assert_eq!(pushed, Ok(()));
        }
        let popped = std::iter::from_fn(|| queue.pop().map(|it| it.operation));
        popped.collect()
    }

    #[test]
    fn each_dispatching_has_its_order() {
        // The second ends first, and the third has to begin first.
        let runs = [
            (2, Some(90), 10),
            (1, Some(50), 10),
            (1, Some(60), 55),
            (0, None, 1),
        ];
        assert_eq!(order(Dispatching::Static, &runs), [3, 1, 2, 0]);
        assert_eq!(order(Dispatching::Deadline, &runs), [1, 2, 0, 3]);
        assert_eq!(order(Dispatching::Laxity, &runs), [2, 1, 0, 3]);
        assert_eq!(order(Dispatching::TimeSliced, &runs), [0, 1, 2, 3]);
    }

    #[test]
    fn equals_are_ordered_by_subpriority_and_arrival() {
        let runs = [(1, Some(50), 1), (0, Some(50), 1), (1, Some(50), 1)];
        for dispatching in [Dispatching::Deadline, Dispatching::Laxity] {
            assert_eq!(order(dispatching, &runs), [1, 0, 2]);
        }
    }

    #[test]
    fn a_queue_without_a_bound_takes_little_memory() {
        let mut queue = ReadyQueue::new(Dispatching::Static, usize::MAX);
        let entry = Entry::new("", (0, 0, 1), 0, 0);
        assert_eq!(queue.push((0, &entry), (Duration::ZERO, None), ()), Ok(()));
        assert!(queue.waiting.capacity() <= 2 * MAX_RESERVED);
    }

    #[test]
    fn remaining_runs_keep_their_order() {
        let mut queue = ReadyQueue::new(Dispatching::Static, 4);
        for work in [3, 1, 2, 0] {
            let entry = Entry::new("", (0, work, 1), 0, 0);
            assert_eq!(
                queue.push((0, &entry), (Duration::ZERO, None), work),
                Ok(())
            );
        }
        queue.retain(|work| *work != 1);
        let popped = std::iter::from_fn(|| queue.pop().map(|it| it.work));
        assert_eq!(popped.collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn a_full_queue_gives_the_work_back() {
        let mut queue = ReadyQueue::new(Dispatching::Static, 1);
        let entry = Entry::new("", (0, 0, 1), 0, 0);
        let times = (Duration::ZERO, None);
        assert_eq!(queue.push((0, &entry), times, 'a'), Ok(()));
        assert_eq!(queue.push((0, &entry), times, 'b'), Err('b'));
        assert_eq!((queue.len(), queue.pop().map(|it| it.work)), (1, Some('a')));
        assert_eq!(queue.push((0, &entry), times, 'b'), Ok(()));
    }
}
