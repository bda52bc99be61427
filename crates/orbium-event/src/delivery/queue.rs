// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of events of one consumer.

mod event_set;
pub(crate) mod limits;
mod space;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_queue::ArrayQueue;

pub(crate) use crate::delivery::queue::event_set::EventSet;
use crate::delivery::queue::limits::{DiscardPolicy, QueueLimits, Rank};
use crate::delivery::queue::space::Space;
use crate::statistics::Counter;

/// Outcome of putting a set into a queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Put {
    /// It waits; so many other events were discarded for it.
    Queued { discarded: u64 },
    /// Its events were discarded, and so many others.
    Discarded { others: u64 },
    /// The consumer is to be disconnected.
    Overflow,
    /// There is no space for this set, and the thread that puts it is to wait for so long.
    Full(EventSet, Duration),
}

/// A set that waits.
#[derive(Debug)]
pub(crate) struct Arrived {
    set: EventSet,
    at: Instant,
    /// Counts the sets of the consumer.
    number: u64,
    rank: Rank,
}

/// Maximum number of sets that a consumer takes without the lock under which they are put.
const MAX_FRONT: usize = 64;

/// The sets that wait for one consumer: the first ones in front, from where one thread at a time
/// takes them without a lock; those that do not fit in front are behind, under the lock of the
/// consumer. Sets in front are older. If sets are replaced, discarded or delivered by rank, all of
/// them are behind.
#[derive(Debug)]
pub(crate) struct Queue {
    front: ArrayQueue<Arrived>,
    /// The number of sets behind: stored under the lock. Sequentially consistent with the front: a
    /// producer stores it, then checks the length of the front; the consumer empties the front,
    /// then loads it (Dekker).
    behind: AtomicUsize,
    /// Counts moves of the sets in front behind, twice each: it is odd during a move, in which a
    /// set that is taken from the front may be newer than a moved one.
    moves: AtomicUsize,
    bytes: AtomicUsize,
    expired: Counter,
    space: Space,
}

/// The sets behind those in front, in the order of their delivery, and the limits of all; the lock of the consumer guards it.
#[derive(Debug)]
pub(crate) struct Behind {
    limits: QueueLimits,
    sets: VecDeque<Arrived>,
    /// The number of the last set that was put.
    last: u64,
    /// Whether a set with an expiry time was put.
    may_expire: bool,
    /// Whether no set is taken without the lock.
    is_held: bool,
}

/// The result of taking a set without the lock.
pub(crate) enum Taken {
    Set(EventSet),
    /// There are sets behind, for which the lock is needed.
    Behind,
    /// Older ones may have been moved behind: it is to be [put back](Queue::put_back), under the
    /// lock.
    Newer(Arrived),
    Nothing,
}

impl Behind {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            sets: VecDeque::new(),
            last: 0,
            may_expire: false,
            is_held: false,
        }
    }

    pub(crate) fn limits(&self) -> QueueLimits {
        self.limits
    }

    /// Whether a set may be taken from the front.
    fn has_front(&self) -> bool {
        !self.is_held && !self.limits.are_by_rank()
    }

    /// Inserts a set behind all that are not less urgent.
    fn insert(&mut self, arrived: Arrived) {
        let order = self.limits.order;
        let key = arrived.rank.key(order);
        let at = match self.sets.back() {
            Some(last) if last.rank.key(order) > key => {
                self.sets.partition_point(|it| it.rank.key(order) <= key)
            }
            _ => self.sets.len(),
        };
        self.sets.insert(at, arrived);
    }

    /// The index of the set that is discarded for a new one of that rank; `None` if that is the new
    /// one.
    fn victim(&self, rank: &Rank) -> Option<usize> {
        let sets = self.sets.iter().enumerate();
        let (at, found) = match self.limits.discard {
            DiscardPolicy::LowestPriority => {
                sets.min_by_key(|(_, it)| (it.rank.priority, it.number))
            }
            DiscardPolicy::FirstToExpire => {
                sets.min_by_key(|(_, it)| (it.rank.deadline(), it.number))
            }
            DiscardPolicy::Latest => sets.max_by_key(|(_, it)| it.number),
            _ => sets.min_by_key(|(_, it)| it.number),
        }?;
        let is_kept = match self.limits.discard {
            DiscardPolicy::LowestPriority => rank.priority < found.rank.priority,
            DiscardPolicy::FirstToExpire => rank.deadline() < found.rank.deadline(),
            _ => false,
        };
        (!is_kept).then_some(at)
    }
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            front: ArrayQueue::new(limits.sets.clamp(1, MAX_FRONT)),
            behind: AtomicUsize::new(0),
            moves: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            expired: Counter::default(),
            space: Space::default(),
        }
    }

    pub(crate) fn put(
        &self,
        behind: &mut Behind,
        set: EventSet,
        rank: Rank,
        arrived: Instant,
    ) -> Put {
        let (limits, bytes) = (behind.limits, set.bytes());
        if limits.sets == 0 || bytes > limits.bytes {
            return Put::Discarded { others: 0 };
        }
        behind.may_expire |= rank.expires.is_some();
        let mut discarded = 0;
        if limits.discard == DiscardPolicy::Coalesce {
            discarded += self.remove_same(behind, &set);
        }
        if behind.may_expire && !self.has_space(&limits, bytes) {
            self.remove_expired(behind, arrived);
        }
        while !self.has_space(&limits, bytes) {
            match limits.discard {
                DiscardPolicy::Disconnect => return Put::Overflow,
                DiscardPolicy::Newest => return Put::Discarded { others: discarded },
                DiscardPolicy::Block(time) => return Put::Full(set, time),
                _ => match self.discard(behind, &rank) {
                    Some(events) => discarded += events,
                    None if self.len() > 0 => return Put::Discarded { others: discarded },
                    // The consumer has taken all others.
                    None => break,
                },
            }
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        behind.last += 1;
        let mut arrived = Arrived {
            set,
            at: arrived,
            number: behind.last,
            rank,
        };
        if behind.sets.is_empty() && behind.has_front() {
            match self.front.push(arrived) {
                Ok(()) => return Put::Queued { discarded },
                Err(back) => arrived = back,
            }
        }
        behind.insert(arrived);
        self.count_behind(behind);
        Put::Queued { discarded }
    }

    /// Waits until a set can be put, or until `by`; returns whether it can. Called without the lock
    /// of the consumer.
    pub(crate) fn wait_for_space(
        &self,
        limits: &QueueLimits,
        set: &EventSet,
        by: Option<Instant>,
    ) -> bool {
        let bytes = set.bytes();
        self.space.wait(by, || self.has_space(limits, bytes))
    }

    /// Takes the next set if it is in front.
    pub(crate) fn take(&self) -> Taken {
        loop {
            let moves = self.moves.load(Ordering::SeqCst);
            let mut taken = self.front.pop();
            // Loaded once: a producer that makes space may move sets to the front after this.
            let is_behind = taken.is_none() && self.behind.load(Ordering::SeqCst) > 0;
            if taken.is_none() && !is_behind {
                // A producer may have moved them before.
                taken = self.front.pop();
            }
            let is_moved = moves % 2 == 1 || self.moves.load(Ordering::SeqCst) != moves;
            match taken {
                Some(arrived) if is_moved => return Taken::Newer(arrived),
                Some(arrived) => {
                    if let Some(set) = self.alive(arrived) {
                        return Taken::Set(set);
                    }
                }
                None if is_moved || is_behind => return Taken::Behind,
                None => return Taken::Nothing,
            }
        }
    }

    /// Reinserts a set at its place in the order.
    pub(crate) fn put_back(&self, behind: &mut Behind, arrived: Arrived) {
        self.gather(behind);
        let order = behind.limits.order;
        let place = |it: &Arrived| (it.rank.key(order), it.number);
        let at = behind
            .sets
            .partition_point(|it| place(it) < place(&arrived));
        behind.sets.insert(at, arrived);
        self.count_behind(behind);
    }

    /// Takes the next set, and moves those behind it to the front.
    pub(crate) fn pop(&self, behind: &mut Behind) -> Option<EventSet> {
        let first = loop {
            match self.front.pop().or_else(|| behind.sets.pop_front()) {
                Some(arrived) => {
                    if let Some(set) = self.alive(arrived) {
                        break Some(set);
                    }
                }
                None => break None,
            }
        };
        while behind.has_front()
            && let Some(next) = behind.sets.pop_front()
        {
            if let Err(next) = self.front.push(next) {
                behind.sets.push_front(next);
                break;
            }
        }
        self.count_behind(behind);
        first
    }

    /// Takes the next set, and leaves all others behind, for [`next_arrived`](Self::next_arrived).
    pub(crate) fn pop_behind(&self, behind: &mut Behind) -> Option<EventSet> {
        self.gather(behind);
        let mut sets = std::iter::from_fn(|| behind.sets.pop_front());
        let first = sets.find_map(|it| self.alive(it));
        self.count_behind(behind);
        first
    }

    pub(crate) fn len(&self) -> usize {
        self.front.len() + self.behind.load(Ordering::SeqCst)
    }

    /// The number of events that have expired before they were taken.
    pub(crate) fn expired(&self) -> u64 {
        self.expired.count()
    }

    /// The arrival time of the next set. All sets are behind after this call.
    pub(crate) fn next_arrived(&self, behind: &mut Behind) -> Option<Instant> {
        self.gather(behind);
        behind.sets.front().map(|it| it.at)
    }

    /// The arrival time of the oldest set. All sets are behind after this call.
    pub(crate) fn oldest(&self, behind: &mut Behind) -> Option<Instant> {
        self.gather(behind);
        behind.sets.iter().map(|it| it.at).min()
    }

    /// Discards the set that would be discarded for the most urgent one, and returns the number of
    /// its events.
    pub(crate) fn discard_one(&self, behind: &mut Behind) -> u64 {
        self.discard(behind, &Rank::MOST_URGENT).unwrap_or(0)
    }

    /// Keeps all sets behind, from where none is taken without the lock, or ends that.
    pub(crate) fn hold(&self, behind: &mut Behind, is_held: bool) {
        behind.is_held = is_held;
        self.gather(behind);
    }

    /// Replaces the limits. Sets beyond them remain until the next put.
    pub(crate) fn set_limits(&self, behind: &mut Behind, limits: QueueLimits) {
        self.gather(behind);
        behind.limits = limits;
        let sets = behind.sets.make_contiguous();
        sets.sort_by_key(|it| (it.rank.key(limits.order), it.number));
    }

    /// Discards all sets, and returns the number of their events.
    pub(crate) fn clear(&self, behind: &mut Behind) -> u64 {
        self.gather(behind);
        let all = behind.sets.drain(..).map(|it| self.taken(it.set).len());
        let discarded = all.sum();
        self.count_behind(behind);
        discarded
    }

    fn count_behind(&self, behind: &Behind) {
        self.behind.store(behind.sets.len(), Ordering::SeqCst);
        self.space.notify();
    }

    /// The set, unless it has expired.
    fn alive(&self, arrived: Arrived) -> Option<EventSet> {
        let is_expired = arrived.rank.expires.is_some() && arrived.rank.is_expired(Instant::now());
        let set = self.taken(arrived.set);
        if is_expired {
            self.expired.add(set.len());
            return None;
        }
        Some(set)
    }

    fn taken(&self, set: EventSet) -> EventSet {
        self.bytes.fetch_sub(set.bytes(), Ordering::SeqCst);
        self.space.notify();
        set
    }

    fn has_space(&self, limits: &QueueLimits, bytes: usize) -> bool {
        let occupied = self.bytes.load(Ordering::SeqCst);
        self.len() < limits.sets && occupied.saturating_add(bytes) <= limits.bytes
    }

    /// Discards a set for a new one of that rank, and returns the number of its events; `None` if
    /// there is none, or the new one is to be discarded.
    fn discard(&self, behind: &mut Behind, rank: &Rank) -> Option<u64> {
        if !behind.limits.are_by_rank() {
            return Some(self.pop(behind)?.len());
        }
        let victim = behind.victim(rank)?;
        let removed = behind.sets.remove(victim)?;
        self.count_behind(behind);
        Some(self.taken(removed.set).len())
    }

    /// Moves the sets in front behind, in their order. The consumer may take sets from the front
    /// concurrently.
    fn gather(&self, behind: &mut Behind) {
        if self.front.is_empty() {
            return self.count_behind(behind);
        }
        self.moves.fetch_add(1, Ordering::SeqCst);
        let mut moved = 0;
        while let Some(arrived) = self.front.pop() {
            behind.sets.push_back(arrived);
            moved += 1;
        }
        behind.sets.rotate_right(moved);
        self.count_behind(behind);
        self.moves.fetch_add(1, Ordering::SeqCst);
    }

    /// Drops the sets that have expired.
    fn remove_expired(&self, behind: &mut Behind, now: Instant) {
        self.gather(behind);
        let mut expired = 0;
        behind.sets.retain(|it| {
            let is_expired = it.rank.is_expired(now);
            if is_expired {
                self.bytes.fetch_sub(it.set.bytes(), Ordering::SeqCst);
                expired += it.set.len();
            }
            !is_expired
        });
        self.expired.add(expired);
        self.count_behind(behind);
    }

    /// Removes the waiting event of the same type and source; returns the number of removed events.
    fn remove_same(&self, behind: &mut Behind, set: &EventSet) -> u64 {
        let key = |set: &EventSet| match set {
            EventSet::One(event) => Some((event.header.r#type, event.header.source)),
            EventSet::Several(_) => None,
        };
        let Some(wanted) = key(set) else { return 0 };
        let mut sets = behind.sets.iter();
        let found = sets.position(|it| key(&it.set) == Some(wanted));
        let Some(removed) = found.and_then(|at| behind.sets.remove(at)) else {
            return 0;
        };
        self.count_behind(behind);
        self.taken(removed.set).len()
    }
}
