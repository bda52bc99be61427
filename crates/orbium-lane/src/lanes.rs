// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of an ORB.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use orbium_channel::Channel;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::PerProcess;

use crate::Lane;

/// The lanes that were added to an ORB; they end with it.
///
/// ```
/// let lanes = orbium_lane::Lanes::default();
/// assert_eq!(lanes.next_number(), 1);
/// assert_eq!(lanes.named("urgent"), None);
/// ```
#[derive(Debug, Default)]
pub struct Lanes {
    /// In a forked child none.
    added: PerProcess<Mutex<Vec<Lane>>>,
    /// Those of the configuration, once they are there.
    configured: OnceLock<Vec<Lane>>,
    last: AtomicU32,
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, Vec<Lane>> {
        let added = self.added.get_or_init(Mutex::default);
        added.lock()
    }

    /// The number of the next lane.
    pub fn next_number(&self) -> u32 {
        1 + self.last.fetch_add(1, Ordering::Relaxed)
    }

    /// A lane was added.
    pub fn add(&self, lane: Lane) {
        self.lock().push(lane);
    }

    /// The lane of that number has ended.
    pub fn forget(&self, number: u32) {
        self.lock().retain(|it| it.number() != number);
    }

    /// The lanes that were added and not stopped.
    #[must_use]
    pub fn all(&self) -> Vec<Lane> {
        self.lock().clone()
    }

    /// The lane of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Lane> {
        self.lock().iter().find(|lane| lane.name() == name).cloned()
    }

    /// The lane of that number.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Option<Lane> {
        let lanes = self.lock();
        lanes.iter().find(|lane| lane.number() == number).cloned()
    }

    /// Whether one of them listens there.
    #[must_use]
    pub fn listen_at(&self, channel: &Channel) -> bool {
        self.lock()
            .iter()
            .any(|lane| lane.channels().contains(channel))
    }

    /// The lanes of the configuration, once they are there.
    #[must_use]
    pub fn configured(&self) -> Option<&[Lane]> {
        self.configured.get().map(Vec::as_slice)
    }

    /// The lanes of the configuration serve.
    pub fn set_configured(&self, lanes: Vec<Lane>) {
        let _ = self.configured.set(lanes);
    }

    /// Ends all of them; to be waited for.
    #[must_use]
    pub fn halt(&self) -> Vec<Lane> {
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
        let _ = self.halt();
    }
}
