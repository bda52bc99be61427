// SPDX-License-Identifier: MIT OR Apache-2.0
//! Level-triggered readiness: epoll on Linux, poll elsewhere.
//!
//! The reactor needs a poller on which several threads wait at once (leader/followers), which is
//! level-triggered, or reports a source to one thread until that thread re-arms it, in one system
//! call for each wait. Neither well-known crate provides that:
//!
//! | | `polling` 3.11 | `mio` 1.2 | here |
//! |---|---|---|---|
//! | threads that wait at once | one: a second `wait` returns at once with nothing | one: `poll` takes `&mut self` | any |
//! | system calls of a wait on Linux | five: it sets and arms a timer, waits, clears and re-arms a notification | one | one |
//! | level-triggered | yes | no: `EPOLLET` always | yes |
//! | one source to one thread, re-armed | yes | no | yes |
//! | at most so many events for a thread | by the capacity of its list | by the capacity of its list | yes |
//! | registering a source | unsafe | by the number of its descriptor | safe |
//! | also a source that is not registered | no | no | yes: a thread waits for its own reply and serves until then |

#[cfg(target_os = "linux")]
mod epoll;
pub(crate) mod event_source;
mod interest;
#[cfg(any(not(target_os = "linux"), test))]
mod poll;
mod system;
pub(crate) mod waker;

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use epoll::Set;
#[cfg(not(target_os = "linux"))]
use poll::Set;

use interest::MAX_EVENTS;
pub use interest::{Interest, Ready, has_hung_up, wait_for};

/// Waits for many sources at once. Shared between threads: any may wait, and register, which on
/// systems other than Linux takes effect from the next wait on. A oneshot source is reported to one
/// of the waiting threads.
#[derive(Debug)]
pub struct Poller {
    set: Set,
    /// Time of busy polling before a wait sleeps.
    busy_poll: Duration,
}

impl Poller {
    /// A poller without sources.
    ///
    /// # Errors
    /// Out of descriptors.
    pub fn new() -> io::Result<Self> {
        Self::busy(Duration::ZERO)
    }

    /// A poller that polls for that time in each [`wait`](Self::wait) before the thread sleeps: a
    /// source that becomes ready in that time needs no wake-up, and the thread occupies its
    /// processor.
    ///
    /// # Errors
    /// Out of descriptors.
    pub fn busy(busy_poll: Duration) -> io::Result<Self> {
        let set = Set::new()?;
        Ok(Self { set, busy_poll })
    }

    /// Adds a source under a token.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&self, source: &dyn AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.set.add(source, token, interest)
    }

    /// Changes the interest in a source.
    ///
    /// # Errors
    /// The system's error.
    pub fn modify(&self, source: &dyn AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.set.modify(source, token, interest)
    }

    /// Removes a source.
    ///
    /// # Errors
    /// The system's error.
    pub fn remove(&self, source: &dyn AsFd, token: u64) -> io::Result<()> {
        self.set.remove(source, token)
    }

    /// Waits, then stores the ready sources in `ready` (cleared first). An interruption counts as
    /// nothing ready.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<()> {
        self.wait_for_some::<MAX_EVENTS>(ready, timeout)
    }

    /// As [`Poller::wait`], for at most `N` sources: the others are left to other waiting threads.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait_for_some<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        ready.clear();
        if self.busy_poll.is_zero() {
            return self.set.wait::<N>(ready, timeout);
        }
        self.wait_busily::<N>(ready, timeout)
    }

    fn wait_busily<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        let began = Instant::now();
        let busy = self.busy_poll.min(timeout.unwrap_or(Duration::MAX));
        loop {
            self.set.wait::<N>(ready, Some(Duration::ZERO))?;
            if !ready.is_empty() {
                return Ok(());
            }
            let looked = began.elapsed();
            if looked >= busy {
                let remaining = timeout.map(|it| it.saturating_sub(looked));
                return self.set.wait::<N>(ready, remaining);
            }
        }
    }

    /// As `wait`, but also until a source that is not registered is ready: returns whether it is.
    /// If so, the registered ones were not checked.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait_including(
        &self,
        source: &dyn AsFd,
        interest: Interest,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        ready.clear();
        self.set.wait_including(source, interest, ready, timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Waker;

    fn ready_tokens(poller: &Poller) -> Vec<u64> {
        let mut ready = Vec::new();
        poller.wait(&mut ready, Some(Duration::ZERO)).unwrap();
        ready.iter().map(|ready| ready.token).collect()
    }

    #[test]
    fn a_source_that_is_not_registered_can_be_waited_for() {
        let (poller, waker) = (Poller::new().unwrap(), Waker::new().unwrap());
        let own = Waker::new().unwrap();
        poller.add(waker.source(), 7, Interest::Read).unwrap();
        let mut ready = Vec::new();
        let mut wait = |timeout| {
            let waited = poller.wait_including(own.source(), Interest::Read, &mut ready, timeout);
            let tokens: Vec<_> = ready.iter().map(|ready| ready.token).collect();
            (waited.unwrap(), tokens)
        };
        assert_eq!(wait(Some(Duration::ZERO)), (false, vec![]));
        waker.wake();
        assert_eq!(wait(None), (false, vec![7]));
        own.wake();
        assert_eq!(wait(None), (true, vec![]));
        waker.clear();
        assert_eq!(wait(None), (true, vec![]));
        own.clear();
        assert_eq!(wait(Some(Duration::ZERO)), (false, vec![]));
    }

    #[test]
    fn both_directions_can_be_waited_for_at_once() {
        let (own, peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&own, 7, Interest::Both).unwrap();
        assert_eq!(ready_tokens(&poller), [7], "there is room");
        own.set_nonblocking(true).unwrap();
        while std::io::Write::write(&mut &own, &[0; 4096]).is_ok() {}
        assert_eq!(ready_tokens(&poller), []);
        std::io::Write::write_all(&mut &peer, &[1]).unwrap();
        assert_eq!(ready_tokens(&poller), [7], "data arrived");
    }

    #[test]
    fn a_busy_poller_finds_what_becomes_ready_before_and_after_it_sleeps() {
        let (looking, sleeping) = (Duration::from_secs(3600), Duration::from_nanos(1));
        for busy in [looking, sleeping] {
            let (poller, waker) = (Poller::busy(busy).unwrap(), Waker::new().unwrap());
            assert_eq!(ready_tokens(&poller), []);
            poller.add(waker.source(), 7, Interest::Read).unwrap();
            let mut ready = Vec::new();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| {
                    poller.wait(&mut ready, None).unwrap();
                    ready.len()
                });
                waker.wake();
                assert_eq!(waiting.join().unwrap(), 1);
            });
        }
    }

    #[test]
    fn a_peer_that_has_hung_up_shows_before_its_octets_are_received() {
        let (own, mut peer) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(!has_hung_up(&own));
        std::io::Write::write_all(&mut peer, b"last").unwrap();
        assert!(!has_hung_up(&own));
        drop(peer);
        assert!(has_hung_up(&own));
    }

    #[test]
    fn oneshot_interest_is_reported_once() {
        let (poller, waker) = (Poller::new().unwrap(), Waker::new().unwrap());
        poller.add(waker.source(), 7, Interest::ReadOnce).unwrap();
        assert_eq!(ready_tokens(&poller), []);
        waker.wake();
        assert_eq!(ready_tokens(&poller), [7]);
        assert_eq!(ready_tokens(&poller), []);
        // Re-armed, it is reported again, as it is still ready.
        poller
            .modify(waker.source(), 7, Interest::ReadOnce)
            .unwrap();
        assert_eq!(ready_tokens(&poller), [7]);
        assert_eq!(ready_tokens(&poller), []);
        poller.modify(waker.source(), 7, Interest::Read).unwrap();
        assert_eq!(ready_tokens(&poller), [7]);
        assert_eq!(ready_tokens(&poller), [7]);
    }

    #[test]
    fn events_that_one_wait_does_not_take_are_left_to_the_next() {
        let poller = Poller::new().unwrap();
        let wakers = [Waker::new().unwrap(), Waker::new().unwrap()];
        for (token, waker) in (1..).zip(&wakers) {
            poller
                .add(waker.source(), token, Interest::ReadOnce)
                .unwrap();
            waker.wake();
        }
        let mut ready = Vec::new();
        let mut found = Vec::new();
        for _ in 0..2 {
            let moment = Some(Duration::ZERO);
            poller.wait_for_some::<1>(&mut ready, moment).unwrap();
            assert_eq!(ready.len(), 1);
            found.extend(ready.iter().map(|ready| ready.token));
        }
        found.sort_unstable();
        assert_eq!(found, [1, 2]);
        assert_eq!(ready_tokens(&poller), []);
    }
}
