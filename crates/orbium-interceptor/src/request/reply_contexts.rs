// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts that servants add to their replies, and facts of requests to dynamic servants.

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
    /// The request at that address.
    #[must_use]
    #[inline]
    pub fn of<R>(request: &R) -> Self {
        Self(std::ptr::NonNull::from(request).addr())
    }
}

/// The state collected by a thread.
struct Collection {
    /// The innermost request with a collection; `None` once its reply is written.
    innermost: Cell<Option<ServedRequest>>,
    /// The number of entries of this thread in `LEFT_BY_SERVANTS`.
    entries: Cell<usize>,
}

/// The data collected from the servant of a request.
struct Kept {
    request: ServedRequest,
    added: ContextList,
    /// The description of the request, if its servant has made one.
    facts: Option<Arc<DynamicInvocation>>,
}

thread_local! {
    static COLLECTION: Collection = const {
        Collection { innermost: Cell::new(None), entries: Cell::new(0) }
    };
    /// The data collected from servants of this thread. Separate, so that `Collection` needs no
    /// destructor.
    static LEFT_BY_SERVANTS: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Collects the additions of a servant to its reply, until it is dropped.
#[derive(Debug)]
pub struct AddedContexts {
    request: ServedRequest,
    outer: Option<ServedRequest>,
}

impl AddedContexts {
    /// Begins the collection for that request, which this thread serves next.
    #[must_use]
    #[inline]
    pub fn of(request: ServedRequest) -> Self {
        Self {
            request,
            outer: COLLECTION.with(|it| it.innermost.replace(Some(request))),
        }
    }

    /// Whether contexts may have been added.
    #[must_use]
    #[inline]
    pub fn has_any(&self) -> bool {
        COLLECTION.with(|it| it.entries.get() != 0)
    }

    /// Closes the collection: the reply is sent next.
    #[inline]
    pub fn close(&self) {
        COLLECTION.with(|it| it.innermost.set(None));
    }

    /// Takes the added contexts before the reply is sent, and closes the collection.
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
    fn take_some(&self) -> ContextList {
        LEFT_BY_SERVANTS.with_borrow_mut(|all| {
            let own = all.iter_mut().find(|it| it.request == self.request);
            own.map(|it| std::mem::take(&mut it.added))
                .unwrap_or_default()
        })
    }

    #[cold]
    fn forget(&self) {
        LEFT_BY_SERVANTS.with_borrow_mut(|all| {
            all.retain(|it| it.request != self.request);
            COLLECTION.with(|it| it.entries.set(all.len()));
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

/// Describes the request that this thread serves to its interceptors, if any: returns the
/// description.
pub fn describe(
    request: ServedRequest,
    facts: impl FnOnce() -> DynamicInvocation,
) -> Option<Arc<DynamicInvocation>> {
    if COLLECTION.with(|it| it.innermost.get()) != Some(request) {
        return None;
    }
    let facts = Arc::new(facts());
    keep(request, |it| it.facts = Some(Arc::clone(&facts)));
    Some(facts)
}

/// The description of a request of this thread, made by its servant.
pub(crate) fn described(request: ServedRequest) -> Option<Arc<DynamicInvocation>> {
    LEFT_BY_SERVANTS.with_borrow(|all| {
        let own = all.iter().find(|it| it.request == request)?;
        own.facts.clone()
    })
}

/// Changes the collected data of a request of this thread.
fn keep<R>(request: ServedRequest, change: impl FnOnce(&mut Kept) -> R) -> R {
    LEFT_BY_SERVANTS.with_borrow_mut(|all| {
        let own = all.iter().position(|it| it.request == request);
        let own = own.unwrap_or_else(|| {
            all.push(Kept {
                request,
                added: ContextList::default(),
                facts: None,
            });
            COLLECTION.with(|it| it.entries.set(all.len()));
            all.len() - 1
        });
        change(&mut all[own])
    })
}

/// Adds a service context to the reply of the request that this thread serves.
///
/// # Errors
/// BAD_INV_ORDER 15 if there is one with that id, unless `replace` is set; BAD_INV_ORDER 14 if the
/// reply was already written, or the ORB neither [adds the contexts of
/// servants](crate::Interceptors::with_reply_contexts) nor has interceptors of requests.
pub fn add_to_reply(
    request: ServedRequest,
    id: u32,
    data: Vec<u8>,
    replace: bool,
) -> Result<(), SystemException> {
    if COLLECTION.with(|it| it.innermost.get()) != Some(request) {
        return Err(contexts_not_collected());
    }
    keep(request, |it| it.added.add(id, data, replace))
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
        assert!(LEFT_BY_SERVANTS.with_borrow(Vec::is_empty));
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
