// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of the calling halves that wait for their replies.

use std::collections::HashMap;

use orbium_channel::connection::Requests;

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

/// Requests by their ids on the wire, which are those of their side of the connection. The
/// halves have ids of their own.
#[derive(Debug)]
pub(crate) struct Calls {
    pending: Requests<Call>,
    by_half: HashMap<(HalfId, u32), u32>,
}

impl Calls {
    pub(crate) fn new(is_opener: bool) -> Self {
        Self {
            pending: if is_opener {
                Requests::of_opener()
            } else {
                Requests::of_acceptor()
            },
            by_half: HashMap::new(),
        }
    }

    /// Whether the requests of this side have ids like that one.
    pub(crate) fn number(&self, id: u32) -> bool {
        self.pending.numbers(id)
    }

    /// The id on the wire for a request of a half.
    pub(crate) fn begin(&mut self, call: Call) -> u32 {
        let id = self.pending.next_id();
        // A half uses an id again only after it has given the former request up.
        if let Some(former) = self.by_half.insert((call.half, call.local), id) {
            self.pending.take(former);
        }
        self.pending.insert(id, call);
        id
    }

    /// The id on the wire of a request that was begun.
    pub(crate) fn id_of(&self, half: HalfId, local: u32) -> Option<u32> {
        self.by_half.get(&(half, local)).copied()
    }

    pub(crate) fn get(&self, id: u32) -> Option<Call> {
        self.pending.get(id).copied()
    }

    /// No reply is awaited any more.
    pub(crate) fn end(&mut self, id: u32) {
        if let Some(call) = self.pending.take(id) {
            self.by_half.remove(&(call.half, call.local));
        }
    }

    /// A half is gone.
    pub(crate) fn forget(&mut self, half: HalfId) {
        self.pending.retain(|call| call.half != half);
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
}
