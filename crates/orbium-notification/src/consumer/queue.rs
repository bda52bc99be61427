// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that wait for one consumer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orbium_event::{DiscardPolicy, QueueLimits, QueueOrder, Rank};

use crate::event::Event;
use crate::filter::mapping::Overrides;
use crate::qos::{self, Level};

/// The bounds and the order of a queue: what is in force for its consumer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) order: Order,
    pub(crate) discard: Discard,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    pub(crate) batch: usize,
    pub(crate) pacing: Duration,
    pub(crate) timeout: Duration,
    pub(crate) priority: i16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Fifo,
    Priority,
    Deadline,
}

/// Which event is discarded for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discard {
    /// Any: the oldest here.
    Any,
    Oldest,
    LowestPriority,
    FirstToExpire,
    Newest,
}

impl Rules {
    /// What is in force at a level, within the hard bounds of the configuration.
    pub(crate) fn at(level: &Level, events: usize, bytes: usize) -> Self {
        let count = |index: usize| usize::try_from(level.get(index)).unwrap_or(usize::MAX);
        Self {
            order: match level.get(qos::ORDER) {
                2 => Order::Priority,
                3 => Order::Deadline,
                _ => Order::Fifo,
            },
            discard: match level.get(qos::DISCARD) {
                1 => Discard::Oldest,
                2 => Discard::LowestPriority,
                3 => Discard::FirstToExpire,
                4 => Discard::Newest,
                _ => Discard::Any,
            },
            events: match count(qos::MAX_EVENTS) {
                0 => events,
                most => most.min(events),
            },
            bytes,
            batch: count(qos::BATCH),
            pacing: qos::duration(level.get(qos::PACING)),
            timeout: qos::duration(level.get(qos::TIMEOUT)),
            priority: i16::try_from(level.get(qos::PRIORITY)).unwrap_or_default(),
        }
    }

    /// The rank of an event that arrives now.
    pub(crate) fn rank(&self, event: &Event, overrides: &Overrides, now: Instant) -> Rank {
        let timeout = (!self.timeout.is_zero()).then(|| now + self.timeout);
        let priority = overrides.priority.or(event.priority);
        Rank {
            priority: priority.unwrap_or(self.priority),
            expires: match overrides.lifetime {
                Some(life) => now.checked_add(life),
                None => event.expires.or(timeout),
            },
        }
    }

    /// As a queue of a real-time event channel has them, within the limits of that channel.
    pub(crate) fn limits(&self, of_channel: &QueueLimits) -> QueueLimits {
        QueueLimits {
            sets: self.events.min(of_channel.sets),
            bytes: self.bytes.min(of_channel.bytes),
            discard: match self.discard {
                Discard::Any => of_channel.discard,
                Discard::Oldest => DiscardPolicy::Oldest,
                Discard::LowestPriority => DiscardPolicy::LowestPriority,
                Discard::FirstToExpire => DiscardPolicy::FirstToExpire,
                Discard::Newest => DiscardPolicy::Latest,
            },
            order: match self.order {
                Order::Fifo => QueueOrder::Arrival,
                Order::Priority => QueueOrder::Priority,
                Order::Deadline => QueueOrder::Deadline,
            },
        }
    }
}

/// An event that waits.
pub(crate) struct Item {
    pub(crate) event: Arc<Event>,
    priority: i16,
    expires: Option<Instant>,
    arrived: Instant,
    number: u64,
}

impl Item {
    fn is_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|it| it <= now)
    }

    /// Smaller ones are delivered first.
    fn key(&self, order: Order) -> (i32, Option<Instant>, u64) {
        match order {
            Order::Fifo => (0, None, self.number),
            Order::Priority => (-i32::from(self.priority), None, self.number),
            // Those without a deadline come after all others.
            Order::Deadline => (self.expires.is_none().into(), self.expires, self.number),
        }
    }
}

/// What a new event has done to a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) discarded: u64,
    pub(crate) expired: u64,
}

/// Events in the order of their delivery.
#[derive(Default)]
pub(crate) struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    number: u64,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn put(
        &mut self,
        event: Arc<Event>,
        overrides: &Overrides,
        rules: &Rules,
        now: Instant,
    ) -> Removed {
        let mut removed = Removed::default();
        let bytes = event.bytes;
        if !self.has_space(bytes, rules) {
            removed.expired = self.remove_expired(now);
        }
        while !self.has_space(bytes, rules) {
            removed.discarded += 1;
            // Without a victim the event alone exceeds the bounds.
            if !self.discard(rules.discard) {
                return removed;
            }
        }
        let Rank { priority, expires } = rules.rank(&event, overrides, now);
        self.number += 1;
        let item = Item {
            priority,
            expires,
            arrived: now,
            number: self.number,
            event,
        };
        self.bytes += bytes;
        let key = item.key(rules.order);
        let at = match self.items.back() {
            Some(last) if last.key(rules.order) > key => {
                self.items.partition_point(|it| it.key(rules.order) < key)
            }
            _ => self.items.len(),
        };
        self.items.insert(at, item);
        removed
    }

    /// Takes the next event that has not expired, and counts those that have.
    pub(crate) fn pop(&mut self, now: Instant, expired: &mut u64) -> Option<Arc<Event>> {
        loop {
            let item = self.items.pop_front()?;
            self.bytes -= item.event.bytes;
            if !item.is_expired(now) {
                return Some(item.event);
            }
            *expired += 1;
        }
    }

    /// Puts the events into another order.
    pub(crate) fn reorder(&mut self, order: Order) {
        self.items.make_contiguous().sort_by_key(|it| it.key(order));
    }

    /// When the event arrived that has waited longest.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.items.iter().map(|it| it.arrived).min()
    }

    pub(crate) fn remove_expired(&mut self, now: Instant) -> u64 {
        let before = self.items.len();
        self.items.retain(|it| !it.is_expired(now));
        self.bytes = self.items.iter().map(|it| it.event.bytes).sum();
        (before - self.items.len()) as u64
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.bytes = 0;
    }

    fn has_space(&self, bytes: usize, rules: &Rules) -> bool {
        self.items.len() < rules.events && self.bytes.saturating_add(bytes) <= rules.bytes
    }

    /// Discards one event; false if there is none. The search is linear: it is bounded by the queue.
    pub(crate) fn discard(&mut self, discard: Discard) -> bool {
        let items = self.items.iter().enumerate();
        let victim = match discard {
            Discard::Any | Discard::Oldest => items.min_by_key(|(_, it)| it.number),
            Discard::Newest => items.max_by_key(|(_, it)| it.number),
            Discard::LowestPriority => items.min_by_key(|(_, it)| (it.priority, it.number)),
            Discard::FirstToExpire => items.min_by_key(|(_, it)| it.key(Order::Deadline)),
        };
        let Some(removed) = victim
            .map(|(at, _)| at)
            .and_then(|at| self.items.remove(at))
        else {
            return false;
        };
        self.bytes -= removed.event.bytes;
        true
    }
}
