// SPDX-License-Identifier: MIT OR Apache-2.0
//! State of a connection shared by the threads of this process: its memory, its socket, and
//! its flags.
//!
//! The socket carries no data after the greeting. An octet sent through it makes the other side's
//! descriptor readable. Octets that fill it make our own descriptor unwritable until the other
//! side, having made room in the ring, reads them.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use orbium_sys::fork::{Held, Origin};
use orbium_sys::{Interest, wait_for};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::region::{Region, Way};
use crate::ring::{Control, Rouse, Side};
use crate::shared_memory;

/// Receiving has ended: `shutdown` was called.
pub(crate) const READ_ENDED: u32 = 1;
/// Sending has ended: `shutdown` was called.
pub(crate) const WRITE_ENDED: u32 = 2;
/// The peer has ended.
pub(crate) const DEAD: u32 = 4;
/// The peer wrote an impossible value.
pub(crate) const BROKEN: u32 = 8;
/// The stream is non-blocking.
pub(crate) const NONBLOCKING: u32 = 16;

/// Octets read from or written to the socket at once.
const PIECE: usize = 2048;

/// Maximum attempts to empty or to fill the socket. It holds two pieces; a hostile peer may have
/// sent more, which are left for the next time.
const ATTEMPTS: usize = 16;

/// The event for which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Something to receive.
    Receive,
    /// Room to send.
    Send,
}

impl Wait {
    /// The flags that end the wait.
    pub(crate) const fn ended(self) -> u32 {
        match self {
            Self::Receive => READ_ENDED | DEAD | BROKEN,
            Self::Send => WRITE_ENDED | DEAD | BROKEN,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Link {
    region: Region,
    _held: Held,
    origin: Origin,
    socket: OwnedFd,
    inward: Way,
    flags: AtomicU32,
    /// Threads that sleep, or are about to: to receive, and to send.
    receiving: AtomicU32,
    sending: AtomicU32,
    /// Its token at the watcher; 0 if it is not watched.
    pub(crate) token: AtomicU64,
}

impl Link {
    pub(crate) fn new(region: Region, socket: OwnedFd, inward: Way) -> Self {
        Self {
            region,
            _held: Held::new(&socket),
            origin: Origin::here(),
            socket,
            inward,
            flags: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            sending: AtomicU32::new(0),
            token: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// Whether this process has created the connection, and is not a fork of the one that has. If
    /// not, it is unusable here.
    pub(crate) fn is_here(&self) -> bool {
        let here = self.origin.is_here();
        if !here {
            self.set(DEAD);
        }
        here
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// The receiving direction.
    #[inline]
    pub(crate) fn inward(&self) -> Way {
        self.inward
    }

    /// The sending direction.
    #[inline]
    pub(crate) fn outward(&self) -> Way {
        self.inward.other()
    }

    #[inline]
    pub(crate) fn incoming(&self) -> &Control {
        self.region.control(self.inward())
    }

    #[inline]
    pub(crate) fn outgoing(&self) -> &Control {
        self.region.control(self.outward())
    }

    #[inline]
    pub(crate) fn has(&self, flags: u32) -> bool {
        self.flags.load(Ordering::Acquire) & flags != 0
    }

    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, flags: u32) {
        self.flags.fetch_or(flags, Ordering::AcqRel);
    }

    pub(crate) fn clear(&self, flags: u32) {
        self.flags.fetch_and(!flags, Ordering::AcqRel);
    }

    /// After octets were sent.
    #[inline]
    pub(crate) fn rouse_reader(&self) {
        let reader = &self.outgoing().reader;
        match reader.rouse() {
            Rouse::Nothing => {}
            Rouse::Wake => wake(reader),
            Rouse::Ring => self.ring(),
        }
    }

    /// After octets were received.
    #[inline]
    pub(crate) fn rouse_writer(&self) {
        let writer = &self.incoming().writer;
        match writer.rouse() {
            Rouse::Nothing => {}
            Rouse::Wake => wake(writer),
            Rouse::Ring => {
                self.drain();
            }
        }
    }

    /// Makes the peer's descriptor readable.
    #[cold]
    pub(crate) fn ring(&self) {
        // It is readable already if the socket is full, and if it is broken.
        let _ = send(
            &self.socket,
            &[0],
            SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
        );
    }

    /// Reads the octets that the peer sent through the socket; `false` if it will send no more.
    /// Makes its descriptor writable, and ours not readable.
    #[cold]
    pub(crate) fn drain(&self) -> bool {
        let mut octets = [0; PIECE];
        for _ in 0..ATTEMPTS {
            match recv(&self.socket, &mut octets, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return false,
                // The socket is empty; a following end remains visible.
                Ok((_, count)) if count < PIECE => return true,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Fills the socket, so that our descriptor is not writable until the peer has read from it;
    /// `false` if it never will.
    #[cold]
    pub(crate) fn fill(&self) -> bool {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        for _ in 0..ATTEMPTS {
            match send(&self.socket, &[0; PIECE], flags) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS) => return true,
                Err(_) => return false,
            }
        }
        true
    }

    /// Whether the peer has closed its end.
    pub(crate) fn is_hung_up(&self) -> bool {
        let hung = wait_for([(&self.socket, Interest::None)], Some(Duration::ZERO));
        matches!(hung, Ok([true]))
    }

    /// This side's words for a wait, and the number of its sleepers.
    pub(crate) fn waiting(&self, what: Wait) -> (&Side, &AtomicU32) {
        match what {
            Wait::Receive => (&self.incoming().reader, &self.receiving),
            Wait::Send => (&self.outgoing().writer, &self.sending),
        }
    }

    /// Wakes the waiting threads of this process, after setting a flag that ends the wait; returns
    /// whether some may still sleep. A peer that writes to the words at the wrong instant can undo
    /// it.
    pub(crate) fn disturb(&self) -> bool {
        let mut asleep = false;
        for what in [Wait::Receive, Wait::Send] {
            if self.has(what.ended()) {
                let (side, sleepers) = self.waiting(what);
                side.disturb();
                wake(side);
                // After the fence of `Side::disturb`: a sleeper that is not counted here sees the
                // flag at its next check, after the fence of `Side::announce`.
                asleep |= sleepers.load(Ordering::Acquire) > 0;
            }
        }
        asleep
    }

    /// Notifies the peer that sending has ended.
    pub(crate) fn end_outward(&self) {
        self.outgoing().writer.leave();
        self.rouse_reader();
        // Pollers of the descriptor are notified, too.
        self.ring();
    }

    /// Notifies the peer that receiving has ended.
    pub(crate) fn end_inward(&self) {
        self.incoming().reader.leave();
        self.rouse_writer();
    }

    /// Ends the connection, both ways.
    pub(crate) fn end(&self) {
        self.end_outward();
        self.end_inward();
        self.shutdown_socket(Shutdown::Both);
    }

    pub(crate) fn shutdown_socket(&self, how: Shutdown) {
        let how = match how {
            Shutdown::Read => rustix::net::Shutdown::Read,
            Shutdown::Write => rustix::net::Shutdown::Write,
            Shutdown::Both => rustix::net::Shutdown::Both,
        };
        // An error means that the connection has ended already.
        let _ = rustix::net::shutdown(&self.socket, how);
    }

    /// Minimizes the capacity of the socket, so that it is filled quickly.
    pub(crate) fn shrink_socket(&self) -> io::Result<()> {
        Ok(rustix::net::sockopt::set_socket_send_buffer_size(
            &self.socket,
            1,
        )?)
    }
}

/// Wakes the threads that sleep on the word of a side.
#[cold]
fn wake(side: &Side) {
    // All of them: there is one, unless the peer is hostile.
    shared_memory::wake(&side.state, u32::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a thread was woken every ten milliseconds, and after a thousand times considered
    /// the peer hostile, because the other direction had ended.
    #[test]
    fn only_a_wait_that_has_ended_is_disturbed() {
        let (region, _) = Region::create(4096).unwrap();
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let link = Link::new(region, socket.into(), Way::ToServer);
        let (side, sleepers) = link.waiting(Wait::Receive);
        sleepers.store(1, Ordering::Relaxed);
        side.announce(crate::ring::Waiting::Asleep);
        link.set(WRITE_ENDED);
        assert!(!link.disturb());
        assert!(side.is_announced(crate::ring::Waiting::Asleep));
        link.set(READ_ENDED);
        assert!(link.disturb());
        assert!(!side.is_announced(crate::ring::Waiting::Asleep));
        sleepers.store(0, Ordering::Relaxed);
        assert!(!link.disturb());
    }
}
