// SPDX-License-Identifier: MIT OR Apache-2.0
//! The consumers of a channel.

use std::sync::Arc;

use orbium::lock::Mutex;

use arc_swap::{ArcSwap, Guard};

use crate::delivery::consumer::Consumer;

/// The consumers of a channel, replaced as a whole: deliveries take no lock, and continue with
/// their snapshot.
#[derive(Default)]
pub(crate) struct ConnectedConsumers {
    all: ArcSwap<Vec<Arc<Consumer>>>,
    /// Held while `all` is replaced.
    changing: Mutex<()>,
}

impl ConnectedConsumers {
    pub(crate) fn load(&self) -> Guard<Arc<Vec<Arc<Consumer>>>> {
        self.all.load()
    }

    /// The consumers once no other thread is adding or removing one.
    pub(crate) fn load_settled(&self) -> Arc<Vec<Arc<Consumer>>> {
        let _changing = self.changing.lock();
        self.all.load_full()
    }

    /// Adds a consumer if `permits`, which gets the number of the others, returns `Ok`.
    pub(crate) fn add<E>(
        &self,
        consumer: &Arc<Consumer>,
        permits: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let _changing = self.changing.lock();
        let others = self.load();
        permits(others.len())?;
        let mut all: Vec<_> = others.iter().chain([consumer]).cloned().collect();
        // With a schedule, the consumers of the most urgent queue are offered an event first, and
        // pull consumers last.
        all.sort_by_key(|it| it.place.map_or(usize::MAX, |place| place.queue));
        self.all.store(Arc::new(all));
        Ok(())
    }

    pub(crate) fn remove(&self, consumer: &Consumer) {
        let _changing = self.changing.lock();
        let all = self.load();
        let others = all.iter().filter(|it| it.id != consumer.id);
        self.all.store(Arc::new(others.cloned().collect()));
    }
}
