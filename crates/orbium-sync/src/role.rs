// SPDX-License-Identifier: MIT OR Apache-2.0
//! The role of a thread while it runs a servant.
//!
//! A thread that reads a connection (or polls many) and runs a servant in
//! between must not block there: a request on which its own call depends could
//! be waiting unread. So before an ORB thread blocks for a reply it calls
//! [`about_to_block`], and the code that wrapped the servant in [`while_serving`]
//! can hand its role off to another thread.

use std::cell::Cell;
use std::ptr::NonNull;

/// A role that can be handed over.
pub trait Role {
    /// The thread is about to block. Called any number of times.
    fn hand_over(&self);

    /// The thread is about to wait for a reply, and dispatches other requests while it waits. May
    /// be called repeatedly.
    fn wait(&self) {
        self.hand_over();
    }

    /// The ORB that the thread serves: a number unique to it.
    fn owner(&self) -> usize;
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<dyn Role>>> = const { Cell::new(None) };
}

/// Sets or clears the role of this thread; returns the previous one.
#[inline]
fn replace(role: Option<NonNull<dyn Role>>) -> Option<NonNull<dyn Role>> {
    // `with` is a call from other crates; `try_with` is inlined, and never fails here.
    let replaced = CURRENT.try_with(|current| current.replace(role));
    replaced.unwrap_or(None)
}

/// Restores the previous role, also on unwinding.
struct Restore(Option<NonNull<dyn Role>>);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        replace(self.0);
    }
}

/// Runs `body` with `role` as the role of this thread.
#[inline]
#[allow(unsafe_code)]
pub fn while_serving<R>(role: &dyn Role, body: impl FnOnce() -> R) -> R {
    // SAFETY: only the lifetime is erased. The pointer is reachable through
    // CURRENT alone, on this thread alone, and `Restore` takes it out before
    // this function returns or unwinds, while `role` is still borrowed.
    let role: NonNull<dyn Role> = unsafe { std::mem::transmute(NonNull::from(role)) };
    let _restore = Restore(replace(Some(role)));
    body()
}

/// Runs `body` as serving a caller further up on this very stack (a collocated call): the only role
/// to hand off is one that is held already.
#[inline]
pub fn while_serving_own_thread<R>(owner: usize, body: impl FnOnce() -> R) -> R {
    struct Nothing(usize);
    impl Role for Nothing {
        fn hand_over(&self) {}
        fn owner(&self) -> usize {
            self.0
        }
    }
    // Inlined, as in `replace`.
    if CURRENT.try_with(Cell::get).is_ok_and(|role| role.is_some()) {
        body()
    } else {
        while_serving(&Nothing(owner), body)
    }
}

/// Announces that this thread is about to block. Has no effect on a thread without a role.
#[allow(unsafe_code)]
pub fn about_to_block() {
    if let Some(role) = CURRENT.get() {
        // SAFETY: CURRENT holds a pointer only while `while_serving`, further
        // up on this very stack, borrows what it points to.
        unsafe { role.as_ref() }.hand_over();
    }
}

/// Announces that this thread is about to wait for a reply; `dispatches` is evaluated only if the
/// thread has a role: whether it dispatches other requests while it waits. See [`Role::wait`].
/// Returns whether it has a role.
#[inline]
#[allow(unsafe_code)]
pub fn about_to_wait(dispatches: impl FnOnce() -> bool) -> bool {
    let Some(role) = CURRENT.get() else {
        return false;
    };
    // SAFETY: as in `about_to_block`.
    let role = unsafe { role.as_ref() };
    if dispatches() {
        role.wait();
    } else {
        role.hand_over();
    }
    true
}

/// Whether this thread runs a servant of any ORB.
#[must_use]
pub fn is_set() -> bool {
    CURRENT.get().is_some()
}

/// Whether this thread runs a servant of that owner.
#[must_use]
#[allow(unsafe_code)]
pub fn is_serving(owner: usize) -> bool {
    // SAFETY: as in `about_to_block`.
    CURRENT
        .get()
        .is_some_and(|role| unsafe { role.as_ref() }.owner() == owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Count(Cell<u32>);

    impl Role for Count {
        fn hand_over(&self) {
            self.0.set(self.0.get() + 1);
        }
        fn owner(&self) -> usize {
            7
        }
    }

    #[test]
    fn the_innermost_role_is_handed_over() {
        let (outer, inner) = (Count::default(), Count::default());
        about_to_block();
        while_serving(&outer, || {
            about_to_block();
            while_serving(&inner, about_to_block);
            about_to_block();
        });
        about_to_block();
        assert_eq!((outer.0.get(), inner.0.get()), (2, 1));
        assert!(!is_serving(7));
    }

    #[test]
    fn a_waiting_thread_without_dispatching_hands_its_role_over() {
        assert!(!about_to_wait(|| panic!("there is no role")));
        let role = Count::default();
        while_serving(&role, || {
            assert!(about_to_wait(|| true));
            assert!(about_to_wait(|| false));
        });
        // Without its own implementation, waiting is blocking.
        assert_eq!(role.0.get(), 2);
    }

    #[test]
    fn a_call_within_the_process_keeps_the_outer_role() {
        let outer = Count::default();
        while_serving(&outer, || while_serving_own_thread(7, about_to_block));
        assert_eq!(outer.0.get(), 1);
        while_serving_own_thread(7, || assert!(is_serving(7) && !is_serving(8)));
        assert!(!is_serving(7));
    }

    #[test]
    fn a_panic_takes_the_role_back() {
        let role = Count::default();
        let body = std::panic::AssertUnwindSafe(|| while_serving(&role, || panic!("servant")));
        assert!(std::panic::catch_unwind(body).is_err());
        assert!(!is_serving(7));
    }
}
