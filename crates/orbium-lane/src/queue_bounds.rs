// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits of the queued requests of several lanes together.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Limits of the queued requests of several lanes together, as for a thread pool of Real-time
/// CORBA; each lane's own limits apply, too. Clones share the limits.
///
/// ```
/// use orbium_config::ServerStrategy;
/// use orbium_lane::{LaneConfig, QueueBounds};
///
/// let bounds = QueueBounds::new(64, 1 << 20);
/// let lanes = ["routine", "urgent"].map(|name| LaneConfig {
///     name: name.into(),
///     strategy: ServerStrategy::WorkerPool { workers: 1, queue: 64 },
///     queue_bounds: Some(bounds.clone()),
///     ..LaneConfig::default()
/// });
/// # drop(lanes);
/// ```
#[derive(Clone)]
pub struct QueueBounds(Arc<Shared>);

struct Shared {
    requests: AtomicUsize,
    octets: AtomicUsize,
    most_requests: usize,
    most_octets: usize,
}

/// The permit of a queued request; dropping it releases its share.
#[derive(Debug)]
pub struct QueuePermit {
    bounds: QueueBounds,
    octets: usize,
}

impl QueueBounds {
    /// Limits of the number of requests, and of their total size.
    #[must_use]
    #[inline]
    pub fn new(requests: usize, octets: usize) -> Self {
        Self(Arc::new(Shared {
            requests: AtomicUsize::new(0),
            octets: AtomicUsize::new(0),
            most_requests: requests,
            most_octets: octets,
        }))
    }

    /// The maximum number of requests, and their maximum total size.
    #[must_use]
    pub fn most(&self) -> (usize, usize) {
        (self.0.most_requests, self.0.most_octets)
    }

    /// The permit of a request of that size; `None` if it exceeds a limit.
    #[must_use]
    pub fn acquire(&self, octets: usize) -> Option<QueuePermit> {
        let add = |counter: &AtomicUsize, by: usize, most: usize| {
            let grown = |it: usize| it.checked_add(by).filter(|it| *it <= most);
            // The counters guard no data: atomicity alone keeps the limits.
            counter.fetch_update(Ordering::AcqRel, Ordering::Acquire, grown)
        };
        let shared = &*self.0;
        add(&shared.requests, 1, shared.most_requests).ok()?;
        if add(&shared.octets, octets, shared.most_octets).is_err() {
            shared.requests.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        Some(QueuePermit {
            bounds: self.clone(),
            octets,
        })
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        let shared = &*self.bounds.0;
        shared.requests.fetch_sub(1, Ordering::AcqRel);
        shared.octets.fetch_sub(self.octets, Ordering::AcqRel);
    }
}

impl PartialEq for QueueBounds {
    /// Whether both are clones of one.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for QueueBounds {}

impl fmt::Debug for QueueBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueBounds")
            .field("requests", &self.0.most_requests)
            .field("octets", &self.0.most_octets)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_hold_for_all_together_and_permits_come_back() {
        let bounds = QueueBounds::new(2, 100);
        let other = bounds.clone();
        let first = bounds.acquire(60).unwrap();
        assert!(other.acquire(41).is_none(), "too many octets");
        let second = other.acquire(40).unwrap();
        assert!(bounds.acquire(0).is_none(), "too many requests");
        drop(first);
        assert!(bounds.acquire(61).is_none());
        drop(second);
        assert!(bounds.acquire(101).is_none(), "one alone is no exception");
        assert!(bounds.acquire(100).is_some());
    }
}
