// SPDX-License-Identifier: MIT OR Apache-2.0
//! The system calls that wait, with sources that remain open during the wait.
#![expect(unsafe_code, reason = "poll and epoll by the C library")]

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// A source in the set of one [`poll`].
#[derive(Debug)]
#[repr(transparent)]
pub(super) struct PollEntry<'fd> {
    raw: libc::pollfd,
    source: PhantomData<BorrowedFd<'fd>>,
}

impl<'fd> PollEntry<'fd> {
    /// Waits for `events` of a source: `POLLIN`, `POLLOUT`, or both.
    pub(super) fn new(source: BorrowedFd<'fd>, events: i16) -> Self {
        let raw = libc::pollfd {
            fd: source.as_raw_fd(),
            events,
            revents: 0,
        };
        Self {
            raw,
            source: PhantomData,
        }
    }

    /// Whether the last poll found it ready, ended or in error.
    pub(super) fn is_ready(&self) -> bool {
        self.raw.revents != 0
    }
}

fn checked(result: libc::c_int) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Waits until an entry is ready; `None` means no limit.
#[cfg(target_os = "linux")]
pub(super) fn poll(set: &mut [PollEntry<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        // Below a thousand millions.
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), std::ptr::from_ref);
    let (entries, count) = (set.as_mut_ptr().cast(), set.len() as libc::nfds_t);
    // SAFETY: an entry is a `pollfd` and nothing else, there are `count` of them, and their
    // descriptors are open as long as they are borrowed. The time lives until the call returns.
    checked(unsafe { libc::ppoll(entries, count, timeout, std::ptr::null()) })
}

/// Waits until an entry is ready; `None` means no limit.
#[cfg(not(target_os = "linux"))]
pub(super) fn poll(set: &mut [PollEntry<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let (entries, count) = (set.as_mut_ptr().cast(), set.len() as libc::nfds_t);
    // SAFETY: an entry is a `pollfd` and nothing else, there are `count` of them, and their
    // descriptors are open as long as they are borrowed.
    checked(unsafe { libc::poll(entries, count, milliseconds(timeout)) })
}

/// A time-out in the format of `poll` and `epoll_wait`, rounded up to avoid a busy loop before a
/// later due time.
fn milliseconds(timeout: Option<Duration>) -> libc::c_int {
    timeout.map_or(-1, |timeout| {
        let whole = timeout.as_nanos().div_ceil(1_000_000);
        whole.try_into().unwrap_or(libc::c_int::MAX)
    })
}

#[cfg(target_os = "linux")]
pub(super) mod epoll {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
    use std::time::Duration;

    pub(in crate::readiness) use libc::epoll_event as Event;
    use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, c_int};

    use super::{checked, milliseconds};

    pub(in crate::readiness) fn create() -> io::Result<OwnedFd> {
        // SAFETY: it takes a flag.
        let created = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        checked(created)?;
        // SAFETY: the descriptor is new, and nothing else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(created) })
    }

    pub(in crate::readiness) fn add(
        epoll: &OwnedFd,
        source: BorrowedFd<'_>,
        event: Event,
    ) -> io::Result<()> {
        control(epoll, EPOLL_CTL_ADD, source, event)
    }

    pub(in crate::readiness) fn modify(
        epoll: &OwnedFd,
        source: BorrowedFd<'_>,
        event: Event,
    ) -> io::Result<()> {
        control(epoll, EPOLL_CTL_MOD, source, event)
    }

    pub(in crate::readiness) fn remove(epoll: &OwnedFd, source: BorrowedFd<'_>) -> io::Result<()> {
        control(epoll, EPOLL_CTL_DEL, source, Event { events: 0, u64: 0 })
    }

    fn control(
        epoll: &OwnedFd,
        operation: c_int,
        source: BorrowedFd<'_>,
        mut event: Event,
    ) -> io::Result<()> {
        let (epoll, source) = (epoll.as_raw_fd(), source.as_raw_fd());
        // SAFETY: both descriptors are open as long as they are borrowed; the event lives
        // until the call returns.
        checked(unsafe { libc::epoll_ctl(epoll, operation, source, &raw mut event) })?;
        Ok(())
    }

    /// The events available before the timeout, at most as many as fit in `room`.
    pub(in crate::readiness) fn wait<'e>(
        epoll: &OwnedFd,
        room: &'e mut [MaybeUninit<Event>],
        timeout: Option<Duration>,
    ) -> io::Result<&'e [Event]> {
        let most = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        let (epoll, events) = (epoll.as_raw_fd(), room.as_mut_ptr().cast::<Event>());
        // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes at most
        // as many events as there is room for.
        let count =
            checked(unsafe { libc::epoll_wait(epoll, events, most, milliseconds(timeout)) })?;
        // SAFETY: the kernel has written that many.
        Ok(unsafe { std::slice::from_raw_parts(events, count) })
    }
}
