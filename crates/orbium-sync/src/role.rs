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
}

/// A servant on the stack of a thread.
struct Frame<'r> {
    role: &'r dyn Role,
    /// The ORB of the servant: a number unique to it.
    owner: usize,
    /// The frame further up on the stack.
    outer: FramePointer,
}

/// A frame further up on the same stack; its lifetime is erased.
type FramePointer = Option<NonNull<Frame<'static>>>;

impl Frame<'_> {
    #[allow(unsafe_code)]
    fn outer(&self) -> Option<&Frame<'_>> {
        // SAFETY: `enter` restores frames in reverse order, so the outer frame outlives this one.
        self.outer.map(|outer| unsafe { outer.as_ref() })
    }
}

thread_local! {
    /// The innermost frame of this thread.
    static CURRENT: Cell<FramePointer> = const { Cell::new(None) };
}

#[inline]
fn current() -> FramePointer {
    // `get` is a call from other crates; `try_with` is inlined, and never fails here.
    CURRENT.try_with(Cell::get).unwrap_or(None)
}

#[inline]
fn set_current(frame: FramePointer) {
    // As in `current`.
    let _ = CURRENT.try_with(|current| current.set(frame));
}

/// Restores the outer frame, also on unwinding.
struct Restore(FramePointer);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        set_current(self.0);
    }
}

/// Runs `body` with `frame` as the innermost frame of this thread.
#[inline]
fn enter<R>(frame: &Frame<'_>, body: impl FnOnce() -> R) -> R {
    // The pointer is reachable through CURRENT and frames further down on this stack alone, and
    // `Restore` takes it out before this function returns or unwinds, while `frame` is borrowed.
    set_current(Some(NonNull::from(frame).cast()));
    let _restore = Restore(frame.outer);
    body()
}

/// Calls `inspect` with the innermost frame of this thread.
#[inline]
#[allow(unsafe_code)]
fn with_innermost<R>(inspect: impl FnOnce(Option<&Frame<'_>>) -> R) -> R {
    // SAFETY: CURRENT holds a pointer only while `enter`, further up on this very stack, borrows
    // the frame.
    inspect(current().map(|frame| unsafe { frame.as_ref() }))
}

/// Runs `body`, a servant of the ORB of that number, with `role` as the role of this thread.
#[inline]
pub fn while_serving<R>(owner: usize, role: &dyn Role, body: impl FnOnce() -> R) -> R {
    let frame = Frame {
        role,
        owner,
        outer: current(),
    };
    enter(&frame, body)
}

/// Runs `body`, a servant of the ORB of that number, as serving a caller further up on this very
/// stack (a collocated call): the only role to hand off is one that is held already.
#[inline]
pub fn while_serving_own_thread<R>(owner: usize, body: impl FnOnce() -> R) -> R {
    struct Nothing;
    impl Role for Nothing {
        fn hand_over(&self) {}
    }
    with_innermost(|innermost| match innermost {
        None => while_serving(owner, &Nothing, body),
        Some(innermost) if innermost.owner == owner => body(),
        Some(innermost) => while_serving(owner, innermost.role, body),
    })
}

/// Announces that this thread is about to block. Has no effect on a thread without a role.
pub fn about_to_block() {
    with_innermost(|innermost| {
        if let Some(innermost) = innermost {
            innermost.role.hand_over();
        }
    });
}

/// Announces that this thread is about to wait for a reply; `dispatches` is evaluated only if the
/// thread has a role: whether it dispatches other requests while it waits. See [`Role::wait`].
/// Returns whether it has a role.
#[inline]
pub fn about_to_wait(dispatches: impl FnOnce() -> bool) -> bool {
    with_innermost(|innermost| {
        let Some(Frame { role, .. }) = innermost else {
            return false;
        };
        if dispatches() {
            role.wait();
        } else {
            role.hand_over();
        }
        true
    })
}

/// Whether this thread runs a servant of any ORB.
#[must_use]
pub fn is_set() -> bool {
    current().is_some()
}

/// Whether this thread runs a servant of that owner, possibly further up on its stack.
#[must_use]
pub fn is_serving(owner: usize) -> bool {
    with_innermost(|innermost| {
        let mut frames = std::iter::successors(innermost, |frame| frame.outer());
        frames.any(|frame| frame.owner == owner)
    })
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
    }

    #[test]
    fn the_innermost_role_is_handed_over() {
        let (outer, inner) = (Count::default(), Count::default());
        about_to_block();
        while_serving(6, &outer, || {
            about_to_block();
            while_serving(7, &inner, about_to_block);
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
        while_serving(7, &role, || {
            assert!(about_to_wait(|| true));
            assert!(about_to_wait(|| false));
        });
        // Without its own implementation, waiting is blocking.
        assert_eq!(role.0.get(), 2);
    }

    #[test]
    fn a_call_within_the_process_keeps_the_outer_role() {
        let outer = Count::default();
        while_serving(6, &outer, || while_serving_own_thread(7, about_to_block));
        assert_eq!(outer.0.get(), 1);
        while_serving_own_thread(7, || assert!(is_serving(7) && !is_serving(8)));
        assert!(!is_serving(7));
    }

    /// A servant of one ORB that was called from a servant of another counted as running for the
    /// outer ORB alone.
    #[test]
    fn a_thread_serves_each_orb_on_its_stack() {
        let (outer, inner) = (Count::default(), Count::default());
        let serves = || [6, 7, 8].map(is_serving);
        while_serving(6, &outer, || {
            while_serving_own_thread(7, || {
                about_to_block();
                assert_eq!(serves(), [true, true, false]);
                while_serving(8, &inner, || assert_eq!(serves(), [true; 3]));
            });
            assert_eq!(serves(), [true, false, false]);
        });
        assert_eq!((outer.0.get(), inner.0.get()), (1, 0));
        assert_eq!(serves(), [false; 3]);
    }

    #[test]
    fn a_panic_takes_the_role_back() {
        let role = Count::default();
        let body = std::panic::AssertUnwindSafe(|| while_serving(7, &role, || panic!("servant")));
        assert!(std::panic::catch_unwind(body).is_err());
        assert!(!is_serving(7));
    }
}
