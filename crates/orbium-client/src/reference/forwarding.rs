// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwards of a reference by its server (LOCATION_FORWARD and OBJECT_FORWARD, CORBA 3.3 Part 2,
//! clause 9.4.3).

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_sync::lock::Mutex;
use orbium_sys::fork::PerProcess;

/// The reference is not forwarded.
const NOWHERE: u8 = 0;
/// The reference is forwarded to its first forward.
const FIRST: u8 = 1;
/// It is forwarded to a later one.
const LATER: u8 = 2;

/// The last forward of a reference by its server. Most references have at most one forward in their
/// lifetime: calls read it without a lock.
pub(super) struct Forwarding<R: ?Sized> {
    state: AtomicU8,
    /// A forked child has separate connections, and so separate forwards.
    forwards: PerProcess<Forwards<R>>,
}

struct Forwards<R: ?Sized> {
    /// The first forward, retained after it is abandoned.
    first: OnceLock<Arc<R>>,
    later: Mutex<Option<Arc<R>>>,
}

impl<R: ?Sized> Forwarding<R> {
    /// No forward yet.
    pub(super) const fn new() -> Self {
        Self {
            state: AtomicU8::new(NOWHERE),
            forwards: PerProcess::new(),
        }
    }

    /// Whether there is a forward.
    #[inline(always)]
    pub(super) fn is_forwarded(&self) -> bool {
        self.state.load(Ordering::Acquire) != NOWHERE
    }

    /// The forward.
    #[cold]
    pub(super) fn get(&self) -> Option<Arc<R>> {
        let forwards = self.forwards.get()?;
        match self.state.load(Ordering::Acquire) {
            NOWHERE => None,
            FIRST => forwards.first.get().cloned(),
            _ => forwards.later.lock().clone(),
        }
    }

    /// Stores or removes the forward; `is_same` returns whether two forwards have the same object
    /// and profiles.
    pub(super) fn set(&self, to: Option<Arc<R>>, is_same: impl FnOnce(&R, &R) -> bool)
    where
        R: Send + Sync,
    {
        let forwards = self.forwards.get_or_init(|| Forwards {
            first: OnceLock::new(),
            later: Mutex::new(None),
        });
        // With the lock held: a caller that sees LATER waits for the lock, and so finds the forward.
        let mut later = forwards.later.lock();
        let (state, kept) = match to {
            None => (NOWHERE, None),
            Some(to) if is_same(forwards.first.get_or_init(|| Arc::clone(&to)), &to) => {
                (FIRST, None)
            }
            Some(to) => (LATER, Some(to)),
        };
        *later = kept;
        // Release: the first forward was set before; a caller that reads FIRST sees it.
        self.state.store(state, Ordering::Release);
    }
}
