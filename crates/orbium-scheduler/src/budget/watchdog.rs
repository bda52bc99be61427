// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lowers the native priority of threads that serve requests beyond their budgets.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use orbium::lane::Scheduling;
use orbium::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::NativeThread;

use crate::dispatching::thread::ScheduledThread;
use crate::error::SchedulerError;

/// The shortest interval between two checks of the threads' clocks.
const MIN_WAIT: Duration = Duration::from_micros(100);

/// A thread that monitors those which serve requests. It ends when this is dropped.
pub(crate) struct Watchdog(Arc<Watched>);

struct Watched {
    lower: Scheduling,
    demotions: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The requests of each thread, the innermost last. A listed thread is running.
    requests: HashMap<NativeThread, Vec<Request>>,
    ended: bool,
}

/// A request in progress, in processor time of its thread.
struct Request {
    begun: Duration,
    /// `None` without a budget.
    limit: Option<Duration>,
    /// The scheduling of the thread before it was demoted.
    own: Option<Scheduling>,
}

impl Watchdog {
    /// Starts the thread.
    pub(crate) fn start(
        lower: Scheduling,
        thread: ScheduledThread,
    ) -> Result<Self, SchedulerError> {
        let watched = Arc::new(Watched {
            lower,
            demotions: AtomicU64::new(0),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let watching = Arc::clone(&watched);
        thread.start(move || watching.watch())?;
        Ok(Self(watched))
    }

    pub(crate) fn demotions(&self) -> u64 {
        self.0.demotions.load(Ordering::Relaxed)
    }

    /// Records that the calling thread begins to serve a request.
    pub(crate) fn begin(&self) {
        let native = NativeThread::current();
        let Ok(begun) = native.processor_time() else {
            return;
        };
        let request = Request {
            begun,
            limit: None,
            own: None,
        };
        let mut state = self.0.lock();
        state.requests.entry(native).or_default().push(request);
    }

    /// Sets the budget of the calling thread's request.
    pub(crate) fn limit(&self, budget: Duration) {
        let mut state = self.0.lock();
        let requests = state.requests.get_mut(&NativeThread::current());
        if let Some(request) = requests.and_then(|it| it.last_mut()) {
            request.limit = Some(request.begun.saturating_add(budget));
            drop(state);
            self.0.changed.notify_one();
        }
    }

    /// Records the end of the calling thread's request: the scheduling of the thread is restored,
    /// and the requests around it are not charged for it.
    pub(crate) fn end(&self) {
        let native = NativeThread::current();
        let mut state = self.0.lock();
        let Some(requests) = state.requests.get_mut(&native) else {
            return;
        };
        let Some(ended) = requests.pop() else {
            return;
        };
        match requests.last_mut() {
            Some(outer) => {
                let now = native.processor_time().unwrap_or(ended.begun);
                let taken = now.saturating_sub(ended.begun);
                outer.begun = outer.begun.saturating_add(taken);
                outer.limit = outer.limit.map(|it| it.saturating_add(taken));
            }
            None => drop(state.requests.remove(&native)),
        }
        drop(state);
        if let Some(own) = ended.own {
            // It had this before; if the host refuses it now, the thread stays demoted.
            let _ = native.set_scheduling(own);
        }
    }
}

impl Watched {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn watch(&self) {
        let mut state = self.lock();
        while !state.ended {
            let next = self.look(&mut state);
            // Processor time does not advance faster than time.
            let wait = next.unwrap_or(Duration::MAX).max(MIN_WAIT);
            (state, _) = self
                .changed
                .wait_timeout(state, wait.min(Duration::from_secs(3600)));
        }
    }

    /// Demotes threads that exceed their budgets. Returns the smallest remainder.
    fn look(&self, state: &mut State) -> Option<Duration> {
        let mut next: Option<Duration> = None;
        for (thread, requests) in &mut state.requests {
            let Some(request) = requests.last_mut().filter(|it| it.own.is_none()) else {
                continue;
            };
            let (Some(limit), Ok(now)) = (request.limit, thread.processor_time()) else {
                continue;
            };
            if now < limit {
                let remaining = limit - now;
                next = Some(next.map_or(remaining, |it| it.min(remaining)));
            } else {
                self.demote(*thread, request);
            }
        }
        next
    }

    fn demote(&self, thread: NativeThread, request: &mut Request) {
        match thread.scheduling() {
            Ok(own) if thread.set_scheduling(self.lower).is_ok() => {
                request.own = Some(own);
                self.demotions.fetch_add(1, Ordering::Relaxed);
            }
            // The host refuses it, now and later, or the thread has a reservation, which limits it.
            _ => request.limit = None,
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_one();
    }
}

impl fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watchdog")
            .field("demotions", &self.demotions())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use orbium::lane::Reservation;

    use super::*;

    /// Regression: the thread was recorded with SCHED_OTHER, demoted, and had SCHED_OTHER after its
    /// request.
    #[test]
    fn a_thread_with_a_reservation_keeps_it_beyond_its_budget() {
        let watched = Watched {
            lower: Scheduling::OTHER,
            demotions: AtomicU64::new(0),
            state: Mutex::default(),
            changed: Condvar::new(),
        };
        let reserved = thread::spawn(move || {
            let wanted = Reservation::new(Duration::from_millis(1), Duration::from_millis(100));
            if let Err(error) = wanted.apply_to_this_thread() {
                return eprintln!("skipped: {error}");
            }
            let mut request = Request {
                begun: Duration::ZERO,
                limit: Some(Duration::ZERO),
                own: None,
            };
            watched.demote(NativeThread::current(), &mut request);
            assert_eq!(Reservation::of_this_thread().unwrap(), Some(wanted));
            assert_eq!((request.own, request.limit), (None, None));
            assert_eq!(watched.demotions.load(Ordering::Relaxed), 0);
        });
        reserved.join().unwrap();
    }
}
