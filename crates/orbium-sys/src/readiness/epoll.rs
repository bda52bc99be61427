// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many sources as the kernel of Linux waits for them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use super::interest::{Interest, MAX_EVENTS, Ready, wait_for};
use crate::fork::Held;
use crate::{direct_syscall, syscall};

#[derive(Debug)]
pub(super) struct Set {
    _held: Held,
    epoll: OwnedFd,
}

fn flags(interest: Interest) -> i32 {
    match interest {
        Interest::None => 0,
        Interest::Read => libc::EPOLLIN | libc::EPOLLRDHUP,
        Interest::Write => libc::EPOLLOUT,
        Interest::Both => flags(Interest::Read) | libc::EPOLLOUT,
        Interest::ReadOnce => flags(Interest::Read) | libc::EPOLLONESHOT,
        Interest::WriteOnce => flags(Interest::Write) | libc::EPOLLONESHOT,
    }
}

impl Set {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = syscall::epoll()?;
        Ok(Self {
            _held: Held::new(&epoll),
            epoll,
        })
    }

    pub(super) fn add(&self, source: &dyn AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, source, token, flags(interest))
    }

    pub(super) fn modify(
        &self,
        source: &dyn AsFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, source, token, flags(interest))
    }

    pub(super) fn remove(&self, source: &dyn AsFd, _token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, source, 0, 0)
    }

    fn control(
        &self,
        operation: i32,
        source: &dyn AsFd,
        token: u64,
        events: i32,
    ) -> io::Result<()> {
        syscall::epoll_control(&self.epoll, operation, source, token, events)
    }

    /// Adds what is ready to `ready`.
    pub(super) fn wait<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        let mut events = [const { MaybeUninit::uninit() }; N];
        self.wait_with(&mut events, ready, timeout)
    }

    fn wait_with(
        &self,
        events: &mut [MaybeUninit<libc::epoll_event>],
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        match direct_syscall::wait(&self.epoll, events, syscall::milliseconds(timeout)) {
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
