// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queues of a schedule: what is ready in each, in the order of its dispatching, and the thread
//! that waits for it.

use std::sync::Arc;
use std::time::Instant;

use orbium_sched::{Entry, Table};
use orbium_scheduler::{Refused, WorkQueue};

use crate::config::{ChannelConfig, ConnectError, Dispatching};
use crate::start_once::StartOnce;

/// The place of a consumer in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of its queue, 0 being the most urgent.
    pub(crate) queue: usize,
    /// The index of its operation, and what the table has for it.
    operation: (usize, &'static Entry),
}

/// What consumers without RT_Info have: the last place of a queue, and no deadline.
static UNSCHEDULED: Entry = Entry::new("", (0, u32::MAX, 0), 0, 0);

/// The queues of a channel; none unless it dispatches by a schedule.
pub(crate) struct DispatchQueues<W> {
    table: &'static Table,
    queues: Vec<Arc<DispatchQueue<W>>>,
    origin: Instant,
}

/// A queue, which one thread serves.
pub(crate) struct DispatchQueue<W> {
    pub(crate) work: WorkQueue<W>,
    pub(crate) thread: StartOnce,
}

impl<W> DispatchQueues<W> {
    /// The queues of a channel, each with room for as many as the channel has consumers.
    pub(crate) fn new(config: &ChannelConfig) -> Self {
        let table = match config.dispatching {
            Dispatching::Scheduled(table) => table,
            Dispatching::PerConsumer | Dispatching::Reactive => &Table::EMPTY,
        };
        let queue = |it: &orbium_sched::Queue| {
            Arc::new(DispatchQueue {
                work: WorkQueue::new(it.dispatching, config.consumers),
                thread: StartOnce::default(),
            })
        };
        Self {
            table,
            queues: table.queues.iter().map(queue).collect(),
            origin: Instant::now(),
        }
    }

    /// The place of a consumer with that RT_Info.
    ///
    /// # Errors
    /// [`ConnectError::RtInfo`]: the schedule has none.
    pub(crate) fn place(&self, rt_info: i32) -> Result<Place, ConnectError> {
        let unknown = ConnectError::RtInfo(rt_info);
        if rt_info == 0 {
            let queue = self.queues.len().checked_sub(1).ok_or(unknown)?;
            let operation = (usize::MAX, &UNSCHEDULED);
            return Ok(Place { queue, operation });
        }
        let index = rt_info
            .checked_sub(1)
            .and_then(|it| usize::try_from(it).ok());
        let index = index.ok_or(unknown)?;
        let entry = self.table.entry(index).map_err(|_| unknown)?;
        let (queue, _) = self.table.queue_of(entry).ok_or(unknown)?;
        let operation = (index, entry);
        Ok(Place { queue, operation })
    }

    /// The queue of that number, and what the schedule has for it.
    pub(crate) fn queue(
        &self,
        number: usize,
    ) -> Option<(&'static orbium_sched::Queue, &Arc<DispatchQueue<W>>)> {
        Some((self.table.queues.get(number)?, self.queues.get(number)?))
    }

    /// Has the queue of a place serve `work`: events that arrived at that time.
    ///
    /// # Errors
    /// `work`: the queue is full.
    pub(crate) fn submit(&self, place: Place, arrived: Instant, work: W) -> Result<(), W> {
        let Some(queue) = self.queues.get(place.queue) else {
            return Err(work);
        };
        let released = arrived.saturating_duration_since(self.origin);
        let (index, entry) = place.operation;
        let times = (released, entry.deadline(released));
        let submitted = queue.work.submit((index, entry), times, work);
        submitted.map_err(Refused::into_work)
    }

    /// Removes work from the queue of a place.
    pub(crate) fn remove(&self, place: Place, is_removed: impl Fn(&W) -> bool) {
        if let Some(queue) = self.queues.get(place.queue) {
            queue.work.retain(|work| !is_removed(work));
        }
    }

    /// Ends the threads. What is ready is not served.
    pub(crate) fn close(&self) {
        for queue in &self.queues {
            queue.work.close();
        }
    }
}

impl<W> DispatchQueue<W> {
    /// Waits for the most urgent work; `None` once the channel has ended.
    pub(crate) fn next(&self) -> Option<W> {
        self.work.next().map(|waiting| waiting.work)
    }
}

#[cfg(test)]
mod tests {
    use orbium_sched::{Dispatching as Order, Queue};

    use super::*;

    const fn by_deadline(entries: &'static [Entry]) -> Table {
        Table {
            entries,
            queues: &[Queue {
                priority: 9,
                dispatching: Order::Deadline,
            }],
            ..Table::EMPTY
        }
    }

    static TABLE: Table = by_deadline(&[
        Entry::new("slow", (0, 0, 9), 1_000_000, 0),
        Entry::new("fast", (0, 1, 9), 10_000, 0),
        Entry::new("of no queue", (7, 0, 9), 10_000, 0),
    ]);

    fn queues(dispatching: Dispatching) -> DispatchQueues<i32> {
        DispatchQueues::new(&ChannelConfig {
            dispatching,
            consumers: 3,
            ..ChannelConfig::default()
        })
    }

    #[test]
    fn the_earliest_deadline_is_served_first() {
        let queues = queues(Dispatching::Scheduled(&TABLE));
        let now = Instant::now();
        for rt_info in [0, 1, 2] {
            let place = queues.place(rt_info).unwrap();
            assert_eq!(queues.submit(place, now, rt_info), Ok(()));
        }
        let place = queues.place(1).unwrap();
        assert_eq!(queues.submit(place, now, 4), Err(4));
        let (_, queue) = queues.queue(0).unwrap();
        assert_eq!([(); 3].map(|()| queue.next()), [Some(2), Some(1), Some(0)]);
        queues.close();
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn work_that_is_removed_leaves_its_place_to_other_work() {
        let queues = queues(Dispatching::Scheduled(&TABLE));
        let (now, place) = (Instant::now(), queues.place(1).unwrap());
        for work in [1, 2, 1] {
            assert_eq!(queues.submit(place, now, work), Ok(()));
        }
        queues.remove(place, |work| *work == 1);
        assert_eq!(queues.submit(place, now, 3), Ok(()));
        let (_, queue) = queues.queue(0).unwrap();
        assert_eq!([(); 2].map(|()| queue.next()), [Some(2), Some(3)]);
    }

    #[test]
    fn rt_infos_without_a_queue_are_refused() {
        let scheduled = queues(Dispatching::Scheduled(&TABLE));
        for rt_info in [-1, i32::MIN, 3, 4, i32::MAX] {
            let refused = scheduled.place(rt_info);
            assert_eq!(refused, Err(ConnectError::RtInfo(rt_info)));
        }
        let other = queues(Dispatching::PerConsumer);
        assert_eq!(other.place(0), Err(ConnectError::RtInfo(0)));
    }
}
