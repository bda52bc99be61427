// SPDX-License-Identifier: MIT OR Apache-2.0
//! The upcalls of a thread, the innermost last: the state of `PortableServer::Current`.

use std::cell::RefCell;
use std::sync::Arc;

use crate::Servant;
use crate::adapter::object::Adapter;

/// An upcall to a servant, or to the servant manager that is to provide it.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) adapter: Arc<dyn Adapter>,
    pub(super) id: Box<[u8]>,
    pub(super) servant: Option<Arc<dyn Servant>>,
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// Runs `body` as an upcall.
pub(super) fn within<R>(frame: Frame, body: impl FnOnce() -> R) -> R {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            // Dropped after the list is released: a servant may run code of its own.
            let _popped = FRAMES.with_borrow_mut(Vec::pop);
        }
    }
    FRAMES.with_borrow_mut(|frames| frames.push(frame));
    let _pop = Pop;
    body()
}

/// The innermost upcall of this thread.
pub(super) fn innermost() -> Option<Frame> {
    FRAMES.with_borrow(|frames| frames.last().cloned())
}

/// Whether an upcall to that object is on this thread's stack.
pub(super) fn is_within(adapter: &Arc<dyn Adapter>, id: &[u8]) -> bool {
    let is_it = |it: &Frame| Arc::ptr_eq(&it.adapter, adapter) && *it.id == *id;
    FRAMES.with_borrow(|frames| frames.iter().any(is_it))
}
