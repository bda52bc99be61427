// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marking of threads that run servants of real-time adapters.

use std::cell::Cell;

thread_local! {
    /// Whether this thread runs a servant.
    static IN_UPCALL: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread runs a servant of a real-time adapter.
pub(crate) fn in_upcall() -> bool {
    IN_UPCALL.get()
}

/// Runs `work` with the thread marked as running such a servant.
pub(crate) fn while_in_upcall<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_UPCALL.set(self.0);
        }
    }
    let _restore = Restore(IN_UPCALL.replace(true));
    work()
}
