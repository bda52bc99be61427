// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to wait for on a source, and waiting for a few of them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use crate::deadline::timespec;

/// Sources that one wait reports at most.
pub(super) const MAX_EVENTS: usize = 64;

/// What to wait for on a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Nothing, for now; the source stays registered.
    None,
    /// Data, a new connection or the end.
    Read,
    /// Room to send.
    Write,
    /// Either of `Read` and `Write`.
    Both,
    /// As `Read`, reported once (`EPOLLONESHOT`): for a thread that then owns the
    /// source until it re-arms it.
    ReadOnce,
    /// As `Write`, reported once.
    WriteOnce,
    /// As `Both`, reported once.
    BothOnce,
}

/// A source that is ready, by the token it was registered with. Errors and
/// hang-ups show as readiness: the next operation will tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The token of the source.
    pub token: u64,
}

/// What poll is asked for.
pub(super) fn entry(source: BorrowedFd<'_>, interest: Interest) -> PollFd<'_> {
    let events = match interest {
        Interest::None => PollFlags::empty(),
        Interest::Read | Interest::ReadOnce => PollFlags::IN,
        Interest::Write | Interest::WriteOnce => PollFlags::OUT,
        Interest::Both | Interest::BothOnce => PollFlags::IN | PollFlags::OUT,
    };
    PollFd::from_borrowed_fd(source, events)
}

/// Waits until one of some descriptors is ready; `None` is for ever. What is
/// ready stands in the set. An interruption counts as nothing ready.
///
/// # Errors
/// The system's error.
pub(super) fn poll(set: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.map(timespec);
    match rustix::event::poll(set, timeout.as_ref()) {
        Ok(_) => Ok(()),
        Err(Errno::INTR) => {
            for entry in set {
                entry.clear_revents();
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits until one of a few sources is ready, or for `timeout` at most;
/// returns which are. An interruption counts as nothing ready.
///
/// # Errors
/// The system's error.
pub fn wait_for<const N: usize>(
    sources: [(&dyn AsFd, Interest); N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut set = sources.map(|(source, interest)| entry(source.as_fd(), interest));
    poll(&mut set, timeout)?;
    Ok(set.map(|entry| !entry.revents().is_empty()))
}
