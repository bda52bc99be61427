// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pending requests of the calling halves.

use orbium_channel::connection::Requests;

/// A calling half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HalfId(pub(crate) u64);

/// The ids of a request at its calling half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) half: HalfId,
    pub(crate) local: u32,
    /// Whether a reply is expected.
    pub(crate) is_answered: bool,
    /// Number of the announcement that the request carries; 0 for none.
    pub(crate) announced: u32,
}

/// Requests by their ids on the wire, which are those of their side of the connection. The halves
/// have separate ids.
#[derive(Debug)]
pub(crate) struct Calls(Requests<Call>);

impl Calls {
    pub(crate) fn new(is_opener: bool) -> Self {
        Self(if is_opener {
            Requests::of_opener()
        } else {
            Requests::of_acceptor()
        })
    }

    /// The id on the wire for a request of a half.
    pub(crate) fn begin(&mut self, call: Call) -> u32 {
        let id = self.0.next_id();
        self.0.insert(id, call);
        id
    }

    /// The id on the wire of a pending request. Used only for fragments and cancelled requests.
    pub(crate) fn id_of(&self, half: HalfId, local: u32) -> Option<u32> {
        self.0.find(|call| (call.half, call.local) == (half, local))
    }

    pub(crate) fn get(&self, id: u32) -> Option<Call> {
        self.0.get(id).copied()
    }

    /// Removes and returns a request of which the reply is no longer awaited.
    pub(crate) fn end(&mut self, id: u32) -> Option<Call> {
        self.0.take(id)
    }

    /// Removes the requests of a dropped half.
    pub(crate) fn forget(&mut self, half: HalfId) {
        self.0.retain(|call| call.half != half);
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
}
