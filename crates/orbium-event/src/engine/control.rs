// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks of a channel's control thread: pings of peers, and sums for observers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Engine;
use super::pings::PingedPeer;
use crate::observers::{Observer, Sums};

impl Engine {
    /// Begins pings of suspect consumers, and of every peer if that is due.
    pub(crate) fn ping(this: &Arc<Self>, period: Option<Duration>, all_due: &mut Option<Instant>) {
        let all = all_due.is_some_and(|due| due <= Instant::now());
        for consumer in this.consumers.load().iter() {
            if all || consumer.is_suspect() {
                this.pings.add(PingedPeer::Consumer(Arc::clone(consumer)));
            }
        }
        if all {
            for supplier in this.suppliers().values() {
                this.pings.add(PingedPeer::Supplier(Arc::clone(supplier)));
            }
            *all_due = period.and_then(|it| Instant::now().checked_add(it));
        }
        // A consumer that is suspect after its ping is pinged again earlier.
        if let Some(due) = *all_due {
            let left = due.saturating_duration_since(Instant::now());
            this.control.ping_after(left);
        }
        Self::start_pinger(this);
    }

    /// The sums for observers.
    pub(crate) fn sums(&self) -> Sums {
        let consumers = self.consumers.load();
        let patterns: Vec<_> = consumers
            .iter()
            .filter_map(|it| it.subscription())
            .collect();
        let suppliers = self.suppliers();
        let published = suppliers.values().filter_map(|it| it.publications());
        let published: Vec<_> = published
            .flatten()
            .map(|it| (it.r#type, it.source))
            .collect();
        Sums::of(&patterns, &published)
    }

    /// Registers an observer, and calls it with the present sums.
    pub(crate) fn append_observer(&self, observer: &Arc<dyn Observer>) -> Option<u32> {
        let (handle, is_stale) = self.observers.begin(observer, || self.sums())?;
        if is_stale {
            self.control.notify_observers();
        }
        Some(handle)
    }

    pub(crate) fn remove_observer(&self, handle: u32) -> bool {
        self.observers.remove(handle)
    }

    /// Calls every observer with the present sums.
    pub(crate) fn update_observers(&self) {
        self.observers.update(&self.sums());
    }
}
