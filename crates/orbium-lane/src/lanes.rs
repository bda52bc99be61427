// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lanes of an ORB.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use orbium_channel::Channel;
use orbium_sync::Versions;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sys::fork::PerProcess;

use crate::{Lane, OWN};

/// The lanes that were added to an ORB; they end with it.
///
/// ```
/// let lanes = orbium_lane::Lanes::default();
/// assert_eq!(lanes.next_number(), 1);
/// assert_eq!(lanes.named("urgent"), None);
/// ```
#[derive(Debug)]
pub struct Lanes {
    /// In a forked child none.
    added: PerProcess<Mutex<Added>>,
    /// Those that serve adapters which name none, once they are there; none for the ORB's own
    /// alone. Earlier versions stay: a lane that has ended keeps its memory, but neither threads
    /// nor descriptors.
    shared: Versions<Option<Vec<Lane>>>,
    /// Whether there are or will be any.
    any_shared: AtomicBool,
    last: AtomicU32,
}

#[derive(Debug, Default)]
struct Added {
    lanes: Vec<Lane>,
    /// Those that ended while the ORB runs: threads of theirs may still serve.
    ended: Vec<Lane>,
    /// Those that will be shared as soon as the ORB's own lane serves.
    early: Vec<Lane>,
    /// Requests that lanes refused which are forgotten.
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

    /// The number of the next lane.
    pub fn next_number(&self) -> u32 {
        1 + self.last.fetch_add(1, Ordering::Relaxed)
    }

    /// A lane was added.
    pub fn add(&self, lane: Lane) {
        self.lock().lanes.push(lane);
    }

    /// The lane of that number has ended.
    pub fn forget(&self, number: u32) {
        let mut added = self.lock();
        let place = added.lanes.iter().position(|it| it.number() == number);
        if let Some(place) = place {
            let lane = added.lanes.remove(place);
            added.refused += lane.refused_requests();
        }
    }

    /// Requests for which there was no room so far in any of them, those that have ended included.
    #[must_use]
    pub fn refused_requests(&self) -> u64 {
        let added = self.lock();
        let lanes = added.lanes.iter().chain(&added.ended);
        added.refused + lanes.map(Lane::refused_requests).sum::<u64>()
    }

    /// The lanes that were added and not stopped.
    #[must_use]
    pub fn all(&self) -> Vec<Lane> {
        self.lock().lanes.clone()
    }

    /// The lane of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Lane> {
        let added = self.lock();
        added.lanes.iter().find(|lane| lane.name() == name).cloned()
    }

    /// The lane of that number, which may be about to end.
    #[must_use]
    pub fn numbered(&self, number: u32) -> Option<Lane> {
        let added = self.lock();
        let mut lanes = added.lanes.iter().chain(&added.ended);
        lanes.find(|lane| lane.number() == number).cloned()
    }

    /// Whether one of them listens there.
    #[must_use]
    pub fn listen_at(&self, channel: &Channel) -> bool {
        let added = self.lock();
        let mut lanes = added.lanes.iter();
        lanes.any(|lane| lane.channels().contains(channel))
    }

    /// Whether any lanes but the ORB's own serve adapters which name none, or will once it serves.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        self.any_shared.load(Ordering::Acquire)
    }

    /// Lanes will be shared that begin with the ORB's own.
    pub fn expect_shared(&self) {
        self.any_shared.store(true, Ordering::Release);
    }

    /// The lanes that serve adapters which name none, once they are there; none for the ORB's own
    /// alone.
    #[must_use]
    pub fn shared(&self) -> Option<&[Lane]> {
        self.shared.current().as_deref()
    }

    /// The first of these lanes serve, the ORB's own among them if it is one.
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

    /// Whether [`change_shared`](Self::change_shared) cannot change anything any more.
    #[must_use]
    pub fn are_final(&self) -> bool {
        self.shared.is_final()
    }

    /// Whether no lane would serve adapters which name none without these.
    #[must_use]
    pub fn are_all_in(&self, ending: &[Lane]) -> bool {
        match self.shared() {
            // The ORB's own lane serves them.
            Some([]) | None => false,
            Some(lanes) => lanes.iter().all(|lane| ending.contains(lane)),
        }
    }

    /// Whether the lane of that number ends while the ORB runs on.
    #[must_use]
    pub fn is_ending(&self, number: u32) -> bool {
        self.numbered(number).is_some_and(|lane| lane.is_leaving())
    }

    /// Lanes serve adapters which name none from now on, and others end, which the ORB no longer
    /// finds by their names. Those that serve a request still finish it.
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
                // Asked before: `are_final`.
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

    /// Ends all of them; to be waited for.
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

/// The ORB's own lane alone is none: objects that it serves need no look at any.
fn without_own_alone(lanes: Vec<Lane>) -> Vec<Lane> {
    match &lanes[..] {
        [only] if only.number() == OWN => Vec::new(),
        _ => lanes,
    }
}

/// Inserts a lane behind those that are not more urgent.
fn insert(lanes: &mut Vec<Lane>, lane: Lane) {
    let place = lanes.partition_point(|other| other.priority() <= lane.priority());
    lanes.insert(place, lane);
}

impl Drop for Lanes {
    /// The last reference to the ORB is gone: its lanes stop.
    fn drop(&mut self) {
        let _ = self.halt();
    }
}
