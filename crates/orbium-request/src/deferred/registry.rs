// SPDX-License-Identifier: MIT OR Apache-2.0
//! The open requests of an ORB, by their adapters: limited, awaited, and answered when their
//! adapter ends.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_trace::log::EventLimit;
use orbium_transport::Deadline;

use super::answer_path::Unanswered;

/// Requests with deferred replies, of all adapters of an ORB. An adapter is identified by a number
/// that is unique while it exists.
#[derive(Default)]
pub struct OpenRequests {
    state: Mutex<State>,
    fewer: Condvar,
}

#[derive(Default)]
struct State {
    /// By number: the oldest is the first.
    open: BTreeMap<u64, Open>,
    /// The number of open requests of each adapter with any.
    counts: HashMap<usize, usize>,
    /// The rate limits of the warnings of adapters that have reached their limit.
    warnings: HashMap<usize, EventLimit>,
    next: u64,
    /// The number of replies that were dropped without an answer.
    dropped: u64,
}

/// An open request.
struct Open {
    adapter: usize,
    since: Instant,
    request: Weak<dyn Unanswered>,
}

/// The refusal: an adapter has reached its limit.
#[derive(Debug)]
pub(super) struct Full {
    /// The age of its oldest request.
    pub(super) oldest: Option<Duration>,
    /// Refusals since the last logged one, if this one is to be logged.
    pub(super) suppressed: Option<u64>,
}

impl OpenRequests {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Adds a request, created with its number.
    ///
    /// # Errors
    /// The adapter has reached its limit.
    pub(super) fn enter<R: Unanswered + 'static>(
        &self,
        adapter: usize,
        most: usize,
        make: impl FnOnce(u64) -> Arc<R>,
    ) -> Result<Arc<R>, Full> {
        let mut state = self.lock();
        if state.count_of(adapter) >= most {
            return Err(state.refuse(adapter));
        }
        *state.counts.entry(adapter).or_default() += 1;
        state.next += 1;
        let number = state.next;
        let request = make(number);
        let entered: Weak<R> = Arc::downgrade(&request);
        let open = Open {
            adapter,
            since: Instant::now(),
            request: entered,
        };
        state.open.insert(number, open);
        Ok(request)
    }

    /// Removes a request that was answered, or ended without an answer.
    pub(super) fn leave(&self, number: u64) {
        let mut state = self.lock();
        let Some(Open { adapter, .. }) = state.open.remove(&number) else {
            return;
        };
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

    /// The number of open requests.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// The number of open requests of one adapter.
    #[must_use]
    pub fn count_of(&self, adapter: usize) -> usize {
        self.lock().count_of(adapter)
    }

    /// The age of the oldest open request; `None` if there is none.
    #[must_use]
    pub fn oldest(&self) -> Option<Duration> {
        let state = self.lock();
        let (_, oldest) = state.open.first_key_value()?;
        Some(oldest.since.elapsed())
    }

    /// The number of replies that were dropped without an answer, since the start of the ORB.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Waits until an adapter, or all of them, has no open request, for at most `limit`; the
    /// remaining ones are answered with TRANSIENT 4, completed MAYBE.
    pub fn settle(&self, adapter: Option<usize>, limit: Duration) {
        let until = Deadline::after(Some(limit));
        let mut state = self.lock();
        while state.has_any(adapter) {
            let Ok(Some(left)) = until.remaining() else {
                break;
            };
            state = self.fewer.wait_timeout(state, left).0;
        }
        let left = state.all(adapter);
        if let Some(adapter) = adapter {
            state.warnings.remove(&adapter);
        }
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
    fn count_of(&self, adapter: usize) -> usize {
        self.counts.get(&adapter).copied().unwrap_or(0)
    }

    #[cold]
    fn refuse(&mut self, adapter: usize) -> Full {
        let suppressed = self.warnings.entry(adapter).or_default().admit();
        // Computed only if it is logged.
        let oldest = suppressed.and_then(|_| self.open.values().find(|it| it.adapter == adapter));
        Full {
            oldest: oldest.map(|it| it.since.elapsed()),
            suppressed,
        }
    }

    fn has_any(&self, adapter: Option<usize>) -> bool {
        match adapter {
            Some(adapter) => self.counts.contains_key(&adapter),
            None => !self.open.is_empty(),
        }
    }

    /// The open requests of an adapter, or of all.
    fn all(&self, adapter: Option<usize>) -> Vec<Weak<dyn Unanswered>> {
        let is_asked = |of: usize| adapter.is_none_or(|adapter| adapter == of);
        let asked = self.open.values().filter(|it| is_asked(it.adapter));
        asked.map(|it| Weak::clone(&it.request)).collect()
    }
}

impl fmt::Debug for OpenRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenRequests")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Unheard;

    impl Unanswered for Unheard {
        fn end_with(&self, _: SystemException) {}
        fn cancel(&self) {}
    }

    /// Adds a request of an adapter with a limit of two; returns its number.
    fn enter(all: &OpenRequests, adapter: usize) -> Result<u64, Full> {
        let mut entered = 0;
        let make = |number| {
            entered = number;
            Arc::new(Unheard)
        };
        all.enter(adapter, 2, make)?;
        Ok(entered)
    }

    #[test]
    fn the_oldest_is_the_one_that_was_opened_first_of_those_that_are_left() {
        let all = OpenRequests::default();
        let oldest = || all.lock().open.first_key_value().map(|(number, _)| *number);
        assert_eq!(all.oldest(), None);
        let begun = Instant::now();
        let (first, second) = (enter(&all, 2).unwrap(), enter(&all, 1).unwrap());
        assert_eq!(oldest(), Some(first));
        assert!(all.oldest() <= Some(begun.elapsed()));
        all.leave(first);
        assert_eq!(oldest(), Some(second));
        all.leave(second);
        assert_eq!(all.oldest(), None);
    }

    #[test]
    fn each_adapter_warns_of_its_bound_by_itself() {
        let all = OpenRequests::default();
        for adapter in [1, 1, 2, 2] {
            enter(&all, adapter).unwrap();
        }
        for adapter in [1, 2] {
            let full = enter(&all, adapter).unwrap_err();
            assert_eq!((full.suppressed, full.oldest.is_some()), (Some(0), true));
            assert_eq!(enter(&all, adapter).unwrap_err().suppressed, None);
        }
        // An adapter that reuses the number of one that has ended warns again.
        all.settle(Some(1), Duration::ZERO);
        assert_eq!(enter(&all, 1).unwrap_err().suppressed, Some(0));
        assert_eq!(enter(&all, 2).unwrap_err().suppressed, None);
    }
}
