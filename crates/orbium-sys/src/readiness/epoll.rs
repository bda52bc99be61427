// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many sources as the kernel of Linux waits for them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use super::interest::{Interest, MAX_EVENTS, Ready, wait_for};
use crate::deadline::timespec;
use crate::fork::Held;

/// The longest wait of one call: the kernel counts milliseconds in 31 bits.
const MAX_WAIT: Duration = Duration::from_millis(i32::MAX as u64);

#[derive(Debug)]
pub(super) struct Set {
    _held: Held,
    epoll: OwnedFd,
}

fn flags(interest: Interest) -> EventFlags {
    const READ: EventFlags = EventFlags::IN.union(EventFlags::RDHUP);
    match interest {
        Interest::None => EventFlags::empty(),
        Interest::Read => READ,
        Interest::Write => EventFlags::OUT,
        Interest::Both => READ | EventFlags::OUT,
        Interest::ReadOnce => READ | EventFlags::ONESHOT,
        Interest::WriteOnce => EventFlags::OUT | EventFlags::ONESHOT,
        Interest::BothOnce => READ | EventFlags::OUT | EventFlags::ONESHOT,
    }
}

impl Set {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self {
            _held: Held::new(&epoll),
            epoll,
        })
    }

    pub(super) fn add(&self, source: &dyn AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::add(&self.epoll, source, data, flags(interest))?)
    }

    pub(super) fn modify(
        &self,
        source: &dyn AsFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let data = EventData::new_u64(token);
        Ok(epoll::modify(&self.epoll, source, data, flags(interest))?)
    }

    pub(super) fn remove(&self, source: &dyn AsFd, _token: u64) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, source)?)
    }

    /// Adds what is ready to `ready`.
    pub(super) fn wait<const N: usize>(
        &self,
        ready: &mut Vec<Ready>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        let mut events = [const { MaybeUninit::<Event>::uninit() }; N];
        let timeout = timeout.map(|timeout| timespec(timeout.min(MAX_WAIT)));
        match epoll::wait(&self.epoll, &mut events, timeout.as_ref()) {
            Ok((events, _)) => {
                ready.extend(events.iter().map(|event| Ready {
                    token: event.data.u64(),
                }));
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
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
