// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of values that hold others.
//!
//! A message describes a chain of any length without nesting its values: each refers back to the
//! one before. Its end must not take stack for each of them.

use core::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::State;
use crate::handle::Object;

type Last = Arc<Object<dyn State>>;

/// Values within values that are freed on the stack; those below them are freed after these.
const MAX_NESTED: u32 = 32;

thread_local! {
    /// Values that this thread is freeing.
    static NESTED: Cell<u32> = const { Cell::new(0) };
    /// Values that are freed once the stack is free again.
    static PENDING: RefCell<Vec<Last>> = const { RefCell::new(Vec::new()) };
}

/// One value more that is being freed.
struct Level;

impl Level {
    fn enter() -> Self {
        NESTED.set(NESTED.get() + 1);
        Self
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// Drops what is likely to be the last handle on a value.
pub(crate) fn free(object: Last) {
    let level = NESTED.get();
    if level >= MAX_NESTED {
        // At the end of a thread, when the list is gone, the value is freed here.
        let _ = PENDING.try_with(|pending| pending.borrow_mut().push(object));
        return;
    }
    let entered = Level::enter();
    drop(object);
    if level == 0 {
        while let Some(next) = PENDING.try_with(|it| it.borrow_mut().pop()).ok().flatten() {
            drop(next);
        }
    }
    drop(entered);
}
