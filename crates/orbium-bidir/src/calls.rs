// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of the calling halves that wait for their replies.

use std::collections::HashMap;

/// A calling half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HalfId(pub(crate) u64);

/// A request as its calling half knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) half: HalfId,
    pub(crate) local: u32,
    /// Whether a reply is to come.
    pub(crate) is_answered: bool,
    /// Number of the announcement that the request carries; 0 for none.
    pub(crate) announced: u32,
}

/// Requests by their id on the wire: even for the side that opened the connection, odd for
/// the other, so that both can send requests (clause 9.3.1). The halves have ids of their own.
#[derive(Debug)]
pub(crate) struct Calls {
    pending: HashMap<u32, Call>,
    by_half: HashMap<(HalfId, u32), u32>,
    last: u32,
}

impl Calls {
    pub(crate) fn new(is_opener: bool) -> Self {
        Self {
            pending: HashMap::new(),
            by_half: HashMap::new(),
            // The first is 2 or 1.
            last: if is_opener { 0 } else { u32::MAX },
        }
    }

    /// Whether the requests of this side have ids like that one.
    pub(crate) fn has_parity_of(&self, id: u32) -> bool {
        self.last % 2 == id % 2
    }

    /// The id on the wire for a request of a half.
    pub(crate) fn begin(&mut self, call: Call) -> u32 {
        loop {
            self.last = self.last.wrapping_add(2);
            if !self.pending.contains_key(&self.last) {
                break;
            }
        }
        // A half uses an id again only after it has given the former request up.
        if let Some(former) = self.by_half.insert((call.half, call.local), self.last) {
            self.pending.remove(&former);
        }
        self.pending.insert(self.last, call);
        self.last
    }

    /// The id on the wire of a request that was begun.
    pub(crate) fn id_of(&self, half: HalfId, local: u32) -> Option<u32> {
        self.by_half.get(&(half, local)).copied()
    }

    pub(crate) fn get(&self, id: u32) -> Option<Call> {
        self.pending.get(&id).copied()
    }

    /// No reply is awaited any more.
    pub(crate) fn end(&mut self, id: u32) {
        if let Some(call) = self.pending.remove(&id) {
            self.by_half.remove(&(call.half, call.local));
        }
    }

    /// A half is gone.
    pub(crate) fn forget(&mut self, half: HalfId) {
        self.pending.retain(|_, call| call.half != half);
        self.by_half.retain(|(of, _), _| *of != half);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(half: u64, local: u32) -> Call {
        Call {
            half: HalfId(half),
            local,
            is_answered: true,
            announced: 0,
        }
    }

    #[test]
    fn the_ids_of_the_two_sides_never_meet() {
        let (mut opener, mut acceptor) = (Calls::new(true), Calls::new(false));
        for local in 0..100 {
            let (even, odd) = (opener.begin(call(1, local)), acceptor.begin(call(1, local)));
            assert_eq!((even % 2, odd % 2), (0, 1));
            assert!(opener.has_parity_of(even) && !opener.has_parity_of(odd));
            assert!(acceptor.has_parity_of(odd) && !acceptor.has_parity_of(even));
        }
    }

    #[test]
    fn halves_with_the_same_ids_get_different_ones() {
        let mut calls = Calls::new(true);
        let (one, other) = (calls.begin(call(1, 2)), calls.begin(call(2, 2)));
        assert_ne!(one, other);
        assert_eq!(calls.id_of(HalfId(2), 2), Some(other));
        calls.forget(HalfId(1));
        assert_eq!((calls.get(one), calls.id_of(HalfId(1), 2)), (None, None));
        assert_eq!(calls.get(other), Some(call(2, 2)));
        calls.end(other);
        assert_eq!(calls.get(other), None);
    }

    #[test]
    fn a_request_given_up_is_forgotten_when_its_id_is_used_again() {
        let mut calls = Calls::new(false);
        let former = calls.begin(call(1, 2));
        let next = calls.begin(call(1, 2));
        assert_eq!(calls.get(former), None);
        assert_eq!(calls.id_of(HalfId(1), 2), Some(next));
    }

    #[test]
    fn an_id_is_not_given_again_while_its_request_waits() {
        let mut calls = Calls::new(true);
        let first = calls.begin(call(1, 2));
        calls.last = first.wrapping_sub(2);
        assert_eq!(calls.begin(call(1, 4)), first + 2);
    }
}
