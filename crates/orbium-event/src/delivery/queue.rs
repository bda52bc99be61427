// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that wait for one consumer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_queue::ArrayQueue;

use crate::event::{SharedEvent, bytes_of};

/// Treatment of an event for which a consumer's queue has no space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscardPolicy {
    /// The oldest events are discarded.
    #[default]
    Oldest,
    /// The new event is discarded.
    Newest,
    /// An event replaces the waiting one of the same type and source, full queue or not; if there
    /// is none, the oldest events are discarded. For events that tell a state.
    Coalesce,
    /// The consumer is disconnected.
    Disconnect,
}

/// The bounds of a consumer's queue, and what happens beyond them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Sets of events; 1,024 by default.
    pub sets: usize,
    /// Bytes of all events in the queue; 4 MiB by default.
    pub bytes: usize,
    /// What is discarded beyond the bounds.
    pub discard: DiscardPolicy,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            sets: 1024,
            bytes: 4 << 20,
            discard: DiscardPolicy::default(),
        }
    }
}

/// What has become of a set that was put into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It waits; so many events of others were discarded for it.
    Queued { discarded: u64 },
    /// Its events were discarded.
    Discarded,
    /// The consumer is to be disconnected.
    Overflow,
}

/// Events delivered together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EventSet {
    One(SharedEvent),
    Several(Box<[SharedEvent]>),
}

impl EventSet {
    /// The events, taken out of a buffer that can be used again.
    pub(crate) fn take(events: &mut Vec<SharedEvent>) -> Option<Self> {
        match events.len() {
            0 => None,
            1 => events.pop().map(Self::One),
            _ => Some(Self::Several(events.drain(..).collect())),
        }
    }

    pub(crate) fn events(&self) -> &[SharedEvent] {
        match self {
            Self::One(event) => std::slice::from_ref(event),
            Self::Several(events) => events,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.events().len() as u64
    }

    fn bytes(&self) -> usize {
        self.events().iter().map(|event| bytes_of(event)).sum()
    }
}

/// A set, and when it arrived.
type Arrived = (EventSet, Instant);

/// Sets that a consumer takes without the lock under which they are put, at most.
const MAX_FRONT: usize = 64;

/// The sets that wait for one consumer: the first ones in front, from where one thread at a time takes them without a lock; those
/// for which there is no space in front behind, under the lock of the consumer. What is in front is older.
#[derive(Debug)]
pub(crate) struct Queue {
    limits: QueueLimits,
    front: ArrayQueue<Arrived>,
    /// How many are behind: stored under the lock. In the order of all that concerns the front: a producer stores it, then
    /// checks the length of the front; the consumer empties the front, then loads it (Dekker).
    behind: AtomicUsize,
    bytes: AtomicUsize,
}

/// The sets behind those in front, which the lock of the consumer guards.
pub(crate) type Behind = VecDeque<Arrived>;

/// What is taken without the lock.
pub(crate) enum Taken {
    Set(EventSet),
    /// There are sets behind, for which the lock is needed.
    Behind,
    Nothing,
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            front: ArrayQueue::new(limits.sets.clamp(1, MAX_FRONT)),
            behind: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }

    pub(crate) fn put(&self, behind: &mut Behind, set: EventSet, arrived: Instant) -> Put {
        let bytes = set.bytes();
        let mut discarded = 0;
        if self.coalesces() {
            discarded += self.remove_same(behind, &set);
        }
        while !self.has_space(bytes) {
            match self.limits.discard {
                DiscardPolicy::Disconnect => return Put::Overflow,
                DiscardPolicy::Newest => return Put::Discarded,
                DiscardPolicy::Oldest | DiscardPolicy::Coalesce => match self.pop(behind) {
                    Some(oldest) => discarded += oldest.len(),
                    // It alone exceeds the bounds.
                    None => return Put::Discarded,
                },
            }
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut arrived = (set, arrived);
        if behind.is_empty() && !self.coalesces() {
            match self.front.push(arrived) {
                Ok(()) => return Put::Queued { discarded },
                Err(back) => arrived = back,
            }
        }
        behind.push_back(arrived);
        self.behind.store(behind.len(), Ordering::SeqCst);
        Put::Queued { discarded }
    }

    /// Takes the oldest set if it is in front.
    pub(crate) fn take(&self) -> Taken {
        match self.front.pop() {
            Some((set, _)) => Taken::Set(self.taken(set)),
            None if self.behind.load(Ordering::SeqCst) > 0 => Taken::Behind,
            None => Taken::Nothing,
        }
    }

    /// Takes the oldest set, and moves those behind it to the front.
    pub(crate) fn pop(&self, behind: &mut Behind) -> Option<EventSet> {
        let first = self.front.pop().or_else(|| behind.pop_front());
        while !self.coalesces()
            && let Some(next) = behind.pop_front()
        {
            if let Err(next) = self.front.push(next) {
                behind.push_front(next);
                break;
            }
        }
        self.behind.store(behind.len(), Ordering::SeqCst);
        first.map(|(set, _)| self.taken(set))
    }

    /// Takes the oldest set, and leaves all others behind, for [`next_arrived`](Self::next_arrived).
    pub(crate) fn pop_behind(&self, behind: &mut Behind) -> Option<EventSet> {
        self.gather(behind);
        let first = behind.pop_front();
        self.behind.store(behind.len(), Ordering::SeqCst);
        first.map(|(set, _)| self.taken(set))
    }

    pub(crate) fn len(&self) -> usize {
        self.front.len() + self.behind.load(Ordering::SeqCst)
    }

    /// When the set arrived that is next. All sets are behind then.
    pub(crate) fn next_arrived(&self, behind: &mut Behind) -> Option<Instant> {
        self.gather(behind);
        behind.front().map(|(_, arrived)| *arrived)
    }

    /// Discards all, and returns how many events that were.
    pub(crate) fn clear(&self, behind: &mut Behind) -> u64 {
        self.gather(behind);
        let all = behind.drain(..).map(|(set, _)| self.taken(set).len());
        let discarded = all.sum();
        self.behind.store(0, Ordering::SeqCst);
        discarded
    }

    /// Whether all wait behind, where the lock is held while one is replaced.
    fn coalesces(&self) -> bool {
        self.limits.discard == DiscardPolicy::Coalesce
    }

    fn taken(&self, set: EventSet) -> EventSet {
        self.bytes.fetch_sub(set.bytes(), Ordering::Relaxed);
        set
    }

    fn has_space(&self, bytes: usize) -> bool {
        let occupied = self.bytes.load(Ordering::Relaxed);
        self.len() < self.limits.sets && occupied.saturating_add(bytes) <= self.limits.bytes
    }

    /// Moves what is in front behind, in its order. The consumer may take sets from the front as it is done.
    fn gather(&self, behind: &mut Behind) {
        let mut moved = 0;
        while let Some(arrived) = self.front.pop() {
            behind.push_back(arrived);
            moved += 1;
        }
        behind.rotate_right(moved);
        self.behind.store(behind.len(), Ordering::SeqCst);
    }

    /// Removes the waiting event of the same type and source; the number of those removed.
    fn remove_same(&self, behind: &mut Behind, set: &EventSet) -> u64 {
        let key = |set: &EventSet| match set {
            EventSet::One(event) => Some((event.header.r#type, event.header.source)),
            EventSet::Several(_) => None,
        };
        let Some(wanted) = key(set) else { return 0 };
        let found = behind.iter().position(|(it, _)| key(it) == Some(wanted));
        let Some((removed, _)) = found.and_then(|at| behind.remove(at)) else {
            return 0;
        };
        self.behind.store(behind.len(), Ordering::SeqCst);
        self.taken(removed).len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::new_event;

    struct Waiting(Queue, Behind);

    impl Waiting {
        fn put(&mut self, set: EventSet) -> Put {
            self.0.put(&mut self.1, set, Instant::now())
        }

        /// As the consumer takes them.
        fn types(&mut self) -> Vec<i32> {
            let mut types = Vec::new();
            loop {
                let set = match self.0.take() {
                    Taken::Set(set) => set,
                    Taken::Behind => self.0.pop(&mut self.1).unwrap(),
                    Taken::Nothing => return types,
                };
                types.extend(set.events().iter().map(|it| it.header.r#type));
            }
        }
    }

    fn queue(sets: usize, bytes: usize, discard: DiscardPolicy) -> Waiting {
        let limits = QueueLimits {
            sets,
            bytes,
            discard,
        };
        Waiting(Queue::new(limits), Behind::new())
    }

    fn one(r#type: i32, payload: usize) -> EventSet {
        let mut event = new_event(r#type, 1);
        event.data.payload = vec![0; payload];
        EventSet::One(Arc::new(event))
    }

    #[test]
    fn the_oldest_events_are_discarded() {
        let mut queue = queue(2, 1 << 20, DiscardPolicy::Oldest);
        queue.put(one(16, 0));
        queue.put(one(17, 0));
        assert_eq!(queue.put(one(18, 0)), Put::Queued { discarded: 1 });
        assert_eq!(queue.types(), [17, 18]);
    }

    #[test]
    fn the_newest_event_is_discarded() {
        let mut queue = queue(1, 1 << 20, DiscardPolicy::Newest);
        queue.put(one(16, 0));
        assert_eq!(queue.put(one(17, 0)), Put::Discarded);
        assert_eq!(queue.types(), [16]);
    }

    #[test]
    fn events_of_one_type_and_source_coalesce() {
        let mut queue = queue(2, 1 << 20, DiscardPolicy::Coalesce);
        queue.put(one(16, 1));
        queue.put(one(17, 1));
        assert_eq!(queue.put(one(16, 2)), Put::Queued { discarded: 1 });
        assert_eq!(queue.put(one(18, 2)), Put::Queued { discarded: 1 });
        assert_eq!(queue.types(), [16, 18]);
    }

    #[test]
    fn a_full_queue_can_ask_for_disconnection() {
        let mut queue = queue(1, 1 << 20, DiscardPolicy::Disconnect);
        queue.put(one(16, 0));
        assert_eq!(queue.put(one(17, 0)), Put::Overflow);
    }

    #[test]
    fn bytes_are_bounded_and_accounted() {
        let mut queue = queue(100, 10_000, DiscardPolicy::Oldest);
        assert_eq!(queue.put(one(16, 20_000)), Put::Discarded);
        for _ in 0..5 {
            queue.put(one(16, 4_000));
        }
        assert_eq!(queue.0.len(), 2);
        assert_eq!(queue.0.clear(&mut queue.1), 2);
        assert_eq!(queue.0.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn sets_keep_their_order_in_front_and_behind() {
        let count = i32::try_from(3 * MAX_FRONT).unwrap();
        let mut queue = queue(10 * MAX_FRONT, 1 << 30, DiscardPolicy::Oldest);
        let put = |queue: &mut Waiting, range: std::ops::Range<i32>| {
            for r#type in range {
                assert_eq!(queue.put(one(r#type, 0)), Put::Queued { discarded: 0 });
            }
        };
        put(&mut queue, 0..count);
        assert!(matches!(queue.0.take(), Taken::Set(_)));
        // There is space in front, and older sets are behind.
        put(&mut queue, count..count + 1);
        assert!(queue.0.next_arrived(&mut queue.1).is_some());
        assert!(matches!(queue.0.take(), Taken::Behind));
        put(&mut queue, count + 1..count + 2);
        assert_eq!(queue.types(), (1..count + 2).collect::<Vec<_>>());
        put(&mut queue, 0..1);
        assert!(matches!(queue.0.take(), Taken::Set(_)));
        assert_eq!(queue.0.len(), 0);
    }

    #[test]
    fn sets_are_taken_in_order_as_they_are_put() {
        let count = 10_000;
        let mut waiting = queue(count, 1 << 30, DiscardPolicy::Oldest);
        let Waiting(queue, behind) = &mut waiting;
        let behind = orbium::lock::Mutex::new(behind);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for r#type in 0..count {
                    let set = one(i32::try_from(r#type).unwrap(), 0);
                    queue.put(&mut behind.lock(), set, Instant::now());
                }
            });
            let mut types = Vec::new();
            while types.len() < count {
                let set = match queue.take() {
                    Taken::Set(set) => Some(set),
                    Taken::Behind => queue.pop(&mut behind.lock()),
                    Taken::Nothing => None,
                };
                match set {
                    Some(set) => types.push(set.events()[0].header.r#type),
                    None => std::thread::yield_now(),
                }
            }
            assert!(types.is_sorted());
        });
    }
}
