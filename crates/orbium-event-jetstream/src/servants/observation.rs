// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers of a channel: they get its subscriptions and publications.

use std::sync::{Arc, Once, Weak};

use orbium_event::{Observer, Observers, Sums};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

/// Maximum consecutive failed updates of an observer.
const MAX_FAILURES: u32 = 3;

/// An observed channel.
pub(crate) trait Observed: Send + Sync + 'static {
    /// The present sums.
    fn sums(&self) -> Sums;
}

/// The observers, and the task that notifies them of changes in order.
pub(crate) struct Observation {
    observers: Arc<Observers>,
    changed: Arc<Notify>,
    task: Once,
}

impl Observation {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            observers: Arc::new(Observers::new(most, MAX_FAILURES)),
            changed: Arc::default(),
            task: Once::new(),
        }
    }

    /// Registers an observer of a channel, and calls it with the present sums.
    pub(crate) fn append(
        &self,
        channel: &Arc<impl Observed>,
        observer: &Arc<dyn Observer>,
        runtime: &Handle,
    ) -> Option<u32> {
        let (handle, is_stale) = self.observers.begin(observer, || channel.sums())?;
        self.task.call_once(|| {
            let (observers, changed) = (Arc::clone(&self.observers), Arc::clone(&self.changed));
            runtime.spawn(notify_of_changes(
                Arc::downgrade(channel),
                observers,
                changed,
            ));
        });
        if is_stale {
            self.changed();
        }
        Some(handle)
    }

    pub(crate) fn remove(&self, handle: u32) -> bool {
        self.observers.remove(handle)
    }

    /// Called when subscriptions or publications have changed.
    pub(crate) fn changed(&self) {
        self.changed.notify_one();
    }
}

/// Ends at the first change after the end of the channel, or with the runtime.
async fn notify_of_changes(
    channel: Weak<impl Observed>,
    observers: Arc<Observers>,
    changed: Arc<Notify>,
) {
    loop {
        changed.notified().await;
        let Some(channel) = channel.upgrade() else {
            return;
        };
        let observers = Arc::clone(&observers);
        // Observers may block.
        let updated = spawn_blocking(move || {
            if !observers.is_empty() {
                observers.update(&channel.sums());
            }
        });
        if updated.await.is_err() {
            return;
        }
    }
}
