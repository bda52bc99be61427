// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for many sources by epoll on Linux.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use libc::{EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP};

use super::interest::{Interest, MAX_EVENTS, Ready, wait_for};
use super::system::epoll::{self, Event};
use crate::fork::Held;

#[derive(Debug)]
pub(super) struct Set {
    _held: Held,
    epoll: OwnedFd,
}

fn event(token: u64, interest: Interest) -> Event {
    const READ: libc::c_int = EPOLLIN | EPOLLRDHUP;
    let flags = match interest {
        Interest::None => 0,
        Interest::Read => READ,
        Interest::Write => EPOLLOUT,
        Interest::Both => READ | EPOLLOUT,
        Interest::ReadOnce => READ | EPOLLONESHOT,
        Interest::WriteOnce => EPOLLOUT | EPOLLONESHOT,
        Interest::BothOnce => READ | EPOLLOUT | EPOLLONESHOT,
    };
    Event {
        events: flags.cast_unsigned(),
        u64: token,
    }
}

impl Set {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create()?;
        Ok(Self {
            _held: Held::new(&epoll),
            epoll,
        })
    }

    pub(super) fn add(&self, source: &dyn AsFd, token: u64, interest: Interest) -> io::Result<()> {
        epoll::add(&self.epoll, source.as_fd(), event(token, interest))
    }

    pub(super) fn modify(
        &self,
        source: &dyn AsFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        epoll::modify(&self.epoll, source.as_fd(), event(token, interest))
    }

    pub(super) fn remove(&self, source: &dyn AsFd, _token: u64) -> io::Result<()> {
        epoll::remove(&self.epoll, source.as_fd())
    }

    /// Adds the ready sources to `ready`.
    pub(super) fn wait<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        let mut events = [const { MaybeUninit::<Event>::uninit() }; N];
        match epoll::wait(&self.epoll, &mut events, timeout) {
            Ok(events) => {
                ready.extend(events.iter().map(|event| Ready { token: event.u64 }));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    #[inline]
    pub(super) fn wait_including(
        &self,
        source: &dyn AsFd,
        interest: Interest,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        let both: [(&dyn AsFd, Interest); 2] = [(source, interest), (&self.epoll, Interest::Read)];
        let [own, others] = wait_for(both, timeout)?;
        if others && !own {
            self.wait::<MAX_EVENTS>(ready, Some(Duration::ZERO))?;
        }
        Ok(own)
    }
}
