// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups of threads with a budget, and the thread that watches each.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::oneshot;
use orbium_sys::{NativeThread, RealTimeError, Scheduling, spawn_detached};

use crate::Budget;
use crate::host::System;
use crate::ledger::Ledger;

thread_local! {
    /// The group of this thread, left at the end of the thread.
    static MEMBERSHIP: RefCell<Option<Membership>> = const { RefCell::new(None) };
}

/// Threads that share a budget. A separate thread watches them, at the native priority above
/// theirs; it ends when the group is dropped, or ended and without threads.
///
/// The watching thread wakes up whenever the budget could be exhausted: for 2 ms in 10 ms and one
/// thread five times in a period, about 500 times a second.
pub struct Group(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    ledger: Ledger,
    /// Whether the watching thread ends with the last of the others.
    ends: bool,
    ended: bool,
}

struct Membership {
    group: Arc<Shared>,
    thread: NativeThread,
}

/// Consumption of a budget by a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// The budget.
    pub budget: Budget,
    /// The remainder of this period.
    pub remaining: Duration,
    /// The number of exhaustions.
    pub exhaustions: u64,
    /// The number of demotions of threads.
    pub demotions: u64,
}

impl Group {
    /// Starts the watching thread: at the native priority above `own`, that of the future threads.
    /// `soft`: if the host refuses that priority, the thread has the inherited one, and may check
    /// too late.
    ///
    /// # Errors
    /// The host refuses the priority, or the thread.
    pub fn start(
        name: &str,
        budget: Budget,
        own: Scheduling,
        soft: bool,
    ) -> Result<Self, RealTimeError> {
        let state = State {
            ledger: Ledger::new(budget, &System),
            ends: false,
            ended: false,
        };
        let group = Self(Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }));
        let shared = Arc::clone(&group.0);
        let (given, started) = oneshot();
        let watch = move || {
            let refused = watching(own).apply_to_this_thread();
            let watches = refused.is_ok() || soft;
            given.send(if soft { Ok(()) } else { refused });
            if watches {
                shared.watch();
            }
        };
        spawn_detached(&format!("{name}-budget"), None, Box::new(watch))?;
        match started.recv() {
            Some(given) => given.map(|()| group),
            None => Err(std::io::Error::other("the thread failed").into()),
        }
    }

    /// Adds the calling thread to this group, until it ends, enters another or [`leave`]s. `own`:
    /// its scheduling, restored after a demotion. A thread of this group gets that scheduling
    /// instead of the previous one.
    pub fn enter(&self, own: Scheduling) {
        let is_present = |it: &Membership| Arc::ptr_eq(&it.group, &self.0);
        // The previous group is left without a lock.
        let membership = MEMBERSHIP.take().filter(is_present);
        let membership = membership.unwrap_or_else(|| Membership {
            group: Arc::clone(&self.0),
            thread: NativeThread::current(),
        });
        self.0.lock().ledger.enter(membership.thread, own, &System);
        MEMBERSHIP.set(Some(membership));
        self.0.changed.notify_one();
    }

    /// Ends watching after the threads in the group have left it.
    pub fn end(&self) {
        self.0.lock().ends = true;
        self.0.changed.notify_one();
    }

    /// The consumption of the budget now.
    #[must_use]
    pub fn usage(&self) -> BudgetUse {
        let state = self.0.lock();
        BudgetUse {
            budget: state.ledger.budget(),
            remaining: state.ledger.remaining(&System),
            exhaustions: state.ledger.exhaustions(),
            demotions: state.ledger.demotions(),
        }
    }
}

/// Removes the calling thread from its group, if it has one. A demoted thread has its own
/// scheduling again.
pub fn leave() {
    drop(MEMBERSHIP.take());
}

/// The remainder of the budget of the calling thread's group in this period: zero once it is
/// exhausted, none without a budget. Costs a query of the clock of each thread of the group.
#[must_use]
pub fn remaining() -> Option<Duration> {
    MEMBERSHIP.with_borrow(|it| {
        let group = &it.as_ref()?.group;
        Some(group.lock().ledger.remaining(&System))
    })
}

/// The scheduling of the watching thread: the next higher priority.
fn watching(own: Scheduling) -> Scheduling {
    let highest = *own.class.range().end();
    Scheduling {
        priority: own.priority.saturating_add(1).min(highest),
        ..own
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn watch(&self) {
        let mut state = self.lock();
        while !state.ended {
            if state.ledger.is_empty() {
                if state.ends {
                    return;
                }
                state = self.changed.wait(state);
            } else {
                let next = state.ledger.look(&System);
                (state, _) = self.changed.wait_timeout(state, next);
            }
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.group.lock().ledger.leave(self.thread, &System);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_one();
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Group").field(&self.usage()).finish()
    }
}
