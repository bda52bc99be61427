// SPDX-License-Identifier: MIT OR Apache-2.0
//! The open requests of an ORB, by their adapters: bounded, waited for, and answered when
//! their adapter ends.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::Deadline;

use super::answer_path::Unanswered;

/// Requests that servants answer after they have returned, of all adapters of an ORB. An
/// adapter is a number that no other has while it exists.
#[derive(Default)]
pub struct OpenRequests {
    state: Mutex<State>,
    fewer: Condvar,
}

#[derive(Default)]
struct State {
    /// By adapter and number.
    open: HashMap<(usize, u64), Weak<dyn Unanswered>>,
    /// How many an adapter has, if it has any.
    counts: HashMap<usize, usize>,
    next: u64,
    /// Replies that were dropped without an answer.
    dropped: u64,
}

impl OpenRequests {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters one, and gives its number.
    ///
    /// # Errors
    /// TRANSIENT 1: the adapter has as many as it may have.
    pub(super) fn enter<R: Unanswered + 'static>(
        &self,
        adapter: usize,
        most: usize,
        make: impl FnOnce(u64) -> Arc<R>,
    ) -> Result<Arc<R>, SystemException> {
        let mut state = self.lock();
        let count = state.counts.entry(adapter).or_default();
        if *count >= most {
            if most == 0 {
                state.counts.remove(&adapter);
            }
            return Err(SystemException::omg(
                ExceptionKind::Transient,
                1,
                Completion::No,
            ));
        }
        *count += 1;
        state.next += 1;
        let number = state.next;
        let request = make(number);
        let entered: Weak<R> = Arc::downgrade(&request);
        state.open.insert((adapter, number), entered);
        Ok(request)
    }

    /// That one was answered, or ended without an answer.
    pub(super) fn leave(&self, adapter: usize, number: u64) {
        let mut state = self.lock();
        if state.open.remove(&(adapter, number)).is_none() {
            return;
        }
        if let Some(count) = state.counts.get_mut(&adapter) {
            *count -= 1;
            if *count == 0 {
                state.counts.remove(&adapter);
                self.fewer.notify_all();
            }
        }
    }

    pub(super) fn count_dropped(&self) {
        self.lock().dropped += 1;
    }

    /// The number of open ones.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// The number of open ones in one adapter.
    #[must_use]
    pub fn count_of(&self, adapter: usize) -> usize {
        self.lock().counts.get(&adapter).copied().unwrap_or(0)
    }

    /// The number of replies that were dropped without an answer, since the ORB began.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Waits until an adapter, or all of them, has none, but not longer than that; those that
    /// are left are answered with TRANSIENT 4, completed MAYBE.
    pub fn settle(&self, adapter: Option<usize>, limit: Duration) {
        let until = Deadline::after(Some(limit));
        let mut state = self.lock();
        while state.has_any(adapter) {
            let Ok(Some(left)) = until.remaining() else {
                break;
            };
            let waited = self.fewer.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let left = state.all(adapter);
        drop(state);
        for request in left.iter().filter_map(Weak::upgrade) {
            request.end_with(SystemException::omg(
                ExceptionKind::Transient,
                4,
                Completion::Maybe,
            ));
        }
    }
}

impl State {
    fn has_any(&self, adapter: Option<usize>) -> bool {
        match adapter {
            Some(adapter) => self.counts.contains_key(&adapter),
            None => !self.open.is_empty(),
        }
    }

    /// Those of an adapter, or of all.
    fn all(&self, adapter: Option<usize>) -> Vec<Weak<dyn Unanswered>> {
        let is_asked = |of: usize| adapter.is_none_or(|adapter| adapter == of);
        let asked = self.open.iter().filter(|((of, _), _)| is_asked(*of));
        asked.map(|(_, request)| Weak::clone(request)).collect()
    }
}

impl fmt::Debug for OpenRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRequests")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
