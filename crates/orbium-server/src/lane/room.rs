// SPDX-License-Identifier: MIT OR Apache-2.0
//! Room for requests that several lanes have together.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bounds the requests that wait in several lanes together, as a thread pool of
/// Real-time CORBA does; each lane's own bounds hold too. Clones share the bounds.
///
/// ```
/// use orbium_config::ServerStrategy;
/// use orbium_server::lane::{LaneConfig, QueueRoom};
///
/// let room = QueueRoom::new(64, 1 << 20);
/// let lanes = ["routine", "urgent"].map(|name| LaneConfig {
///     name: name.into(),
///     strategy: ServerStrategy::WorkerPool { workers: 1, queue: 64 },
///     room: Some(room.clone()),
///     ..LaneConfig::default()
/// });
/// # drop(lanes);
/// ```
#[derive(Clone)]
pub struct QueueRoom(Arc<Room>);

struct Room {
    requests: AtomicUsize,
    octets: AtomicUsize,
    most_requests: usize,
    most_octets: usize,
}

/// The place of a request that waits; dropped, there is room again.
#[derive(Debug)]
pub(crate) struct Place {
    room: QueueRoom,
    octets: usize,
}

impl QueueRoom {
    /// Room for so many requests, and for so many octets of them.
    #[must_use]
    #[inline]
    pub fn new(requests: usize, octets: usize) -> Self {
        Self(Arc::new(Room {
            requests: AtomicUsize::new(0),
            octets: AtomicUsize::new(0),
            most_requests: requests,
            most_octets: octets,
        }))
    }

    /// How many requests it has places for, and octets of them.
    pub(crate) fn places(&self) -> (usize, usize) {
        (self.0.most_requests, self.0.most_octets)
    }

    /// The place of a request of so many octets; `None` if there is none.
    pub(crate) fn enter(&self, octets: usize) -> Option<Place> {
        let add = |counter: &AtomicUsize, by: usize, most: usize| {
            let grown = |it: usize| it.checked_add(by).filter(|it| *it <= most);
            counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, grown)
        };
        let room = &*self.0;
        add(&room.requests, 1, room.most_requests).ok()?;
        if add(&room.octets, octets, room.most_octets).is_err() {
            room.requests.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        Some(Place {
            room: self.clone(),
            octets,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let room = &*self.room.0;
        room.requests.fetch_sub(1, Ordering::AcqRel);
        room.octets.fetch_sub(self.octets, Ordering::AcqRel);
    }
}

impl PartialEq for QueueRoom {
    /// Whether it is the same room.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for QueueRoom {}

impl fmt::Debug for QueueRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueRoom")
            .field("requests", &self.0.most_requests)
            .field("octets", &self.0.most_octets)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_hold_for_all_together_and_room_comes_back() {
        let room = QueueRoom::new(2, 100);
        let other = room.clone();
        let first = room.enter(60).unwrap();
        assert!(other.enter(41).is_none(), "too many octets");
        let second = other.enter(40).unwrap();
        assert!(room.enter(0).is_none(), "too many requests");
        drop(first);
        assert!(room.enter(61).is_none());
        drop(second);
        assert!(room.enter(101).is_none(), "one alone is no exception");
        assert!(room.enter(100).is_some());
    }
}
