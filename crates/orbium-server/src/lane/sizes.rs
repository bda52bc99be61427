// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sizes of a lane that can be changed while it serves.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use orbium_config::{Limits, ServerStrategy};
use orbium_lane::{LaneSizes, QueueBounds};

/// Capacity of the queue for requests handed off to a lane without a configured queue.
const HANDED_OVER: usize = 256;

/// Threads of a lane, and its queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// The number of static threads.
    pub(crate) fixed: usize,
    /// The maximum number of threads including those started on demand.
    pub(crate) grows_to: usize,
    /// Time after which an idle dynamic thread ends.
    pub(crate) idle_time: Duration,
    /// The capacity of the queue.
    pub(crate) capacity: usize,
    /// The maximum total size of queued requests.
    pub(crate) octets: usize,
}

impl Sizes {
    /// The sizes for the threads that serve the lane's queue.
    pub(crate) fn of_queue(lane: &LaneSizes, limits: &Limits) -> Self {
        let (fixed, grows_to) = lane.threads();
        let (fixed, capacity) = match lane.strategy {
            ServerStrategy::WorkerPool { queue, .. } => (fixed, queue),
            _ => (0, HANDED_OVER),
        };
        Self {
            fixed,
            grows_to: match grows_to {
                0 => limits.serving_threads,
                some => some,
            },
            idle_time: lane.idle_time,
            capacity,
            octets: lane.queue_octets.unwrap_or(limits.message_size),
        }
    }

    /// The sizes for the threads that share the lane's connections.
    pub(crate) fn of_team(lane: &LaneSizes, limits: &Limits) -> Self {
        let (fixed, grows_to) = lane.threads();
        Self {
            fixed,
            grows_to,
            ..Self::of_queue(lane, limits)
        }
    }

    /// Whether the queue is limited to fewer bytes than a message may have.
    pub(crate) fn bound_octets(&self, bounds: Option<&QueueBounds>, limits: &Limits) -> bool {
        let of_lanes = bounds.map_or(self.octets, |bounds| bounds.most().1);
        self.octets.min(of_lanes) < limits.message_size
    }
}

/// The number of surplus threads after a resize.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surplus(usize);

impl Surplus {
    /// Updates the number after a change of the static threads, with `alive` threads.
    pub(crate) fn change(&mut self, before: usize, now: usize, alive: usize) {
        let more = self.0.saturating_add(before).saturating_sub(now);
        self.0 = more.min(alive.saturating_sub(now));
    }

    /// Whether there are surplus threads.
    pub(crate) fn is_there(self) -> bool {
        self.0 > 0
    }

    /// Records the end of a thread.
    pub(crate) fn end_one(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

/// Threads that can be resized while they serve.
pub(crate) trait Resize: Send + Sync {
    /// Changes the sizes. Added threads have started when this returns.
    ///
    /// # Errors
    /// The system refuses another thread; nothing is changed then.
    fn resize(self: Arc<Self>, sizes: &LaneSizes) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_too_many_until_they_end_or_are_asked_for_again() {
        let mut surplus = Surplus::default();
        surplus.change(4, 1, 4);
        assert_eq!(surplus.0, 3);
        surplus.end_one();
        surplus.change(1, 2, 3);
        assert_eq!(surplus.0, 1);
        // Threads started for a burst of requests are not.
        surplus.change(2, 2, 8);
        assert_eq!(surplus.0, 1);
        surplus.change(2, 9, 8);
        assert!(!surplus.is_there());
        surplus.end_one();
        assert!(!surplus.is_there());
    }
}
