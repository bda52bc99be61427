// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts that servants add to their replies.

use std::cell::RefCell;

use orbium_giop::SystemException;

use crate::context_list::ContextList;
use crate::errors::contexts_not_collected;

/// What identifies a request while this thread serves it: where it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRequest(usize);

impl ServedRequest {
    /// The request at that place.
    #[must_use]
    pub fn of<R>(request: &R) -> Self {
        Self(std::ptr::from_ref(request).addr())
    }
}

thread_local! {
    /// What servants of this thread have added so far, the innermost request last.
    static ADDED: RefCell<Vec<(ServedRequest, ContextList)>> = const { RefCell::new(Vec::new()) };
}

/// Runs a servant, and returns what it has added to its reply.
pub fn collecting<R>(request: ServedRequest, serve: impl FnOnce() -> R) -> (R, ContextList) {
    /// Ends the collection, also where `serve` panics.
    struct Collected(usize);
    impl Drop for Collected {
        fn drop(&mut self) {
            ADDED.with_borrow_mut(|all| all.truncate(self.0));
        }
    }
    let depth = ADDED.with_borrow_mut(|all| {
        all.push((request, ContextList::default()));
        all.len() - 1
    });
    let _collected = Collected(depth);
    let served = serve();
    let added = ADDED.with_borrow_mut(|all| all.drain(depth..).next());
    (
        served,
        added.map_or_else(ContextList::default, |(_, added)| added),
    )
}

/// Adds a service context to the reply of a request that this thread serves.
///
/// # Errors
/// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set; BAD_INV_ORDER 14 if
/// the ORB neither [adds the contexts of servants](crate::Interceptors::with_reply_contexts)
/// nor has interceptors of requests.
pub fn add_to_reply(
    request: ServedRequest,
    id: u32,
    data: Vec<u8>,
    replace: bool,
) -> Result<(), SystemException> {
    ADDED.with_borrow_mut(|all| {
        let own = all.iter_mut().rev().find(|(it, _)| *it == request);
        let (_, added) = own.ok_or_else(contexts_not_collected)?;
        added.add(id, data, replace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_own_contexts_and_a_panic_leaves_none() {
        let (outer, inner) = (ServedRequest(1), ServedRequest(2));
        let ((), added) = collecting(outer, || {
            add_to_reply(outer, 5, vec![1], false).unwrap();
            let ((), nested) = collecting(inner, || {
                add_to_reply(inner, 5, vec![2], false).unwrap();
                add_to_reply(outer, 6, vec![3], false).unwrap();
            });
            assert_eq!(nested.get(5).unwrap(), [2]);
            assert!(add_to_reply(inner, 7, Vec::new(), false).is_err());
            let panicked = std::panic::catch_unwind(|| {
                collecting(inner, || std::panic::resume_unwind(Box::new(0)))
            });
            assert!(panicked.is_err());
            assert!(add_to_reply(outer, 5, vec![4], false).is_err());
            add_to_reply(outer, 5, vec![4], true).unwrap();
        });
        assert_eq!(added.get(5).unwrap(), [4]);
        assert_eq!(added.get(6).unwrap(), [3]);
        assert!(add_to_reply(outer, 5, Vec::new(), false).is_err());
    }
}
