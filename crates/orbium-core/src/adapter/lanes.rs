// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of an ORB.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{OnceLock, PoisonError};

use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::PerProcess;

use crate::{Channel, Lane};

/// The lanes that were added to an ORB.
#[derive(Default)]
pub(crate) struct Lanes {
    /// In a forked child none.
    added: PerProcess<Mutex<Vec<Lane>>>,
    /// Those of the configuration, once they are there.
    configured: OnceLock<Vec<Lane>>,
    last: AtomicU32,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        let added = self.added.get_or_init(Mutex::default);
        added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the next lane.
    pub(crate) fn next_number(&self) -> u32 {
        1 + self.last.fetch_add(1, Ordering::Relaxed)
    }

    /// A lane was added.
    pub(crate) fn add(&self, lane: Lane) {
        self.lock().push(lane);
    }

    /// The lane of that number has ended.
    pub(crate) fn forget(&self, number: u32) {
        self.lock().retain(|it| it.number() != number);
    }

    /// Those that were added and not stopped.
    pub(crate) fn all(&self) -> Vec<Lane> {
        self.lock().clone()
    }

    /// The lane of that name.
    pub(crate) fn named(&self, name: &str) -> Option<Lane> {
        self.lock().iter().find(|lane| lane.name() == name).cloned()
    }

    /// The lane of that number.
    pub(crate) fn numbered(&self, number: u32) -> Option<Lane> {
        let lanes = self.lock();
        lanes.iter().find(|lane| lane.number() == number).cloned()
    }

    /// Whether one of them listens there.
    pub(crate) fn listen_at(&self, channel: &Channel) -> bool {
        self.lock()
            .iter()
            .any(|lane| lane.channels().contains(channel))
    }

    /// Those of the configuration, once they are there.
    pub(crate) fn configured(&self) -> Option<&[Lane]> {
        self.configured.get().map(Vec::as_slice)
    }

    /// The lanes of the configuration serve.
    pub(crate) fn set_configured(&self, lanes: Vec<Lane>) {
        let _ = self.configured.set(lanes);
    }

    /// Ends all of them; to be waited for.
    pub(crate) fn halt(&self) -> Vec<Lane> {
        let lanes = std::mem::take(&mut *self.lock());
        for lane in &lanes {
            lane.halt();
        }
        lanes
    }
}

impl Drop for Lanes {
    /// The last reference to the ORB is gone: its lanes stop.
    fn drop(&mut self) {
        self.halt();
    }
}
