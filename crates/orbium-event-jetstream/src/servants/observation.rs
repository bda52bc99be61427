// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of a channel: what its consumers subscribe to and its suppliers publish.

use std::sync::{Arc, Once, Weak};

use orbium_event::{Observer, Observers, Sums};
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use crate::servants::channel_state::Shared;

/// Updates of an observer that may fail one after the other.
const MAX_FAILURES: u32 = 3;

/// The observers, and the task that notifies them of one change after the other.
pub(crate) struct Observation {
    observers: Observers,
    changed: Arc<Notify>,
    task: Once,
}

impl Observation {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            observers: Observers::new(most, MAX_FAILURES),
            changed: Arc::default(),
            task: Once::new(),
        }
    }

    pub(crate) fn remove(&self, handle: u32) -> bool {
        self.observers.remove(handle)
    }
}

impl Shared {
    /// Registers an observer, and gives it the present sums.
    pub(crate) fn append_observer(self: &Arc<Self>, observer: &Arc<dyn Observer>) -> Option<u32> {
        let runtime = self.stream.runtime.handle().ok()?;
        let observation = &self.observation;
        let handle = observation.observers.append(Arc::clone(observer))?;
        observation.task.call_once(|| {
            let changed = Arc::clone(&observation.changed);
            runtime.spawn(notify_of_changes(Arc::downgrade(self), changed));
        });
        let sums = self.sums();
        // One that is gone is removed after the next changes.
        let _ = observer.update(&sums);
        if self.sums() != sums {
            self.changed();
        }
        Some(handle)
    }

    /// The subscriptions or publications have changed.
    pub(crate) fn changed(&self) {
        self.observation.changed.notify_one();
    }

    fn sums(&self) -> Sums {
        Sums::of(&self.consumers.subscriptions(), &self.suppliers.published())
    }
}

/// Ends when the channel has ended and something has changed, or with the runtime.
async fn notify_of_changes(channel: Weak<Shared>, changed: Arc<Notify>) {
    loop {
        changed.notified().await;
        let Some(channel) = channel.upgrade() else {
            return;
        };
        // Observers may block.
        let updated = spawn_blocking(move || {
            let observers = &channel.observation.observers;
            if !observers.is_empty() {
                observers.update(&channel.sums());
            }
        });
        if updated.await.is_err() {
            return;
        }
    }
}
