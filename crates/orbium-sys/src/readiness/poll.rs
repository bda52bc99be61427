// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for many sources by poll on any Unix. Also compiled on Linux, for tests.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::interest::{Interest, MAX_EVENTS, Ready, entry, poll};
use super::system::PollEntry;

type Sources = BTreeMap<u64, (OwnedFd, Interest)>;

#[derive(Debug)]
pub(super) struct Set {
    sources: Mutex<Sources>,
}

/// Whether a ready source must be reported. A oneshot interest is consumed, so that a thread that
/// polled the same source concurrently does not report it again.
fn take_readiness(sources: &mut Sources, ready: Ready) -> bool {
    let Some((_, interest)) = sources.get_mut(&ready.token) else {
        return false;
    };
    let wanted = *interest != Interest::None;
    if matches!(
        interest,
        Interest::ReadOnce | Interest::WriteOnce | Interest::BothOnce
    ) {
        *interest = Interest::None;
    }
    wanted
}

impl Set {
    #[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
    pub(super) fn new() -> io::Result<Self> {
        let sources = Mutex::default();
        Ok(Self { sources })
    }

    fn lock(&self) -> MutexGuard<'_, Sources> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, source: &dyn AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let fd = source.as_fd().try_clone_to_owned()?;
        self.lock().insert(token, (fd, interest));
        Ok(())
    }

    pub(super) fn modify(
        &self,
        source: &dyn AsFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        self.add(source, token, interest)
    }

    #[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
    pub(super) fn remove(&self, _source: &dyn AsFd, token: u64) -> io::Result<()> {
        self.lock().remove(&token);
        Ok(())
    }

    /// Adds the ready sources to `ready`.
    pub(super) fn wait<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        self.wait_for_all(None, N, ready, timeout).map(drop)
    }

    pub(super) fn wait_including(
        &self,
        source: &dyn AsFd,
        interest: Interest,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        self.wait_for_all(Some((source, interest)), MAX_EVENTS, ready, timeout)
    }

    fn wait_for_all(
        &self,
        extra: Option<(&dyn AsFd, Interest)>,
        most: usize,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        // Without the sources of no interest: a peer that hangs up would end every wait.
        let sources: Vec<(u64, OwnedFd, Interest)> = {
            let held = self.lock();
            let wanted = held.iter().filter(|(_, (_, it))| *it != Interest::None);
            let cloned =
                wanted.map(|(token, (fd, interest))| Ok((*token, fd.try_clone()?, *interest)));
            cloned.collect::<io::Result<_>>()?
        };
        let mut set: Vec<_> = sources
            .iter()
            .map(|(_, fd, interest)| entry(fd.as_fd(), *interest))
            .collect();
        set.extend(extra.map(|(source, interest)| entry(source.as_fd(), interest)));
        poll(&mut set, timeout)?;
        if set.get(sources.len()).is_some_and(PollEntry::is_ready) {
            return Ok(true);
        }
        let pairs = set.iter().zip(&sources);
        let found = pairs
            .filter(|(entry, _)| entry.is_ready())
            .map(|(_, (token, ..))| Ready { token: *token });
        let mut held = self.lock();
        ready.extend(found.filter(|it| take_readiness(&mut held, *it)).take(most));
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::Waker;

    fn ready_tokens(set: &Set, timeout: Option<Duration>) -> Vec<u64> {
        let mut ready = Vec::new();
        set.wait::<1>(&mut ready, timeout).unwrap();
        ready.iter().map(|ready| ready.token).collect()
    }

    const NO_WAIT: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn oneshot_interest_is_reported_once() {
        let (set, wakers) = (Set::new().unwrap(), [(); 2].map(|()| Waker::new().unwrap()));
        for (token, waker) in (1..).zip(&wakers) {
            set.add(waker.source(), token, Interest::ReadOnce).unwrap();
            waker.wake();
        }
        // Sources that one wait does not report are reported by the next.
        assert_eq!(
            [ready_tokens(&set, None), ready_tokens(&set, None)],
            [[1], [2]]
        );
        assert_eq!(ready_tokens(&set, NO_WAIT), []);
        set.modify(wakers[1].source(), 2, Interest::Read).unwrap();
        assert_eq!(
            [ready_tokens(&set, None), ready_tokens(&set, None)],
            [[2], [2]]
        );
        set.remove(wakers[1].source(), 2).unwrap();
        assert_eq!(ready_tokens(&set, NO_WAIT), []);
    }

    /// Regression: such a wait ended at once with nothing, and so did the next, while a thread
    /// owned the source.
    #[test]
    fn a_source_without_interest_does_not_end_a_wait_by_hanging_up() {
        let (set, waker) = (Set::new().unwrap(), Waker::new().unwrap());
        let (source, peer) = UnixStream::pair().unwrap();
        set.add(&source, 1, Interest::ReadOnce).unwrap();
        drop(peer);
        assert_eq!(ready_tokens(&set, None), [1]);
        set.add(waker.source(), 2, Interest::Read).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| ready_tokens(&set, None));
            waker.wake();
            assert_eq!(waits.join().unwrap(), [2]);
        });
        waker.clear();
        let mut ready = Vec::new();
        waker.wake();
        let waited = set.wait_including(waker.source(), Interest::Read, &mut ready, None);
        assert_eq!((waited.unwrap(), ready), (true, vec![]));
    }
}
