// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that wait for one consumer.

use std::collections::VecDeque;
use std::time::Instant;

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

#[derive(Debug)]
pub(crate) struct Queue {
    limits: QueueLimits,
    /// Each with the time of its arrival.
    sets: VecDeque<(EventSet, Instant)>,
    bytes: usize,
}

impl Queue {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            limits,
            sets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(crate) fn put(&mut self, set: EventSet, arrived: Instant) -> Put {
        let bytes = set.bytes();
        let mut discarded = 0;
        if self.limits.discard == DiscardPolicy::Coalesce {
            discarded += self.remove_same(&set);
        }
        while !self.has_space(bytes) {
            match self.limits.discard {
                DiscardPolicy::Disconnect => return Put::Overflow,
                DiscardPolicy::Newest => return Put::Discarded,
                DiscardPolicy::Oldest | DiscardPolicy::Coalesce => match self.pop() {
                    Some(oldest) => discarded += oldest.len(),
                    // It alone exceeds the bounds.
                    None => return Put::Discarded,
                },
            }
        }
        self.bytes += bytes;
        self.sets.push_back((set, arrived));
        Put::Queued { discarded }
    }

    pub(crate) fn pop(&mut self) -> Option<EventSet> {
        let (set, _) = self.sets.pop_front()?;
        self.bytes -= set.bytes();
        Some(set)
    }

    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// When the set arrived that is next.
    pub(crate) fn next_arrived(&self) -> Option<Instant> {
        self.sets.front().map(|(_, arrived)| *arrived)
    }

    /// Discards all, and returns how many events that were.
    pub(crate) fn clear(&mut self) -> u64 {
        self.bytes = 0;
        self.sets.drain(..).map(|(set, _)| set.len()).sum()
    }

    fn has_space(&self, bytes: usize) -> bool {
        self.sets.len() < self.limits.sets && self.bytes.saturating_add(bytes) <= self.limits.bytes
    }

    /// Removes the waiting event of the same type and source; the number of those removed.
    fn remove_same(&mut self, set: &EventSet) -> u64 {
        let key = |set: &EventSet| match set {
            EventSet::One(event) => Some((event.header.r#type, event.header.source)),
            EventSet::Several(_) => None,
        };
        let Some(wanted) = key(set) else { return 0 };
        let found = self.sets.iter().position(|(it, _)| key(it) == Some(wanted));
        let Some((removed, _)) = found.and_then(|at| self.sets.remove(at)) else {
            return 0;
        };
        self.bytes -= removed.bytes();
        removed.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::new_event;

    fn queue(sets: usize, bytes: usize, discard: DiscardPolicy) -> Queue {
        Queue::new(QueueLimits {
            sets,
            bytes,
            discard,
        })
    }

    fn one(r#type: i32, payload: usize) -> EventSet {
        let mut event = new_event(r#type, 1);
        event.data.payload = vec![0; payload];
        EventSet::One(Arc::new(event))
    }

    fn put(queue: &mut Queue, set: EventSet) -> Put {
        queue.put(set, Instant::now())
    }

    fn types(queue: &mut Queue) -> Vec<i32> {
        let mut types = Vec::new();
        while let Some(set) = queue.pop() {
            types.extend(set.events().iter().map(|it| it.header.r#type));
        }
        types
    }

    #[test]
    fn the_oldest_events_are_discarded() {
        let mut queue = queue(2, 1 << 20, DiscardPolicy::Oldest);
        put(&mut queue, one(16, 0));
        put(&mut queue, one(17, 0));
        assert_eq!(put(&mut queue, one(18, 0)), Put::Queued { discarded: 1 });
        assert_eq!(types(&mut queue), [17, 18]);
    }

    #[test]
    fn the_newest_event_is_discarded() {
        let mut queue = queue(1, 1 << 20, DiscardPolicy::Newest);
        put(&mut queue, one(16, 0));
        assert_eq!(put(&mut queue, one(17, 0)), Put::Discarded);
        assert_eq!(types(&mut queue), [16]);
    }

    #[test]
    fn events_of_one_type_and_source_coalesce() {
        let mut queue = queue(2, 1 << 20, DiscardPolicy::Coalesce);
        put(&mut queue, one(16, 1));
        put(&mut queue, one(17, 1));
        assert_eq!(put(&mut queue, one(16, 2)), Put::Queued { discarded: 1 });
        assert_eq!(put(&mut queue, one(18, 2)), Put::Queued { discarded: 1 });
        assert_eq!(types(&mut queue), [16, 18]);
    }

    #[test]
    fn a_full_queue_can_ask_for_disconnection() {
        let mut queue = queue(1, 1 << 20, DiscardPolicy::Disconnect);
        put(&mut queue, one(16, 0));
        assert_eq!(put(&mut queue, one(17, 0)), Put::Overflow);
    }

    #[test]
    fn bytes_are_bounded_and_accounted() {
        let mut queue = queue(100, 10_000, DiscardPolicy::Oldest);
        assert_eq!(put(&mut queue, one(16, 20_000)), Put::Discarded);
        for _ in 0..5 {
            put(&mut queue, one(16, 4_000));
        }
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.clear(), 2);
        assert_eq!(queue.bytes, 0);
    }
}
