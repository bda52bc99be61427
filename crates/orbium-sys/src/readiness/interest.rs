// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interest in the readiness of a source, and waiting for a few sources.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use libc::{POLLIN, POLLOUT};

use super::system::{self, PollEntry};

/// Maximum number of sources reported by one wait.
pub(super) const MAX_EVENTS: usize = 64;

/// Interest in the readiness of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// None at present; the source remains registered.
    None,
    /// Data, a new connection or the end of the stream.
    Read,
    /// Room to send.
    Write,
    /// Either of `Read` and `Write`.
    Both,
    /// As `Read`, reported once (`EPOLLONESHOT`): to a thread that then owns the source until it
    /// re-arms it.
    ReadOnce,
    /// As `Write`, reported once.
    WriteOnce,
    /// As `Both`, reported once.
    BothOnce,
}

/// A ready source, by the token of its registration. Errors and hang-ups are reported as readiness:
/// the next operation returns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The token of the source.
    pub token: u64,
}

/// The corresponding entry for poll.
pub(super) fn entry(source: BorrowedFd<'_>, interest: Interest) -> PollEntry<'_> {
    let events = match interest {
        Interest::None => 0,
        Interest::Read | Interest::ReadOnce => POLLIN,
        Interest::Write | Interest::WriteOnce => POLLOUT,
        Interest::Both | Interest::BothOnce => POLLIN | POLLOUT,
    };
    PollEntry::new(source, events)
}

/// Waits until one of several descriptors is ready; `None` waits without limit. The result is in
/// the set. An interruption counts as nothing ready.
///
/// # Errors
/// The system's error.
pub(super) fn poll(set: &mut [PollEntry<'_>], timeout: Option<Duration>) -> io::Result<()> {
    match system::poll(set, timeout) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// Waits until one of a few sources is ready, for at most `timeout`; returns which are. An
/// interruption counts as nothing ready.
///
/// # Errors
/// The system's error.
pub fn wait_for<const N: usize>(
    sources: [(&dyn AsFd, Interest); N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut set = sources.map(|(source, interest)| entry(source.as_fd(), interest));
    poll(&mut set, timeout)?;
    Ok(set.map(|entry| entry.is_ready()))
}

/// The event of a socket after its peer has ended sending.
#[cfg(target_os = "linux")]
const PEER_ENDED: i16 = libc::POLLRDHUP;
/// The end of both directions, which poll always reports.
#[cfg(not(target_os = "linux"))]
const PEER_ENDED: i16 = 0;

/// Whether the peer of a socket has ended the connection, as far as the system knows; data sent
/// before may still be unread. False for other sources. One system call.
#[must_use]
pub fn has_hung_up(source: &dyn AsFd) -> bool {
    let mut set = [PollEntry::new(source.as_fd(), PEER_ENDED)];
    let looked = poll(&mut set, Some(Duration::ZERO));
    looked.is_ok() && set[0].is_ready()
}
