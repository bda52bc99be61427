// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bounds and the order of a consumer's queue, by the effective properties.

use std::time::{Duration, Instant};

use orbium_event::{Batches, DiscardPolicy, QueueLimits, QueueOrder, Rank};

use crate::event::Event;
use crate::filter::mapping::Overrides;
use crate::qos::{self, Level};

/// The effective bounds and order of a consumer's queue.
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

/// The event that is discarded for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discard {
    /// Any: by the policy of the event channel.
    Any,
    Oldest,
    LowestPriority,
    FirstToExpire,
    Newest,
}

impl Rules {
    /// The effective rules of a level, within the hard bounds of the configuration.
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

    /// The limits for a queue of an event channel, within the limits of that channel.
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
    /// The batches of a consumer of sequences.
    pub(crate) fn batches(&self) -> Batches {
        Batches {
            events: self.batch,
            pacing: self.pacing,
        }
    }
}
