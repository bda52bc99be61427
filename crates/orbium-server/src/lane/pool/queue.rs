// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of a lane, and the share of each connection in it.
//!
//! When the queue is full, a connection with less than its share of it (the queue divided by the
//! connections with items in it) is not refused: its request is deferred, reading from the
//! connection pauses, and the request gets the next free permit. So one client that fills the queue
//! does not cause requests of others to be refused. Collocated callers share it like one
//! connection, but are not deferred.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::lane::waiting::Waiting;
use orbium_lane::QueueBounds;

use super::item::Item;

/// Queued requests.
pub(super) struct Queue {
    waiting: Waiting<Item>,
    /// Requests without a place yet: at most one per connection.
    deferred: Waiting<Item>,
    shares: HashMap<u64, Share, BuildHasherDefault<ById>>,
    most_octets: usize,
}

/// The items of a connection in the queue, deferred or not.
#[derive(Clone, Copy, Default)]
struct Share {
    requests: usize,
    octets: usize,
}

/// The ORB numbers its connections itself: a peer cannot provoke collisions.
#[derive(Default)]
struct ById(u64);

impl Hasher for ById {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        octets
            .iter()
            .for_each(|octet| self.write_u64(u64::from(*octet)));
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Queue {
    /// A queue of at most that many bytes, except for a single request.
    pub(super) fn new(most_octets: usize) -> Self {
        Self {
            waiting: Waiting::new(most_octets),
            deferred: Waiting::new(usize::MAX),
            shares: HashMap::default(),
            most_octets,
        }
    }

    /// Limits the size of later items.
    pub(super) fn bound_octets(&mut self, most: usize) {
        self.most_octets = most;
        self.waiting.bound_octets(most);
    }

    /// The number of items with a place.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The number of all items, including deferred ones.
    pub(super) fn all(&self) -> usize {
        self.waiting.len() + self.deferred.len()
    }

    /// Enqueues a request, unless there are `most` already, or its size exceeds the limit; then it
    /// is deferred if its connection has less than its share of `shared_out`, places and bytes.
    /// Returns whether it has a place.
    pub(super) fn put(
        &mut self,
        request: Item,
        most: usize,
        shared_out: (usize, usize),
    ) -> Result<bool, Box<Item>> {
        let (id, octets) = (request.sharer(), request.len());
        let put = self.waiting.put(request.place(), octets, request, most);
        match put {
            Ok(()) => {
                self.add(id, octets);
                Ok(true)
            }
            Err(request) if self.may_defer(&request, shared_out) => {
                self.defer(request);
                Ok(false)
            }
            Err(request) => Err(Box::new(request)),
        }
    }

    /// Whether a connection has less than its share of the places, and others have some, so that
    /// one becomes free.
    #[cold]
    fn may_defer(&self, request: &Item, (places, octets): (usize, usize)) -> bool {
        let Some(connection) = request.connection() else {
            return false;
        };
        let own = self.shares.get(&connection.id).copied().unwrap_or_default();
        let sharing = self.shares.len() + usize::from(own.requests == 0);
        let is_fair = 1 < sharing
            && sharing <= places
            && own.requests < places / sharing
            && own.octets.saturating_add(request.len()) <= octets.min(self.most_octets) / sharing;
        is_fair && self.waiting.len() > own.requests && !connection.waits_for_room()
    }

    #[cold]
    fn defer(&mut self, request: Item) {
        let (id, octets) = (request.sharer(), request.len());
        if let Some(connection) = request.connection() {
            connection.begin_to_wait_for_room();
        }
        self.add(id, octets);
        // Its capacity is unlimited.
        let _ = self
            .deferred
            .put(request.place(), octets, request, usize::MAX);
    }

    fn add(&mut self, id: u64, octets: usize) {
        let share = self.shares.entry(id).or_default();
        share.requests += 1;
        share.octets += octets;
    }

    fn subtract(&mut self, request: &Item) {
        let id = request.sharer();
        if let Some(share) = self.shares.get_mut(&id) {
            share.requests -= 1;
            share.octets -= request.len();
            if share.requests == 0 {
                self.shares.remove(&id);
            }
        }
    }

    /// Takes the first item that may begin. Deferred ones are considered when no other may.
    pub(super) fn take(&mut self, may_begin: impl Fn(&Item) -> bool) -> Option<Item> {
        let taken = self.waiting.take(&may_begin);
        let taken = taken.or_else(|| self.take_deferred(&may_begin))?;
        self.subtract(&taken);
        Some(taken)
    }

    #[inline]
    fn take_deferred(&mut self, may_begin: impl Fn(&Item) -> bool) -> Option<Item> {
        if self.deferred.len() == 0 {
            return None;
        }
        let taken = self.deferred.take(may_begin)?;
        has_room(&taken);
        Some(taken)
    }

    /// Assigns free places to deferred requests; returns whether there were any.
    #[inline]
    pub(super) fn refill(&mut self, most: usize, bounds: Option<&QueueBounds>) -> bool {
        self.deferred.len() > 0 && self.place_deferred(most, bounds)
    }

    #[cold]
    fn place_deferred(&mut self, most: usize, bounds: Option<&QueueBounds>) -> bool {
        let mut any = false;
        while self.waiting.len() < most.max(1) {
            let looked = Cell::new(false);
            let (waiting, alone) = (&self.waiting, self.waiting.len() == 0);
            let fits = |it: &Item| {
                // In order of arrival: a smaller request does not overtake the first.
                !looked.replace(true) && (alone || waiting.has_room(it.len()))
            };
            let Some(mut request) = self.deferred.take(fits) else {
                break;
            };
            let (place, octets) = (request.place(), request.len());
            // If this queue is empty, none of its workers would check again.
            if !alone && bounds.is_some_and(|bounds| !request.acquire(bounds)) {
                let _ = self.deferred.put(place, octets, request, usize::MAX);
                break;
            }
            has_room(&request);
            let _ = self.waiting.put(place, octets, request, usize::MAX);
            any = true;
        }
        any
    }

    /// Takes the item that got a place last.
    pub(super) fn take_last(&mut self) -> Option<Item> {
        let taken = self.waiting.take_last()?;
        self.subtract(&taken);
        Some(taken)
    }

    /// Removes the matching items.
    pub(super) fn remove(&mut self, which: &dyn Fn(&Item) -> bool) -> Vec<Item> {
        let mut removed = self.deferred.remove(which);
        removed.iter().for_each(has_room);
        removed.append(&mut self.waiting.remove(which));
        for request in &removed {
            self.subtract(request);
        }
        removed
    }
}

/// Resumes reading from the connection of a deferred request.
fn has_room(request: &Item) {
    if let Some(connection) = request.connection() {
        connection.has_room();
    }
}
