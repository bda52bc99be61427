// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds and order of a consumer's queue, and the rank of an event in it.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// Treatment of an event for which a consumer's queue has no space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscardPolicy {
    /// The oldest events are discarded.
    #[default]
    Oldest,
    /// The new event is discarded.
    Newest,
    /// The event that has waited for the shortest time is discarded for the new one.
    Latest,
    /// An event replaces the waiting one of the same type and source, whether or not the queue is
    /// full; if there is none, the oldest events are discarded. For events that report a state.
    Coalesce,
    /// The consumer is disconnected.
    Disconnect,
    /// The thread of the supplier waits for space until so much time after the arrival of the
    /// event; then the new event is discarded. Timers of the channel, and the last events of a
    /// [`Retention`](crate::Retention), do not wait. For suppliers that may be as slow as the
    /// consumer: while the thread waits the ORB serves no other request by it, and other consumers
    /// get the event later.
    Block(Duration),
    /// The events with the lowest [`Rank::priority`] are discarded, of those the oldest first; the
    /// new one if no other is lower.
    LowestPriority,
    /// The events that expire first are discarded, or the new one if it does; those without expiry
    /// last.
    FirstToExpire,
}

/// Delivery order of a consumer's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOrder {
    /// The order of arrival.
    #[default]
    Arrival,
    /// The greatest [`Rank::priority`] first.
    Priority,
    /// The earliest expiry first; events without expiry last.
    Deadline,
}

/// The bounds of a consumer's queue, its order, and the policy beyond the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Maximum number of sets of events; 1,024 by default.
    pub sets: usize,
    /// Maximum bytes of all events in the queue, and separately of those that the conjunctions of
    /// the subscription have collected, which are all discarded beyond it; 4 MiB by default.
    pub bytes: usize,
    /// The policy beyond the bounds.
    pub discard: DiscardPolicy,
    /// The delivery order; the order of arrival by default.
    pub order: QueueOrder,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            sets: 1024,
            bytes: 4 << 20,
            discard: DiscardPolicy::default(),
            order: QueueOrder::default(),
        }
    }
}

impl QueueLimits {
    /// Whether all sets are behind, under the lock under which one is replaced, discarded or
    /// inserted.
    pub(super) fn are_by_rank(&self) -> bool {
        let is_by_arrival = matches!(
            self.discard,
            DiscardPolicy::Oldest
                | DiscardPolicy::Newest
                | DiscardPolicy::Disconnect
                | DiscardPolicy::Block(_)
        );
        !is_by_arrival || self.order != QueueOrder::Arrival
    }
}

/// Rank of an event in the queue of a consumer, determined by its [`Selection`](crate::Selection).
/// Without a selection all events have the same rank, and do not expire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// Greater values are more urgent.
    pub priority: i16,
    /// The time at which it is dropped if it still waits.
    pub expires: Option<Instant>,
}

/// Sort key: the smallest is first.
type Key = (Reverse<i16>, (bool, Option<Instant>));

impl Rank {
    /// An event of this rank is discarded last.
    pub(super) const MOST_URGENT: Self = Self {
        priority: i16::MAX,
        expires: None,
    };

    pub(super) fn key(&self, order: QueueOrder) -> Key {
        match order {
            QueueOrder::Arrival => (Reverse(0), (false, None)),
            QueueOrder::Priority => (Reverse(self.priority), (false, None)),
            QueueOrder::Deadline => (Reverse(0), self.deadline()),
        }
    }

    /// The sort key of the expiry: the earliest is smallest.
    pub(super) fn deadline(&self) -> (bool, Option<Instant>) {
        (self.expires.is_none(), self.expires)
    }

    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.expires.is_some_and(|it| it <= now)
    }
}
