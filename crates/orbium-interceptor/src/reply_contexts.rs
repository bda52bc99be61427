// SPDX-License-Identifier: MIT OR Apache-2.0
//! Service contexts that servants add to their replies.

use std::cell::{Cell, RefCell};

use orbium_giop::SystemException;

use crate::context_list::ContextList;
use crate::errors::contexts_not_collected;

/// What identifies a request while this thread serves it: where it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRequest(usize);

impl ServedRequest {
    /// The request at that place.
    #[must_use]
    #[inline]
    pub fn of<R>(request: &R) -> Self {
        Self(std::ptr::from_ref(request).addr())
    }
}

/// The innermost request of a thread that collects what its servant adds.
#[derive(Clone, Copy, Debug)]
struct Innermost {
    /// `None` once its reply is written.
    request: Option<ServedRequest>,
    /// Whether the last list of `ADDED` is its own.
    has_added: bool,
}

impl Innermost {
    const NONE: Self = Self {
        request: None,
        has_added: false,
    };
}

thread_local! {
    static INNERMOST: Cell<Innermost> = const { Cell::new(Innermost::NONE) };
    /// What servants of this thread have added so far, those of the innermost request last.
    static ADDED: RefCell<Vec<ContextList>> = const { RefCell::new(Vec::new()) };
}

/// Collects what the servant of a request adds to its reply, until it is dropped.
#[derive(Debug)]
pub struct AddedContexts {
    outer: Innermost,
}

impl AddedContexts {
    /// Begins to collect for that request, which this thread serves next.
    #[must_use]
    #[inline]
    pub fn of(request: ServedRequest) -> Self {
        let innermost = Innermost {
            request: Some(request),
            has_added: false,
        };
        Self {
            outer: INNERMOST.replace(innermost),
        }
    }

    /// Takes what was added, before the reply is sent: nothing can be added later.
    #[must_use]
    #[inline]
    pub fn take(&self) -> ContextList {
        match INNERMOST.replace(Innermost::NONE).has_added {
            false => ContextList::default(),
            true => ADDED.with_borrow_mut(Vec::pop).unwrap_or_default(),
        }
    }
}

impl Drop for AddedContexts {
    #[inline]
    fn drop(&mut self) {
        if INNERMOST.replace(self.outer).has_added {
            let _ = ADDED.with_borrow_mut(Vec::pop);
        }
    }
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
    let innermost = INNERMOST.get();
    if innermost.request != Some(request) {
        return Err(contexts_not_collected());
    }
    ADDED.with_borrow_mut(|all| {
        if !innermost.has_added {
            all.push(ContextList::default());
            INNERMOST.set(Innermost {
                has_added: true,
                ..innermost
            });
        }
        let added = all.last_mut().ok_or_else(contexts_not_collected)?;
        added.add(id, data, replace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_own_contexts_and_a_panic_leaves_none() {
        let (outer, inner) = (ServedRequest(1), ServedRequest(2));
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
    }
}
