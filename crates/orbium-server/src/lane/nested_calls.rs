// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads of a lane that wait in nested calls: each has handed what it read over to another
//! one. Where nothing else limits them, requests beyond the limit are refused.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::intake::{Queued, Sink};
use crate::lane::pool::Pool;

/// The number of threads that have handed their reading over, and its limit.
#[derive(Debug)]
pub(crate) struct NestedCalls {
    threads: AtomicUsize,
    most: usize,
}

impl NestedCalls {
    /// None so far, of at most so many.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            threads: AtomicUsize::new(0),
            most,
        }
    }

    /// Has another thread read by `hand_over`, and counts this one until [`end`](Self::end), unless
    /// that fails: then it reads on. Counted first, as the other thread looks at the number.
    ///
    /// # Errors
    /// The error of `hand_over`.
    pub(crate) fn begin<E>(&self, hand_over: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.threads.fetch_add(1, Ordering::AcqRel);
        hand_over().inspect_err(|_| self.end())
    }

    /// It has served the request for which it handed its reading over.
    pub(crate) fn end(&self) {
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether as many wait as may.
    pub(crate) fn is_full(&self) -> bool {
        self.threads.load(Ordering::Acquire) >= self.most
    }
}

/// Refuses requests, and counts them.
pub(crate) struct Refusing<'l>(pub(crate) &'l Pool);

impl Sink for Refusing<'_> {
    fn put(&self, request: Queued) -> Result<(), Box<Queued>> {
        self.0.count_refused(1);
        Err(Box::new(request))
    }

    fn routes(&self) -> bool {
        false
    }

    fn cancel(&self, _: u64, _: u32) -> bool {
        false
    }
}
