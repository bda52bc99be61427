// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queues of a schedule: the ready work of each, in the order of its dispatching, and the
//! thread that waits for it.

mod ready;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;
use orbium_sched::{Entry, Table};

use crate::config::{ChannelConfig, ConnectError, Dispatching};
use crate::delivery::dispatch::ready::{GuardOf, Ready};
use crate::delivery::start_once::StartOnce;
use crate::statistics::Counter;
use crate::supply::operations::DISPATCH;

/// Maximum number of consumers that wait in an inbox.
const MAX_INBOX: usize = 1 << 16;

/// The place of a consumer in a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of its queue, 0 being the most urgent.
    pub(crate) queue: usize,
    /// The index of its operation, and the entry of the operation that dispatches to it: the
    /// deadline and the time of the thread that the schedule was computed with.
    operation: (usize, &'static Entry),
    /// The period of its operation.
    period: orbium_sched::Time,
}

/// The entry of consumers without RT_Info: the last place of a queue, and no deadline.
static UNSCHEDULED: Entry = Entry::new("", (0, u32::MAX, 0), 0, 0);

/// The queues of a channel; none unless it dispatches by a schedule.
pub(crate) struct DispatchQueues<W> {
    table: &'static Table,
    queues: Vec<Arc<DispatchQueue<W>>>,
    origin: Instant,
}

/// A queue, which one thread serves. Submitting takes no lock: the inbox is lock-free, and the
/// thread alone accesses the ready work.
pub(crate) struct DispatchQueue<W> {
    order: orbium_sched::Dispatching,
    inbox: ArrayQueue<Submitted<W>>,
    /// The thread to wake: set before the first submission.
    waker: OnceLock<Thread>,
    is_closed: AtomicBool,
    /// Whether the thread runs without its native priority.
    is_refused: AtomicBool,
    /// The number of times that a release guard has held work.
    held: Counter,
    /// The epoch of the clock of the queues.
    origin: Instant,
    pub(crate) thread: StartOnce,
}

/// Work in an inbox.
struct Submitted<W> {
    operation: (usize, &'static Entry),
    times: (Duration, Option<Duration>),
    work: W,
}

/// The manner in which a queue makes space.
pub(crate) struct Removal<'r, W> {
    /// Whether work may be removed for other work.
    pub(crate) is_removed: &'r dyn Fn(&W) -> bool,
    /// Receives work for which there is no space nevertheless.
    pub(crate) discard: &'r dyn Fn(W),
}

impl Place {
    /// The period of its operation, if it has one.
    pub(crate) fn period(&self) -> Option<Duration> {
        let period = self.period.as_duration();
        (!period.is_zero()).then_some(period)
    }
}

impl<W> DispatchQueues<W> {
    /// The queues of a channel, each with the capacity of the channel's maximum number of
    /// consumers.
    pub(crate) fn new(config: &ChannelConfig) -> Self {
        let table = match config.dispatching {
            Dispatching::Scheduled(table) => table,
            Dispatching::PerConsumer | Dispatching::Reactive | Dispatching::Contexts => {
                &Table::EMPTY
            }
        };
        let origin = Instant::now();
        let queue = |it: &orbium_sched::Queue| {
            Arc::new(DispatchQueue {
                order: it.dispatching,
                inbox: ArrayQueue::new(config.consumers.clamp(1, MAX_INBOX)),
                waker: OnceLock::new(),
                is_closed: AtomicBool::new(false),
                is_refused: AtomicBool::new(false),
                held: Counter::default(),
                origin,
                thread: StartOnce::default(),
            })
        };
        Self {
            table,
            queues: table.queues.iter().map(queue).collect(),
            origin,
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
            let period = UNSCHEDULED.period;
            return Ok(Place {
                queue,
                operation,
                period,
            });
        }
        let index = rt_info
            .checked_sub(1)
            .and_then(|it| usize::try_from(it).ok());
        let index = index.ok_or(unknown)?;
        let entry = self.table.entry(index).map_err(|_| unknown)?;
        let (queue, _) = self.table.queue_of(entry).ok_or(unknown)?;
        let dispatches = |it: &&Entry| it.name.strip_suffix(DISPATCH) == Some(entry.name);
        let mut entries = self.table.entries.iter();
        Ok(Place {
            queue,
            operation: (index, entries.find(dispatches).unwrap_or(entry)),
            period: entry.period,
        })
    }

    /// The queue of that number, and its entry in the schedule.
    pub(crate) fn queue(
        &self,
        number: usize,
    ) -> Option<(&'static orbium_sched::Queue, &Arc<DispatchQueue<W>>)> {
        Some((self.table.queues.get(number)?, self.queues.get(number)?))
    }

    /// The number of queues that run without their native priority, which the host refused.
    pub(crate) fn refused(&self) -> usize {
        let refused = |it: &&Arc<DispatchQueue<W>>| it.is_refused.load(Ordering::Relaxed);
        self.queues.iter().filter(refused).count()
    }

    /// The number of times that release guards have held work while other work was ready.
    pub(crate) fn held(&self) -> u64 {
        self.queues.iter().map(|it| it.held.count()).sum()
    }

    /// Submits `work` to the queue of a place: events that arrived at that time.
    ///
    /// # Errors
    /// `work`: the queue is full.
    pub(crate) fn submit(&self, place: Place, arrived: Instant, work: W) -> Result<(), W> {
        let Some(queue) = self.queues.get(place.queue) else {
            return Err(work);
        };
        let released = arrived.saturating_duration_since(self.origin);
        let entry = place.operation.1;
        queue.submit(Submitted {
            operation: place.operation,
            times: (released, entry.deadline(released)),
            work,
        })
    }

    /// Removes work from the inbox of a place. Work that its thread has already taken is removed by
    /// the thread when it needs the memory.
    pub(crate) fn remove(&self, place: Place, manner: &Removal<'_, W>) {
        if let Some(queue) = self.queues.get(place.queue) {
            queue.remove(manner);
        }
    }

    /// Ends the threads. Ready work is not served.
    pub(crate) fn close(&self) {
        for queue in &self.queues {
            queue.is_closed.store(true, Ordering::Release);
            queue.wake();
        }
    }
}

impl<W> DispatchQueue<W> {
    /// Registers the thread that serves the queue, before the first submission, and whether the
    /// host refused its native priority.
    pub(crate) fn served_by(&self, thread: &Thread, is_refused: bool) {
        self.is_refused.store(is_refused, Ordering::Relaxed);
        // A second one is never started.
        let _ = self.waker.set(thread.clone());
    }

    /// The initial ready work of the queue's thread.
    pub(crate) fn ready(&self) -> Ready<W> {
        Ready::new(self.order, self.inbox.capacity())
    }

    fn submit(&self, submitted: Submitted<W>) -> Result<(), W> {
        let pushed = self.inbox.push(submitted);
        pushed.map_err(|submitted| submitted.work)?;
        self.wake();
        Ok(())
    }

    /// Unparks the thread: if it does not wait, its next wait returns immediately. A system call
    /// only if it waits.
    fn wake(&self) {
        if let Some(thread) = self.waker.get() {
            thread.unpark();
        }
    }

    fn remove(&self, manner: &Removal<'_, W>) {
        for _ in 0..self.inbox.len() {
            let Some(submitted) = self.inbox.pop() else {
                break;
            };
            if !(manner.is_removed)(&submitted.work)
                && let Err(submitted) = self.inbox.push(submitted)
            {
                (manner.discard)(submitted.work);
            }
        }
        self.wake();
    }

    /// Waits for the most urgent work; `None` once the channel has ended. For the thread that is
    /// [registered](Self::served_by). Work for which `is_removed` returns true makes space for
    /// other work.
    pub(crate) fn next(
        &self,
        ready: &mut Ready<W>,
        is_removed: &dyn Fn(&W) -> bool,
        guard_of: GuardOf<'_, W>,
    ) -> Option<W> {
        loop {
            if self.is_closed.load(Ordering::Acquire) {
                return None;
            }
            self.drain(ready, is_removed);
            let next = ready.pop(guard_of, || self.origin.elapsed());
            self.held.add(ready.take_holds());
            match next {
                Some(work) => return Some(work),
                // Work that is submitted after the last check of the inbox has left a token.
                None => thread::park(),
            }
        }
    }

    /// Takes the work from the inbox, as far as there is space once removable work is removed.
    fn drain(&self, ready: &mut Ready<W>, is_removed: &dyn Fn(&W) -> bool) {
        let bound = self.inbox.capacity();
        loop {
            if ready.len() >= bound {
                ready.retain(|work| !is_removed(work));
            }
            if ready.len() >= bound {
                return;
            }
            let Some(it) = self.inbox.pop() else {
                return;
            };
            ready.push(it.operation, it.times, it.work);
        }
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
        let mut ready = queue.ready();
        let mut next = || queue.next(&mut ready, &|_| false, &|_| None);
        assert_eq!([(); 3].map(|()| next()), [Some(2), Some(1), Some(0)]);
        queues.close();
        assert_eq!(next(), None);
    }

    /// A consumer without a period of its own had no deadline and came last, behind runs that can wait a hundred times as long.
    #[test]
    fn a_consumer_is_ordered_by_the_operation_that_dispatches_to_it() {
        static DISPATCHED: Table = by_deadline(&[
            Entry::new("show", (0, 0, 9), 0, 0),
            Entry::new("slow", (0, 1, 9), 1_000_000, 0),
            Entry::new("show#dispatch", (0, 2, 9), 10_000, 0),
        ]);
        let queues = queues(Dispatching::Scheduled(&DISPATCHED));
        let now = Instant::now();
        for rt_info in [2, 1] {
            let place = queues.place(rt_info).unwrap();
            assert_eq!(queues.submit(place, now, rt_info), Ok(()));
        }
        // Its guard is that of its own period.
        assert_eq!(queues.place(1).unwrap().period(), None);
        let (_, queue) = queues.queue(0).unwrap();
        let mut ready = queue.ready();
        let mut next = || queue.next(&mut ready, &|_| false, &|_| None);
        assert_eq!([(); 2].map(|()| next()), [Some(1), Some(2)]);
    }

    #[test]
    fn work_that_is_removed_leaves_its_place_to_other_work() {
        let queues = queues(Dispatching::Scheduled(&TABLE));
        let (now, place) = (Instant::now(), queues.place(1).unwrap());
        for work in [1, 2, 1] {
            assert_eq!(queues.submit(place, now, work), Ok(()));
        }
        let of_one = Removal {
            is_removed: &|work| *work == 1,
            discard: &|work| panic!("{work} has space"),
        };
        queues.remove(place, &of_one);
        assert_eq!(queues.submit(place, now, 3), Ok(()));
        let (_, queue) = queues.queue(0).unwrap();
        let mut ready = queue.ready();
        let mut next = || queue.next(&mut ready, of_one.is_removed, &|_| None);
        assert_eq!([(); 2].map(|()| next()), [Some(2), Some(3)]);
    }

    #[test]
    fn work_that_the_thread_has_taken_leaves_its_place_too() {
        let queues = queues(Dispatching::Scheduled(&TABLE));
        let (now, place) = (Instant::now(), queues.place(1).unwrap());
        let (_, queue) = queues.queue(0).unwrap();
        let mut ready = queue.ready();
        let mut next = || queue.next(&mut ready, &|work| *work == 1, &|_| None);
        let submit = |all: &[i32]| {
            for work in all {
                assert_eq!(queues.submit(place, now, *work), Ok(()));
            }
        };
        submit(&[0, 1, 1]);
        assert_eq!(next(), Some(0));
        submit(&[2, 3]);
        // Removed work made space for the last one.
        assert_eq!([(); 2].map(|()| next()), [Some(2), Some(3)]);
    }

    #[test]
    fn a_thread_that_waits_is_woken_by_work_and_by_the_end() {
        let queues = queues(Dispatching::Scheduled(&TABLE));
        let (_, queue) = queues.queue(0).unwrap();
        let serving = {
            let queue = Arc::clone(queue);
            thread::spawn(move || {
                let mut ready = queue.ready();
                let next = || queue.next(&mut ready, &|_| false, &|_| None);
                std::iter::from_fn(next).collect::<Vec<_>>()
            })
        };
        queue.served_by(serving.thread(), false);
        let place = queues.place(1).unwrap();
        for work in 0..1000 {
            while queues.submit(place, Instant::now(), work).is_err() {
                thread::yield_now();
            }
        }
        while !queue.inbox.is_empty() {
            thread::yield_now();
        }
        queues.close();
        // The last ones may be ready as the channel ends.
        let served = serving.join().unwrap();
        assert!(served.len() >= 997, "{} served", served.len());
        assert!(served.is_sorted());
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
