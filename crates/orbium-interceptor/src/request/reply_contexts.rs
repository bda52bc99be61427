// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts that servants add to their replies, and what dynamic servants know of their
//! requests.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::sync::Arc;

use orbium_giop::SystemException;

use crate::errors::contexts_not_collected;
use crate::request::context_list::ContextList;
use crate::request::dynamic::DynamicInvocation;

/// Identity of a request while this thread serves it: its address in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRequest(NonZeroUsize);

impl ServedRequest {
    /// The request at that place.
    #[must_use]
    #[inline]
    pub fn of<R>(request: &R) -> Self {
        Self(std::ptr::NonNull::from(request).addr())
    }
}

/// What a thread collects.
struct Collection {
    /// The innermost request that collects what its servant adds; `None` once its reply is
    /// written.
    innermost: Cell<Option<ServedRequest>>,
    /// How many entries this thread has in `ADDED` and `DESCRIBED`.
    entries: Cell<usize>,
}

thread_local! {
    static COLLECTION: Collection = const {
        Collection { innermost: Cell::new(None), entries: Cell::new(0) }
    };
    /// What servants of this thread have added so far, by their requests.
    static ADDED: RefCell<Vec<(ServedRequest, ContextList)>> = const { RefCell::new(Vec::new()) };
    /// The requests of this thread that dynamic servants have described.
    static DESCRIBED: RefCell<Vec<(ServedRequest, Arc<DynamicInvocation>)>> =
        const { RefCell::new(Vec::new()) };
}

/// Collects what the servant of a request adds to its reply, until it is dropped.
#[derive(Debug)]
pub struct AddedContexts {
    request: ServedRequest,
    outer: Option<ServedRequest>,
}

impl AddedContexts {
    /// Begins to collect for that request, which this thread serves next.
    #[must_use]
    #[inline]
    pub fn of(request: ServedRequest) -> Self {
        Self {
            request,
            outer: COLLECTION.with(|it| it.innermost.replace(Some(request))),
        }
    }

    /// Whether something may have been added.
    #[must_use]
    #[inline]
    pub fn has_any(&self) -> bool {
        COLLECTION.with(|it| it.entries.get() != 0)
    }

    /// The reply is sent next: nothing can be added later.
    #[inline]
    pub fn close(&self) {
        COLLECTION.with(|it| it.innermost.set(None));
    }

    /// Takes what was added, before the reply is sent: nothing can be added later.
    #[must_use]
    #[inline]
    pub fn take(&self) -> ContextList {
        self.close();
        if self.has_any() {
            self.take_some()
        } else {
            ContextList::default()
        }
    }

    #[cold]
    #[inline(never)]
    fn take_some(&self) -> ContextList {
        ADDED
            .with_borrow_mut(|all| {
                let own = all.iter().position(|(of, _)| *of == self.request)?;
                COLLECTION.with(|it| it.entries.update(|entries| entries - 1));
                Some(all.swap_remove(own).1)
            })
            .unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn forget(&self) {
        let _ = self.take_some();
        DESCRIBED.with_borrow_mut(|all| {
            let before = all.len();
            all.retain(|(of, _)| *of != self.request);
            let forgotten = before - all.len();
            COLLECTION.with(|it| it.entries.update(|entries| entries - forgotten));
        });
    }
}

impl Drop for AddedContexts {
    #[inline]
    fn drop(&mut self) {
        COLLECTION.with(|it| it.innermost.set(self.outer));
        if self.has_any() {
            self.forget();
        }
    }
}

/// Describes the request that this thread serves to its interceptors, if there are any: the facts
/// that they have of it then.
pub fn describe(
    request: ServedRequest,
    facts: impl FnOnce() -> DynamicInvocation,
) -> Option<Arc<DynamicInvocation>> {
    if COLLECTION.with(|it| it.innermost.get()) != Some(request) {
        return None;
    }
    let facts = Arc::new(facts());
    DESCRIBED.with_borrow_mut(|all| all.push((request, Arc::clone(&facts))));
    COLLECTION.with(|it| it.entries.update(|entries| entries + 1));
    Some(facts)
}

/// The facts of a request of this thread that its servant has described.
pub(crate) fn described(request: ServedRequest) -> Option<Arc<DynamicInvocation>> {
    DESCRIBED.with_borrow(|all| {
        let own = all.iter().find(|(of, _)| *of == request);
        own.map(|(_, facts)| Arc::clone(facts))
    })
}

/// Adds a service context to the reply of the request that this thread serves.
///
/// # Errors
/// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set; BAD_INV_ORDER 14 if
/// the reply was written already, or the ORB neither
/// [adds the contexts of servants](crate::Interceptors::with_reply_contexts) nor has
/// interceptors of requests.
pub fn add_to_reply(
    request: ServedRequest,
    id: u32,
    data: Vec<u8>,
    replace: bool,
) -> Result<(), SystemException> {
    if COLLECTION.with(|it| it.innermost.get()) != Some(request) {
        return Err(contexts_not_collected());
    }
    ADDED.with_borrow_mut(|all| {
        let own = all.iter().position(|(of, _)| *of == request);
        let own = own.unwrap_or_else(|| {
            all.push((request, ContextList::default()));
            COLLECTION.with(|it| it.entries.update(|entries| entries + 1));
            all.len() - 1
        });
        all[own].1.add(id, data, replace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_own_contexts_and_a_panic_leaves_none() {
        let (outer, inner) = (ServedRequest::of(&1), ServedRequest::of(&2));
        let of_outer = AddedContexts::of(outer);
        add_to_reply(outer, 5, vec![1], false).unwrap();
        let of_inner = AddedContexts::of(inner);
        add_to_reply(inner, 5, vec![2], false).unwrap();
        assert_eq!(of_inner.take().get(5).unwrap(), [2]);
        // Its reply is written.
        assert!(add_to_reply(inner, 7, Vec::new(), false).is_err());
        drop(of_inner);
        assert!(add_to_reply(inner, 7, Vec::new(), false).is_err());
        let panicked = std::panic::catch_unwind(|| {
            let _added = AddedContexts::of(inner);
            add_to_reply(inner, 5, vec![9], false).unwrap();
            std::panic::resume_unwind(Box::new(0))
        });
        assert!(panicked.is_err());
        assert!(add_to_reply(outer, 5, vec![4], false).is_err());
        add_to_reply(outer, 5, vec![4], true).unwrap();
        add_to_reply(outer, 6, vec![3], false).unwrap();
        let added = of_outer.take();
        assert_eq!(added.get(5).unwrap(), [4]);
        assert_eq!(added.get(6).unwrap(), [3]);
        drop(of_outer);
        assert!(add_to_reply(outer, 5, Vec::new(), false).is_err());
        assert!(ADDED.with_borrow(Vec::is_empty));
        assert_eq!(COLLECTION.with(|it| it.entries.get()), 0);
    }

    #[test]
    fn facts_of_a_request_last_as_long_as_it_is_served() {
        let (outer, inner) = (ServedRequest::of(&1), ServedRequest::of(&2));
        let of_outer = AddedContexts::of(outer);
        assert!(describe(inner, DynamicInvocation::default).is_none());
        assert!(describe(outer, DynamicInvocation::default).is_some());
        add_to_reply(outer, 5, vec![1], false).unwrap();
        let of_inner = AddedContexts::of(inner);
        assert!(described(inner).is_none());
        drop(of_inner);
        assert_eq!(of_outer.take().get(5).unwrap(), [1]);
        assert!(described(outer).is_some());
        drop(of_outer);
        assert!(described(outer).is_none());
        assert_eq!(COLLECTION.with(|it| it.entries.get()), 0);
    }
}
