// SPDX-License-Identifier: MIT OR Apache-2.0
//! State of the thread or task that serves the queue of a consumer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Waker;
use std::thread::Thread;

const IDLE: u8 = 0;
const ONE: u8 = 1;
const MORE: u8 = 2;

/// The thread or task that waits for the queue of a consumer.
pub(crate) enum Waiter {
    Task(Arc<Waker>),
    Thread(Thread),
}

impl Waiter {
    /// Called without the lock of the consumer, which a task may need.
    pub(crate) fn wake(self) {
        match self {
            Self::Task(waker) => waker.wake_by_ref(),
            Self::Thread(thread) => thread.unpark(),
        }
    }
}

/// State of the thread that pushes to a consumer: none, one with a single set, or one with more.
/// Producers join under the lock of the consumer, so that sets are in the queue before the thread
/// that has to check for them finds their number; a thread leaves without the lock as long as there
/// was one set.
#[derive(Debug, Default)]
pub(super) struct Serving(AtomicU8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// There is no thread: the caller serves or notifies one.
    First,
    /// There is a thread, which will check for the set.
    Later,
}

impl Serving {
    /// Joins with one more set. Under the lock.
    pub(super) fn join(&self) -> Joined {
        let next = |state| match state {
            IDLE => Some(ONE),
            ONE => Some(MORE),
            _ => None,
        };
        let joined = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        match joined {
            Ok(IDLE) => Joined::First,
            _ => Joined::Later,
        }
    }

    /// Ends serving if there was one set; otherwise the caller checks for more, under the lock.
    pub(super) fn leave(&self) -> bool {
        let left = self
            .0
            .compare_exchange(ONE, IDLE, Ordering::AcqRel, Ordering::Acquire);
        left.is_ok()
    }

    /// Sets the number of sets that remain for a thread that could not leave. Under the lock.
    pub(super) fn remain(&self, sets: usize) {
        let state = match sets {
            0 => IDLE,
            1 => ONE,
            _ => MORE,
        };
        self.0.store(state, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_leaves_unless_something_was_put() {
        let serving = Serving::default();
        assert_eq!(serving.join(), Joined::First);
        assert!(serving.leave());
        assert_eq!(
            [(); 3].map(|()| serving.join()),
            [Joined::First, Joined::Later, Joined::Later]
        );
        assert!(!serving.leave());
        serving.remain(1);
        assert!(serving.leave());
        assert!(!serving.leave());
        serving.remain(2);
        assert_eq!((serving.leave(), serving.join()), (false, Joined::Later));
        serving.remain(0);
        assert_eq!(serving.join(), Joined::First);
    }
}
