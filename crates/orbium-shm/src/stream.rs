// SPDX-License-Identifier: MIT OR Apache-2.0
//! One end of a connection.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use orbium_transport::{ByteStream, Deadline, Peer};

use crate::link::{BROKEN, DEAD, Link, NONBLOCKING, READ_ENDED, WRITE_ENDED, Wait};
use crate::region::{Region, Way};
use crate::ring::{Reader, Waiting, Writer};
use crate::spin::{Spin, Spinner};
use crate::{waiting, watcher};

/// A connection through shared memory.
///
/// Octets are received as they were sent, without boundaries. Data sent before the peer ended or
/// died can still be received; then follows the end, or `ConnectionReset`. A peer that violates the
/// protocol causes `ConnectionAborted`.
#[derive(Debug)]
pub struct ShmByteStream {
    reader: Reader,
    writer: Writer,
    link: Arc<Link>,
    receive_spin: Spinner,
    send_spin: Spinner,
    receive_timeout: Timeout,
    send_timeout: Timeout,
    peer: Peer,
}

impl ShmByteStream {
    pub(crate) fn new(
        region: Region,
        socket: OwnedFd,
        inward: Way,
        spin: Spin,
        peer: Peer,
    ) -> Self {
        Self {
            reader: Reader::new(),
            writer: Writer::new(),
            link: Arc::new(Link::new(region, socket, inward)),
            receive_spin: Spinner::new(spin),
            send_spin: Spinner::new(spin),
            receive_timeout: Timeout::default(),
            send_timeout: Timeout::default(),
            peer,
        }
    }

    /// Reads the available octets from the ring.
    #[inline]
    fn pop(&self, room: &mut [u8]) -> io::Result<usize> {
        let link = &*self.link;
        let octets = link.region().octets(link.inward());
        let popped = self
            .reader
            .pop(link.incoming(), &octets, room, || link.rouse_writer());
        popped.map_err(|_| self.break_off())
    }

    /// Writes the octets for which the ring has room.
    #[inline]
    fn push<'p>(&self, wanted: usize, pieces: impl Iterator<Item = &'p [u8]>) -> io::Result<usize> {
        let link = &*self.link;
        let octets = link.region().octets(link.outward());
        let control = link.outgoing();
        let pushed = self
            .writer
            .push(control, &octets, wanted, pieces, || link.rouse_reader());
        pushed.map_err(|_| self.break_off())
    }

    /// Ends the connection after the peer has violated the protocol.
    #[cold]
    fn break_off(&self) -> io::Error {
        self.link.set(BROKEN);
        self.link.end();
        watcher::interrupt(&self.link);
        aborted()
    }

    /// Receives if the ring is empty.
    #[cold]
    fn receive_later(&self, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        loop {
            // Read before the ring: data sent before the end are valid.
            let flags = self.link.flags();
            let ended = self.link.incoming().writer.has_left();
            if flags & BROKEN != 0 {
                return Err(self.break_off());
            }
            let received = self.pop(room)?;
            if received > 0 {
                self.received();
                return Ok(received);
            }
            if ended || flags & READ_ENDED != 0 {
                return Ok(0);
            }
            if flags & DEAD != 0 {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            if flags & NONBLOCKING == 0 {
                self.wait_to_receive()?;
            } else if self.is_armed() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    fn wait_to_receive(&self) -> io::Result<()> {
        let control = self.link.incoming();
        let ready = || {
            self.reader.has_some(control)
                || self.link.has(Wait::Receive.ended())
                || control.writer.has_left()
        };
        if !self.link.is_here() {
            return Ok(());
        }
        let timeout = self.receive_timeout.get();
        let Err(spun) = self.receive_spin.spin(timeout, ready) else {
            return Ok(());
        };
        let deadline = Deadline::after(timeout.map(|it| it.saturating_sub(spun)));
        waiting::wait(&self.link, Wait::Receive, deadline, ready)
    }

    /// Arms the descriptor to become readable when there is something to receive; `false` if there
    /// is already.
    #[cold]
    fn is_armed(&self) -> bool {
        let control = self.link.incoming();
        // First, since it reads the octets that the peer sends from now on.
        let hung = !self.link.drain();
        control.reader.announce(Waiting::Away);
        if self.reader.has_some(control) || control.writer.has_left() {
            control.reader.withdraw();
            return false;
        }
        if hung && !self.link.has(READ_ENDED) {
            self.link.set(DEAD);
            return false;
        }
        true
    }

    /// After a receive: shows further data, if the peer is to announce them.
    #[inline]
    fn received(&self) {
        if self.link.has(NONBLOCKING) && !self.reader.has_some(self.link.incoming()) {
            let reader = &self.link.incoming().reader;
            if !reader.is_announced(Waiting::Away) {
                // If bytes arrived in between, `has_buffered` returns true.
                self.is_armed();
            }
        }
    }

    /// # Errors
    /// Sending has ended.
    #[inline]
    fn check_sending(&self) -> io::Result<()> {
        if self.link.has(Wait::Send.ended()) || self.link.outgoing().reader.has_left() {
            return Err(self.sending_ended());
        }
        Ok(())
    }

    #[cold]
    fn sending_ended(&self) -> io::Error {
        if self.link.has(BROKEN) {
            return aborted();
        }
        io::ErrorKind::BrokenPipe.into()
    }

    #[inline]
    fn send_all<'p>(
        &self,
        wanted: usize,
        pieces: &(impl Iterator<Item = &'p [u8]> + Clone),
    ) -> io::Result<usize> {
        // Before anything is written: an error means that the peer has not received these octets.
        self.check_sending()?;
        match self.push(wanted, pieces.clone()) {
            Ok(0) if wanted > 0 => self.send_later(wanted, pieces),
            pushed => pushed,
        }
    }

    /// Sends if the ring is full.
    #[cold]
    fn send_later<'p>(
        &self,
        wanted: usize,
        pieces: &(impl Iterator<Item = &'p [u8]> + Clone),
    ) -> io::Result<usize> {
        loop {
            self.check_sending()?;
            let sent = self.push(wanted, pieces.clone())?;
            if sent > 0 {
                return Ok(sent);
            }
            if !self.link.has(NONBLOCKING) {
                self.wait_to_send()?;
            } else if self.is_full() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    fn wait_to_send(&self) -> io::Result<()> {
        let control = self.link.outgoing();
        let ready = || {
            self.writer.has_changed(control)
                || self.link.has(Wait::Send.ended())
                || control.reader.has_left()
        };
        if !self.link.is_here() {
            return Ok(());
        }
        let timeout = self.send_timeout.get();
        let Err(spun) = self.send_spin.spin(timeout, ready) else {
            return Ok(());
        };
        let deadline = Deadline::after(timeout.map(|it| it.saturating_sub(spun)));
        waiting::wait(&self.link, Wait::Send, deadline, ready)
    }

    /// Arms the descriptor to become writable when there is room; `false` if there is already.
    #[cold]
    fn is_full(&self) -> bool {
        let control = self.link.outgoing();
        // First, so that the peer, which acts on the announcement, finds it filled.
        if !self.link.fill() {
            self.link.set(DEAD);
            return false;
        }
        control.writer.announce(Waiting::Away);
        // Not withdrawn if there is room now: the peer is to empty the socket.
        !self.writer.has_changed(control) && !control.reader.has_left()
    }
}

fn aborted() -> io::Error {
    let what = "the peer broke the protocol of shared memory";
    io::Error::new(io::ErrorKind::ConnectionAborted, what)
}

impl ByteStream for ShmByteStream {
    #[inline]
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        match self.pop(room) {
            Ok(0) => self.receive_later(room),
            Ok(received) => {
                self.received();
                Ok(received)
            }
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_all(octets.len(), &std::iter::once(octets))
    }

    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let wanted = pieces.iter().map(|piece| piece.len()).sum();
        self.send_all(wanted, &pieces.iter().map(|piece| &**piece))
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        if receive == Some(Some(Duration::ZERO)) || send == Some(Some(Duration::ZERO)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if let Some(timeout) = receive {
            self.receive_timeout.set(timeout);
        }
        if let Some(timeout) = send {
            self.send_timeout.set(timeout);
        }
        Ok(())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        if nonblocking {
            self.link.shrink_socket()?;
            self.link.set(NONBLOCKING);
            // Earlier data are shown by the socket, if this side accepted, or by `has_buffered`.
            self.link.incoming().reader.announce(Waiting::Away);
        } else {
            self.link.clear(NONBLOCKING);
        }
        Ok(())
    }

    /// See the trait. After `Read` or `Both` the source is readable for good.
    fn shutdown(&self, how: Shutdown) {
        match how {
            Shutdown::Read => {
                self.link.set(READ_ENDED);
                self.link.shutdown_socket(Shutdown::Read);
            }
            Shutdown::Write => {
                self.link.set(WRITE_ENDED);
                self.link.end_outward();
            }
            Shutdown::Both => {
                self.link.set(READ_ENDED | WRITE_ENDED);
                self.link.end();
            }
        }
        watcher::interrupt(&self.link);
    }

    fn peer(&self) -> Peer {
        self.peer.clone()
    }

    fn source(&self) -> &dyn AsFd {
        self.link.socket()
    }

    #[inline]
    fn has_buffered(&self) -> bool {
        let control = self.link.incoming();
        self.reader.has_some(control) || control.writer.has_left()
    }
}

impl Drop for ShmByteStream {
    fn drop(&mut self) {
        // A forked child does not touch its parent's connection.
        if self.link.is_here() {
            watcher::forget(&self.link);
            self.link.end();
        }
    }
}

/// Nanoseconds of a timeout; 0 means no limit.
#[derive(Debug, Default)]
struct Timeout(AtomicU64);

impl Timeout {
    fn set(&self, timeout: Option<Duration>) {
        let nanoseconds =
            timeout.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.0.store(nanoseconds, Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        let nanoseconds = self.0.load(Ordering::Relaxed);
        (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
    }
}
