// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks of a channel's control thread: pings of peers, and sums for observers.

use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Engine, SUSPECT_PING_PERIOD};
use crate::delivery::health::Health;
use crate::observers::{Observer, Sums};

impl Engine {
    /// Pings suspect consumers, and every peer if that is due.
    pub(crate) fn ping(&self, period: Option<Duration>, all_due: &mut Option<Instant>) {
        let all = all_due.is_some_and(|due| due <= Instant::now());
        let mut some_are_suspect = false;
        for consumer in self.consumers.load().iter() {
            if all || consumer.is_suspect() {
                let health = consumer.checked(consumer.sink().ping());
                some_are_suspect |= !health.is_well();
                self.handle_health(consumer, health);
            }
        }
        if all {
            self.ping_suppliers();
            *all_due = period.and_then(|it| Instant::now().checked_add(it));
        }
        let left = all_due.map(|due| due.saturating_duration_since(Instant::now()));
        let suspect = some_are_suspect.then_some(SUSPECT_PING_PERIOD);
        if let Some(next) = left.into_iter().chain(suspect).min() {
            self.control.ping_after(next);
        }
    }

    fn ping_suppliers(&self) {
        let after = |last| {
            let suppliers = self.suppliers();
            let next = suppliers.range((Bound::Excluded(last), Bound::Unbounded));
            next.map(|(_, supplier)| Arc::clone(supplier)).next()
        };
        let mut last = 0;
        while let Some(supplier) = after(last) {
            last = supplier.id;
            let outcome = supplier.peer().ping();
            let health = supplier.checked(outcome, &self.config.failure);
            if health == Health::Gone && self.remove_supplier(&supplier) {
                tracing::warn!(target: "orbium::event", supplier = supplier.id, "supplier disconnected: it cannot be reached");
            }
        }
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
