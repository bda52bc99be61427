// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of an ORB.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use orbium_channel::Channel;
use orbium_sync::Versions;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::PerProcess;

use crate::{Lane, OWN};

/// The lanes added to an ORB; they end with it.
///
/// ```
/// let lanes = orbium_lane::Lanes::default();
/// assert_eq!(lanes.next_number(), 1);
/// assert_eq!(lanes.named("urgent"), None);
/// ```
#[derive(Debug)]
pub struct Lanes {
    /// None in a forked child.
    added: PerProcess<Mutex<Added>>,
    /// The lanes of adapters that name none, once they serve; empty for only the ORB's own. Earlier
    /// versions remain: a lane that has ended keeps its memory, but neither threads nor
    /// descriptors.
    shared: Versions<Option<Vec<Lane>>>,
    /// Whether there are or will be any.
    any_shared: AtomicBool,
    last: AtomicU32,
}

#[derive(Debug, Default)]
struct Added {
    lanes: Vec<Lane>,
    /// Lanes that ended while the ORB continues: their threads may still serve.
    ended: Vec<Lane>,
    /// Lanes that will be shared as soon as the ORB's own lane serves.
    early: Vec<Lane>,
    /// The number of requests refused by lanes that were removed.
    refused: u64,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            added: PerProcess::new(),
            shared: Versions::new(None),
            any_shared: AtomicBool::new(false),
            last: AtomicU32::new(0),
        }
    }
}

impl Lanes {
    fn lock(&self) -> MutexGuard<'_, Added> {
        let added = self.added.get_or_init(Mutex::default);
        added.lock()
    }

    /// The number for the next lane.
    pub fn next_number(&self) -> u32 {
        1 + self.last.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a lane.
    pub fn add(&self, lane: Lane) {
        self.lock().lanes.push(lane);
    }

    /// Removes the lane with that number: it has ended.
    pub fn forget(&self, number: u32) {
        let mut added = self.lock();
        let place = added.lanes.iter().position(|it| it.number() == number);
        if let Some(place) = place {
            let lane = added.lanes.remove(place);
            added.refused += lane.refused_requests();
        }
    }

    /// The number of requests refused so far in any of them, including those that have ended.
    #[must_use]
    pub fn refused_requests(&self) -> u64 {
        let added = self.lock();
        let lanes = added.lanes.iter().chain(&added.ended);
        added.refused + lanes.map(Lane::refused_requests).sum::<u64>()
    }

    /// The added lanes that were not stopped.
    #[must_use]
    pub fn all(&self) -> Vec<Lane> {
        self.lock().lanes.clone()
    }

    /// The lane with that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Lane> {
        let added = self.lock();
        added.lanes.iter().find(|lane| lane.name() == name).cloned()
    }

    /// The lane with that number, which may be about to end.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Option<Lane> {
        let added = self.lock();
        let mut lanes = added.lanes.iter().chain(&added.ended);
        lanes.find(|lane| lane.number() == number).cloned()
    }

    /// Whether one of them listens at that channel.
    #[must_use]
    pub fn listen_at(&self, channel: &Channel) -> bool {
        let added = self.lock();
        let mut lanes = added.lanes.iter();
        lanes.any(|lane| lane.channels().contains(channel))
    }

    /// Whether any lanes but the ORB's own serve adapters that name none, or will once it serves.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.any_shared.load(Ordering::Acquire)
    }

    /// Announces shared lanes that start with the ORB's own.
    pub fn expect_shared(&self) {
        self.any_shared.store(true, Ordering::Release);
    }

    /// The lanes of adapters that name none, once they serve; empty for only the ORB's own.
    #[must_use]
    pub fn shared(&self) -> Option<&[Lane]> {
        self.shared.current().as_deref()
    }

    /// Sets the first shared lanes, which may include the ORB's own.
    pub fn begin_shared(&self, mut lanes: Vec<Lane>) {
        let mut added = self.lock();
        if self.shared().is_none() {
            mem::take(&mut added.early)
                .into_iter()
                .for_each(|lane| insert(&mut lanes, lane));
            // It was not replaced before.
            let _ = self.shared.replace(Some(without_own_alone(lanes)));
        }
    }

    /// Whether [`change_shared`](Self::change_shared) has reached its limit of changes.
    #[must_use]
    pub fn are_final(&self) -> bool {
        self.shared.is_final()
    }

    /// Whether no lane would serve adapters that name none without these.
    #[must_use]
    pub fn are_all_in(&self, ending: &[Lane]) -> bool {
        match self.shared() {
            // The ORB's own lane serves them.
            Some([]) | None => false,
            Some(lanes) => lanes.iter().all(|lane| ending.contains(lane)),
        }
    }

    /// Whether the lane with that number ends while the ORB continues.
    #[must_use]
    pub fn is_ending(&self, number: u32) -> bool {
        self.numbered(number).is_some_and(|lane| lane.is_leaving())
    }

    /// Adds lanes for adapters that name none, and removes ending ones, which are no longer found
    /// by name. Ending lanes complete their requests in progress.
    pub fn change_shared(&self, joining: &[Lane], ending: &[Lane], own: Option<Lane>) {
        let mut added = self.lock();
        let begun = match self.shared() {
            Some([]) | None => own.map(|own| vec![own]),
            Some(lanes) => Some(lanes.to_vec()),
        };
        match begun {
            Some(mut lanes) => {
                lanes.retain(|lane| !ending.contains(lane));
                for lane in joining {
                    insert(&mut lanes, lane.clone());
                }
                // Checked before by `are_final`.
                let _ = self.shared.replace(Some(without_own_alone(lanes)));
            }
            None => {
                added.early.retain(|lane| !ending.contains(lane));
                added.early.extend_from_slice(joining);
            }
        }
        self.any_shared.store(true, Ordering::Release);
        added.lanes.retain(|lane| !ending.contains(lane));
        added.ended.extend_from_slice(ending);
    }

    /// Halts all lanes; the caller waits for their end.
    #[must_use]
    pub fn halt(&self) -> Vec<Lane> {
        let mut added = mem::take(&mut *self.lock());
        let mut lanes = added.lanes;
        lanes.append(&mut added.ended);
        for lane in &lanes {
            lane.halt();
        }
        lanes
    }
}

/// The ORB's own lane alone is represented by an empty list: objects that it serves need no check
/// of lanes.
fn without_own_alone(lanes: Vec<Lane>) -> Vec<Lane> {
    match &lanes[..] {
        [only] if only.number() == OWN => Vec::new(),
        _ => lanes,
    }
}

/// Inserts a lane after those that are not more urgent.
fn insert(lanes: &mut Vec<Lane>, lane: Lane) {
    let place = lanes.partition_point(|other| other.priority() <= lane.priority());
    lanes.insert(place, lane);
}

impl Drop for Lanes {
    /// Halts the lanes: the last handle of the ORB is gone.
    fn drop(&mut self) {
        let _ = self.halt();
    }
}
