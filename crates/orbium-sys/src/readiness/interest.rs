// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to wait for on a source, and waiting for a few of them.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use crate::syscall;

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
}

/// A source that is ready, by the token it was registered with. Errors and
/// hang-ups show as readiness: the next operation will tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The token of the source.
    pub token: u64,
}

/// What poll is asked for.
pub(super) fn entry(source: &dyn AsFd, interest: Interest) -> libc::pollfd {
    libc::pollfd {
        fd: source.as_fd().as_raw_fd(),
        events: match interest {
            Interest::None => 0,
            Interest::Read | Interest::ReadOnce => libc::POLLIN,
            Interest::Write | Interest::WriteOnce => libc::POLLOUT,
            Interest::Both => libc::POLLIN | libc::POLLOUT,
        },
        revents: 0,
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
    const NOTHING: libc::pollfd = libc::pollfd {
        fd: -1,
        events: 0,
        revents: 0,
    };
    let mut set = [NOTHING; N];
    for (place, (source, interest)) in set.iter_mut().zip(&sources) {
        *place = entry(*source, *interest);
    }
    syscall::poll(&mut set, timeout)?;
    let mut ready = [false; N];
    for (ready, entry) in ready.iter_mut().zip(&set) {
        *ready = entry.revents != 0;
    }
    Ok(ready)
}
