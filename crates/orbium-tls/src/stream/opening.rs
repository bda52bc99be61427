// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handshake over the socket, with its waits and their bounds.

use std::io;
use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::time::Duration;

use orbium_sync::lock::Mutex;
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, Deadline, Peer};

use super::{Opened, TlsStream, is_gone};
use crate::TlsFailure;
use crate::certificate::subject;
use crate::handshake::{Finished, Handshake, Step};

/// Maximum time for which a non-blocking stream waits until the kernel has room for a part of the
/// handshake. It always has, unless the send buffer was configured smaller than a chain of
/// certificates.
const MAX_NONBLOCKING_WAIT: Duration = Duration::from_millis(100);

impl TlsStream {
    #[cold]
    pub(super) fn shake_hands(&self) -> io::Result<&Opened> {
        let mut handshake = self.handshake.lock();
        if self.outcome.get().is_none() {
            let outcome = match &mut *handshake {
                Some(underway) => self.drive(underway),
                None => Err(TlsFailure::ClosedEarly.into_error()),
            };
            let settled = match outcome {
                Ok(()) => match handshake.take().map(Handshake::finish) {
                    Some(finished) => finished.and_then(|finished| self.open(finished)),
                    None => Err(TlsFailure::ClosedEarly),
                },
                Err(error) => match TlsFailure::of(&error) {
                    Some(failure) => Err(failure.clone()),
                    None => return Err(error),
                },
            };
            if let Err(failure) = &settled {
                self.give_up(failure, handshake.take());
            }
            let _ = self.outcome.set(settled);
        }
        match self.outcome.get() {
            Some(Ok(opened)) => Ok(opened),
            Some(Err(failure)) => Err(failure.clone().into_error()),
            None => Err(TlsFailure::ClosedEarly.into_error()),
        }
    }

    /// Continues the handshake, to its end if possible.
    fn drive(&self, handshake: &mut Handshake) -> io::Result<()> {
        loop {
            let step = handshake.advance().map_err(TlsFailure::into_error)?;
            match self.flush(handshake) {
                // A client that closes at once needs no tickets: the data it sent before can still
                // be read.
                Err(error) if step == Step::Finish && is_gone(&error) => return Ok(()),
                Err(error) if is_gone(&error) => return Err(TlsFailure::ClosedEarly.into_error()),
                flushed => flushed?,
            }
            if step == Step::Finish {
                return Ok(());
            }
            if !self.nonblocking.load(Ordering::Acquire) {
                self.wait(Interest::Read, self.receive_timeout())?;
            } else if self.deadline.has_passed() {
                return Err(TlsFailure::TooSlow.into_error());
            }
            let room = handshake.room().map_err(TlsFailure::into_error)?;
            match self.socket.receive(room) {
                Ok(0) => return Err(TlsFailure::ClosedEarly.into_error()),
                Ok(count) => handshake.add(count),
                Err(error) if is_gone(&error) => return Err(TlsFailure::ClosedEarly.into_error()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A spurious readiness: wait again, if that is permitted.
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock
                        && !self.nonblocking.load(Ordering::Acquire) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn flush(&self, handshake: &mut Handshake) -> io::Result<()> {
        while !handshake.outgoing().is_empty() {
            match self.socket.send(handshake.outgoing()) {
                Ok(count) => handshake.mark_sent(count),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => {
                        let nonblocking = self.nonblocking.load(Ordering::Acquire);
                        self.wait(Interest::Write, nonblocking.then_some(MAX_NONBLOCKING_WAIT))?;
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Waits until the socket is ready; `WouldBlock` after that time.
    fn wait(&self, interest: Interest, time: Option<Duration>) -> io::Result<()> {
        let too_slow = |_| TlsFailure::TooSlow.into_error();
        let left = self.deadline.remaining().map_err(too_slow)?;
        let time = match (left, time) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let limit = Deadline::after(time);
        let source = self.socket.source();
        let mut left = Ok(time);
        // A handled signal ends a wait early.
        while let Ok(time) = left {
            if wait_for([(&source, interest)], time)? == [true] {
                return Ok(());
            }
            left = limit.remaining();
        }
        self.deadline.remaining().map_err(too_slow)?;
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn receive_timeout(&self) -> Option<Duration> {
        let nanoseconds = self.receive_timeout.load(Ordering::Acquire);
        (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
    }

    /// The handshake is over.
    fn open(&self, finished: Finished) -> Result<Opened, TlsFailure> {
        let Finished {
            connection,
            mut sending,
            mut receiving,
            session,
            certificates,
            trust,
        } = finished;
        let connection = Mutex::new(connection);
        if let Err(failure) = trust {
            // rustls sends no alert of ours.
            sending.end(&self.socket, &connection, true);
            return Err(failure);
        }
        let nonblocking = self.nonblocking.load(Ordering::Acquire);
        if !nonblocking && self.socket.set_nonblocking(false).is_err() {
            return Err(TlsFailure::ClosedEarly);
        }
        receiving.feed(&mut connection.lock());
        self.has_news.store(receiving.has_news(), Ordering::Release);
        let peer = match (self.address, certificates.first()) {
            (Some(address), Some(own)) => Peer::Authenticated {
                address,
                name: subject::name(own),
                certificates: certificates.iter().map(|der| der.to_vec()).collect(),
            },
            _ => self.anonymous(),
        };
        tracing::debug!(target: "orbium::tls", %peer, ?session, "TLS handshake done");
        Ok(Opened {
            connection,
            sending: Mutex::new(sending),
            receiving: Mutex::new(receiving),
            session,
            peer,
        })
    }

    /// Handles a failed handshake: sends the peer an alert, if it uses TLS.
    fn give_up(&self, failure: &TlsFailure, handshake: Option<Handshake>) {
        let peer = self.anonymous();
        if self.is_client {
            tracing::debug!(target: "orbium::tls", %peer, %failure, "TLS handshake failed");
        } else if let Some(suppressed) = self.shared.failed_handshakes().admit() {
            tracing::warn!(target: "orbium::tls", %peer, %failure, suppressed, "TLS handshake with a client failed");
        }
        if let Some(handshake) = handshake
            && *failure != TlsFailure::NotTls
        {
            let _ = self.socket.send(handshake.outgoing());
        }
        self.socket.shutdown(Shutdown::Write);
        self.drain();
    }

    /// Discards the received data: closing with unread data would make the kernel discard the last
    /// data sent.
    pub(super) fn drain(&self) {
        const MAX_STEPS: usize = 16;
        let mut room = [0; 4096];
        for _ in 0..MAX_STEPS {
            let source = self.socket.source();
            let ready = wait_for([(&source, Interest::Read)], Some(Duration::ZERO));
            if !matches!(ready, Ok([true])) || !matches!(self.socket.receive(&mut room), Ok(1..)) {
                return;
            }
        }
    }
}
