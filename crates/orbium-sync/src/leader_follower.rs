// SPDX-License-Identifier: MIT OR Apache-2.0
//! Leader/followers: one of several waiting threads reads a shared source.
//!
//! A waiting thread is a follower. While no leader reads, the first follower that waits
//! becomes the leader: it reads for all, marks the followers with data
//! ([`LeaderFollower::ready`]), and promotes another one when its own data have
//! arrived. So at most one thread reads, and while a follower waits, a leader reads or
//! a follower has been woken to lead.

use std::sync::Arc;
use std::time::Instant;

use crate::lock::{Condvar, Mutex, MutexGuard};

/// Reason for the return of [`LeaderFollower::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Data arrived for this follower.
    Ready,
    /// The caller is the leader: it reads, and then calls [`LeaderFollower::promote`].
    Lead,
    /// The source was closed.
    Closed,
    /// No data arrived before the deadline.
    TimedOut,
}

#[derive(Debug, Default)]
struct Follower {
    joined: bool,
    /// Whether data have arrived that `wait` has not reported yet.
    ready: bool,
    waiting: bool,
    wake: Arc<Condvar>,
}

#[derive(Debug, Default)]
struct State {
    followers: Vec<Follower>,
    /// Indices of followers that have left.
    free: Vec<usize>,
    has_leader: bool,
    closed: bool,
}

/// Elects the reader of one source among the waiting threads.
#[derive(Debug)]
pub struct LeaderFollower {
    state: Mutex<State>,
    max_followers: usize,
}

impl LeaderFollower {
    /// Room for that many followers. With a dedicated reader, which reads also while none waits, no
    /// follower is ever promoted.
    #[must_use]
    pub fn new(max_followers: usize, has_dedicated_reader: bool) -> Self {
        let state = State {
            has_leader: has_dedicated_reader,
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            max_followers,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Adds a follower and returns its index; `None` at the limit, or if the source
    /// was closed.
    #[must_use]
    pub fn join(&self) -> Option<usize> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        let index = match state.free.pop() {
            Some(index) => index,
            None if state.followers.len() < self.max_followers => {
                state.followers.push(Follower::default());
                state.followers.len() - 1
            }
            None => return None,
        };
        state.followers[index].joined = true;
        state.followers[index].ready = false;
        Some(index)
    }

    /// Removes a follower; returns whether it was the last one.
    pub fn leave(&self, index: usize) -> bool {
        let mut state = self.lock();
        let follower = state.followers.get_mut(index);
        let Some(follower) = follower.filter(|follower| follower.joined) else {
            return false;
        };
        follower.joined = false;
        state.free.push(index);
        state.free.len() == state.followers.len()
    }

    /// The number of followers.
    #[must_use]
    pub fn followers(&self) -> usize {
        let state = self.lock();
        state.followers.len() - state.free.len()
    }

    /// Blocks until data arrives for a follower, it is promoted to leader, the source
    /// is closed, or the deadline passes.
    pub fn wait(&self, index: usize, deadline: Option<Instant>) -> Wake {
        let mut state = self.lock();
        loop {
            let State {
                followers,
                has_leader,
                closed,
                ..
            } = &mut *state;
            let Some(follower) = followers.get_mut(index) else {
                return Wake::Closed;
            };
            follower.waiting = false;
            if std::mem::take(&mut follower.ready) {
                return Wake::Ready;
            }
            if *closed {
                return Wake::Closed;
            }
            let left = match deadline.map(|it| it.checked_duration_since(Instant::now())) {
                None => None,
                Some(Some(left)) if !left.is_zero() => Some(left),
                Some(_) => {
                    // This follower may have been woken to become the leader: pass the promotion
                    // on.
                    if !*has_leader {
                        wake_follower(&state);
                    }
                    return Wake::TimedOut;
                }
            };
            if !*has_leader {
                *has_leader = true;
                return Wake::Lead;
            }
            follower.waiting = true;
            let wake = Arc::clone(&follower.wake);
            state = wake.wait_at_most(state, left);
        }
    }

    /// Marks that data arrived for a follower; the leader calls this.
    pub fn ready(&self, index: usize) {
        let mut state = self.lock();
        let Some(follower) = state.followers.get_mut(index) else {
            return;
        };
        follower.ready = true;
        if follower.waiting {
            follower.wake.notify_one();
        }
    }

    /// Makes the caller the leader without blocking; `false` if there is a leader already, or the
    /// source was closed.
    #[must_use]
    pub fn try_lead(&self) -> bool {
        let mut state = self.lock();
        let leads = !state.has_leader && !state.closed;
        state.has_leader |= leads;
        leads
    }

    /// Ends the caller's leadership and wakes a waiting follower to lead.
    pub fn promote(&self) {
        let mut state = self.lock();
        state.has_leader = false;
        wake_follower(&state);
    }

    /// Closes the source: waits return [`Wake::Closed`], now and later.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for follower in state.followers.iter().filter(|it| it.waiting) {
            follower.wake.notify_one();
        }
    }

    /// Whether the source was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }
}

/// Wakes a follower that still waits for data, so that it becomes the leader.
fn wake_follower(state: &State) {
    let next = state.followers.iter().find(|it| it.waiting && !it.ready);
    if let Some(follower) = next {
        follower.wake.notify_one();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_first_waiting_follower_leads_and_wakes_the_others() {
        let group = LeaderFollower::new(4, false);
        let (a, b) = (group.join().unwrap(), group.join().unwrap());
        assert_eq!(group.wait(a, None), Wake::Lead);
        thread::scope(|scope| {
            let other = scope.spawn(|| group.wait(b, None));
            group.ready(b);
            assert_eq!(other.join().unwrap(), Wake::Ready);
        });
        assert!(!group.try_lead(), "there is a leader");
        group.promote();
        assert!(group.try_lead());
    }

    #[test]
    fn a_waiting_follower_is_promoted() {
        let group = LeaderFollower::new(4, false);
        let (a, b) = (group.join().unwrap(), group.join().unwrap());
        assert_eq!(group.wait(a, None), Wake::Lead);
        thread::scope(|scope| {
            let other = scope.spawn(|| group.wait(b, None));
            while !group.lock().followers[b].waiting {
                thread::yield_now();
            }
            group.promote();
            assert_eq!(other.join().unwrap(), Wake::Lead);
        });
    }

    #[test]
    fn waiting_ends_at_the_deadline_and_when_the_source_closes() {
        let group = LeaderFollower::new(2, true);
        let (a, b) = (group.join().unwrap(), group.join().unwrap());
        assert_eq!(group.join(), None);
        let soon = Instant::now() + Duration::from_millis(1);
        assert_eq!(group.wait(a, Some(soon)), Wake::TimedOut);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(group.wait(b, None)).unwrap());
            group.close();
            assert_eq!(receiver.recv().unwrap(), Wake::Closed);
        });
        assert_eq!(group.wait(a, None), Wake::Closed);
        assert_eq!(group.join(), None);
    }

    #[test]
    fn an_index_is_reused_without_its_readiness() {
        let group = LeaderFollower::new(1, true);
        let index = group.join().unwrap();
        group.ready(index);
        assert!(group.leave(index));
        assert!(!group.leave(index), "once is enough");
        assert_eq!(group.join(), Some(index));
        let now = Some(Instant::now());
        assert_eq!(group.wait(index, now), Wake::TimedOut);
        assert_eq!(group.followers(), 1);
    }
}
