// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many sources as any Unix waits for them. Compiled on Linux too, to be tested.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{AT_ONCE, Interest, Ready, entry};
use crate::syscall;

type Sources = BTreeMap<u64, (OwnedFd, Interest)>;

#[derive(Debug)]
pub(super) struct Set {
    sources: Mutex<Sources>,
}

/// Whether a source that is ready is to be told of; if only once, then never
/// again, nor to another who has seen it meanwhile.
fn is_told(sources: &mut Sources, ready: Ready) -> bool {
    let Some((_, interest)) = sources.get_mut(&ready.token) else {
        return false;
    };
    let told = *interest != Interest::None;
    if matches!(interest, Interest::ReadOnce | Interest::WriteOnce) {
        *interest = Interest::None;
    }
    told
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

    /// Adds what is ready to `ready`.
    pub(super) fn wait<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        self.wait_for_all(None, N, ready, timeout).map(drop)
    }

    pub(super) fn wait_beside(
        &self,
        source: &dyn AsFd,
        interest: Interest,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        self.wait_for_all(Some((source, interest)), AT_ONCE, ready, timeout)
    }

    fn wait_for_all(
        &self,
        beside: Option<(&dyn AsFd, Interest)>,
        most: usize,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        // Not those that nobody waits for: a peer that hangs up would end the
        // wait for nothing, again and again.
        let sources: Vec<(u64, OwnedFd, Interest)> = {
            let held = self.lock();
            let wanted = held.iter().filter(|(_, (_, it))| *it != Interest::None);
            let cloned =
                wanted.map(|(token, (fd, interest))| Ok((*token, fd.try_clone()?, *interest)));
            cloned.collect::<io::Result<_>>()?
        };
        let mut set: Vec<_> = sources
            .iter()
            .map(|(_, fd, interest)| entry(fd, *interest))
            .collect();
        set.extend(beside.map(|(source, interest)| entry(source, interest)));
        syscall::poll(&mut set, timeout)?;
        if set.get(sources.len()).is_some_and(|own| own.revents != 0) {
            return Ok(true);
        }
        let pairs = set.iter().zip(&sources);
        let found = pairs
            .filter(|(set, _)| set.revents != 0)
            .map(|(_, (token, ..))| Ready { token: *token });
        let mut held = self.lock();
        ready.extend(found.filter(|it| is_told(&mut held, *it)).take(most));
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::Waker;

    fn told(set: &Set, timeout: Option<Duration>) -> Vec<u64> {
        let mut ready = Vec::new();
        set.wait::<1>(&mut ready, timeout).unwrap();
        ready.iter().map(|ready| ready.token).collect()
    }

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn what_is_asked_for_once_is_told_once() {
        let (set, wakers) = (Set::new().unwrap(), [(); 2].map(|()| Waker::new().unwrap()));
        for (token, waker) in (1..).zip(&wakers) {
            set.add(waker.source(), token, Interest::ReadOnce).unwrap();
            waker.wake();
        }
        // What one does not take is left to the next.
        assert_eq!([told(&set, None), told(&set, None)], [[1], [2]]);
        assert_eq!(told(&set, AT_ONCE), []);
        set.modify(wakers[1].source(), 2, Interest::Read).unwrap();
        assert_eq!([told(&set, None), told(&set, None)], [[2], [2]]);
        set.remove(wakers[1].source(), 2).unwrap();
        assert_eq!(told(&set, AT_ONCE), []);
    }

    /// Once such a wait ended at once with nothing, as did the next, for as long
    /// as the source was some thread's own.
    #[test]
    fn what_nobody_waits_for_does_not_end_a_wait_when_it_hangs_up() {
        let (set, waker) = (Set::new().unwrap(), Waker::new().unwrap());
        let (source, peer) = UnixStream::pair().unwrap();
        set.add(&source, 1, Interest::ReadOnce).unwrap();
        drop(peer);
        assert_eq!(told(&set, None), [1]);
        set.add(waker.source(), 2, Interest::Read).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| told(&set, None));
            waker.wake();
            assert_eq!(waits.join().unwrap(), [2]);
        });
        waker.clear();
        let mut ready = Vec::new();
        waker.wake();
        let beside = set.wait_beside(waker.source(), Interest::Read, &mut ready, None);
        assert_eq!((beside.unwrap(), ready), (true, vec![]));
    }
}
