// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pending requests by id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hasher for ids, which have a constant step: unhashed, they would fall into the same few buckets.
#[derive(Clone, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        // The low bits of a product do not depend on the high ones of its factors.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        // Odd and without a pattern: the golden ratio of 64 bits.
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Pending requests of one side of a connection.
///
/// Ids are even on the side that opened the connection and odd on the other, so that both
/// may send requests over it (clause 9.3.1).
#[derive(Debug)]
pub struct Requests<T> {
    pending: HashMap<u32, T, BuildHasherDefault<IdHasher>>,
    last_id: u32,
}

impl<T> Requests<T> {
    /// Requests of the side that opened the connection: even ids.
    #[must_use]
    pub fn of_opener() -> Self {
        Self::after(0)
    }

    /// Requests of the side that accepted the connection: odd ids.
    #[must_use]
    pub fn of_acceptor() -> Self {
        // The first is 1.
        Self::after(u32::MAX)
    }

    fn after(last_id: u32) -> Self {
        Self {
            pending: HashMap::default(),
            last_id,
        }
    }

    /// Whether requests of this side have ids of that parity.
    #[must_use]
    pub fn numbers(&self, id: u32) -> bool {
        self.last_id % 2 == id % 2
    }

    /// An id that no pending request has.
    pub fn next_id(&mut self) -> u32 {
        self.last_id = self.last_id.wrapping_add(2);
        while self.pending.contains_key(&self.last_id) {
            self.last_id = self.last_id.wrapping_add(2);
        }
        self.last_id
    }

    /// Adds a pending request with an id from `next_id`.
    pub fn insert(&mut self, id: u32, request: T) {
        self.pending.insert(id, request);
    }

    /// Removes the request to which a reply with that id belongs; `None` if it is no longer
    /// pending: such a reply is discarded.
    pub fn take(&mut self, id: u32) -> Option<T> {
        self.pending.remove(&id)
    }

    /// The request with that id.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&T> {
        self.pending.get(&id)
    }

    /// The request with that id, to be changed.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.pending.get_mut(&id)
    }

    /// The id of the request for which `is_it` is true; at most one matches.
    #[must_use]
    pub fn find(&self, mut is_it: impl FnMut(&T) -> bool) -> Option<u32> {
        let mut found = self.pending.iter().filter(|(_, request)| is_it(request));
        found.next().map(|(id, _)| *id)
    }

    /// The number of pending requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether no request is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Removes the requests for which `waits` is false.
    pub fn retain(&mut self, mut waits: impl FnMut(&T) -> bool) {
        self.pending.retain(|_, request| waits(request));
    }

    /// Removes all pending requests, after the end of the connection.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.pending).into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_the_two_sides_never_meet() {
        let (mut opener, mut acceptor) =
            (Requests::<()>::of_opener(), Requests::<()>::of_acceptor());
        for _ in 0..100 {
            let (even, odd) = (opener.next_id(), acceptor.next_id());
            assert_eq!((even % 2, odd % 2), (0, 1));
            assert!(opener.numbers(even) && !opener.numbers(odd));
            assert!(acceptor.numbers(odd) && !acceptor.numbers(even));
        }
    }

    #[test]
    fn an_id_is_not_given_again_while_its_request_waits() {
        let mut requests = Requests::of_opener();
        let first = requests.next_id();
        requests.insert(first, "first");
        // After so many requests the ids wrap around.
        requests.last_id = first.wrapping_sub(2);
        assert_eq!(requests.next_id(), first + 2);
        assert_eq!(requests.take(first), Some("first"));
        assert_eq!(requests.take(first), None);
    }
}
