// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection under TLS.

mod opening;
pub(crate) mod receiving;
pub(crate) mod sending;

use std::fmt;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use orbium_sync::lock::Mutex;
use orbium_sys::{Interest, wait_for};
use orbium_transport::{ByteStream, Deadline, Peer, TcpByteStream};
use rustls::Connection;

use crate::TlsFailure;
use crate::certificate::reload::Shared;
use crate::handshake::Handshake;
use crate::session::Session;
use crate::stream::receiving::Receiving;
use crate::stream::sending::Sending;

/// A TCP connection under TLS.
///
/// The handshake of an accepted connection takes place in the first receive or send, and has its
/// own deadline. Until it is complete, [`peer`](ByteStream::peer) returns only the address. If it
/// fails, this and every later call returns the reason; see [`TlsFailure`].
///
/// *The end.* [`shutdown`](ByteStream::shutdown) of the sending direction sends close_notify to the
/// peer, and so does dropping the stream. Peers that just close the connection are common, and GIOP
/// has lengths and its own CloseConnection, so an end between two records is the end of the stream;
/// an end within a record is `UnexpectedEof`.
///
/// *Timeouts.* A blocking receive may return early with `WouldBlock` when part of a record has
/// arrived: as after any `WouldBlock`, the caller retries until its time is over.
pub struct TlsStream {
    socket: TcpByteStream,
    address: Option<SocketAddr>,
    deadline: Deadline,
    is_client: bool,
    /// The transport that it is of.
    shared: Arc<Shared>,
    /// Gone once it is over.
    handshake: Mutex<Option<Handshake>>,
    outcome: OnceLock<Result<Opened, TlsFailure>>,
    nonblocking: AtomicBool,
    /// Nanoseconds; zero means no limit.
    receive_timeout: AtomicU64,
    stopped: AtomicBool,
    has_news: AtomicBool,
}

/// The state after a completed handshake.
struct Opened {
    /// Of both directions: locked while a message is encrypted or decrypted, never while a thread
    /// waits for the socket.
    connection: Mutex<Connection>,
    /// Locked for the duration of a send.
    sending: Mutex<Sending>,
    /// Locked for the duration of a receive.
    receiving: Mutex<Receiving>,
    session: Session,
    peer: Peer,
}

impl fmt::Debug for TlsStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsStream")
            .field("peer", &self.peer())
            .field("session", &self.session())
            .finish_non_exhaustive()
    }
}

impl TlsStream {
    /// On a connected socket, which must not be used elsewhere.
    pub(crate) fn new(
        socket: TcpByteStream,
        handshake: Handshake,
        is_client: bool,
        deadline: Deadline,
        shared: &Arc<Shared>,
    ) -> io::Result<Self> {
        // Until the handshake is complete, waits use poll, which takes the time until the deadline.
        socket.set_nonblocking(true)?;
        let address = match socket.peer() {
            Peer::Internet(address) => Some(address),
            _ => None,
        };
        Ok(Self {
            socket,
            address,
            deadline,
            is_client,
            shared: Arc::clone(shared),
            handshake: Mutex::new(Some(handshake)),
            outcome: OnceLock::new(),
            nonblocking: AtomicBool::new(false),
            receive_timeout: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            has_news: AtomicBool::new(false),
        })
    }

    /// The session that the handshake established, once it is over.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        let opened = self.outcome.get()?.as_ref().ok()?;
        Some(&opened.session)
    }

    /// Completes the handshake, unless it is over. Sending and receiving do so
    /// themselves.
    ///
    /// # Errors
    /// [`TlsFailure`], the system's error, or `WouldBlock`.
    pub fn complete(&self) -> io::Result<()> {
        self.opened().map(drop)
    }

    #[inline]
    fn opened(&self) -> io::Result<&Opened> {
        match self.outcome.get() {
            Some(Ok(opened)) => Ok(opened),
            _ => self.shake_hands(),
        }
    }

    fn anonymous(&self) -> Peer {
        self.address.map_or(Peer::Unknown, Peer::Internet)
    }
}

/// Whether the error means that the connection is lost.
fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
    )
}

impl Opened {
    /// Sends the alert that rustls has for the peer, or close_notify, unless another
    /// thread is sending.
    fn end(&self, socket: &TcpByteStream, close_notify: bool) {
        if let Some(mut sending) = self.sending.try_lock() {
            sending.end(socket, &self.connection, close_notify);
        }
    }
}

impl TlsStream {
    /// Receives on an opened connection.
    #[inline]
    fn receive_opened(&self, opened: &Opened, room: &mut [u8]) -> io::Result<usize> {
        let mut receiving = opened.receiving.lock();
        loop {
            let delivered = receiving.deliver(room, &mut opened.connection.lock());
            // Written only on a change: other threads may read it.
            let has_news = receiving.has_news();
            if has_news != self.has_news.load(Ordering::Relaxed) {
                self.has_news.store(has_news, Ordering::Release);
            }
            match delivered {
                Ok(0) if room.is_empty() || receiving.has_ended() => return Ok(0),
                Ok(0) => {}
                Ok(count) => return Ok(count),
                Err(failure) => return Err(self.fail(opened, failure)),
            }
            let before = receiving.is_partial();
            match self.socket.receive(receiving.room())? {
                0 if before && !self.stopped.load(Ordering::Acquire) => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                0 => return Ok(0),
                count => receiving.add(count),
            }
            receiving.feed(&mut opened.connection.lock());
            let is_bounded = self.receive_timeout.load(Ordering::Relaxed) > 0
                || self.nonblocking.load(Ordering::Relaxed);
            if is_bounded && !receiving.has_news() {
                // The timeout applies to one system call; the caller checks its deadline, or has
                // others to receive from while a peer sends empty records.
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    #[cold]
    fn fail(&self, opened: &Opened, failure: TlsFailure) -> io::Error {
        opened.end(&self.socket, false);
        // Nothing more may be sent, by any thread that takes the send lock.
        self.socket.shutdown(Shutdown::Write);
        failure.into_error()
    }

    /// Selects the error of a failed send. If the peer has sent an alert, that is the better error:
    /// a TLS 1.3 server refuses a client after the client has begun to send.
    #[cold]
    fn explain(&self, opened: &Opened, error: io::Error) -> io::Error {
        if !is_gone(&error) {
            return error;
        }
        let Some(mut receiving) = opened.receiving.try_lock() else {
            return error;
        };
        let source = self.socket.source();
        let ready = wait_for([(&source, Interest::Read)], Some(Duration::ZERO));
        if !receiving.has_news()
            && matches!(ready, Ok([true]))
            && let Ok(count) = self.socket.receive(receiving.room())
        {
            receiving.add(count);
            receiving.feed(&mut opened.connection.lock());
            self.has_news.store(receiving.has_news(), Ordering::Release);
        }
        match receiving.failure() {
            Some(failure) => failure.clone().into_error(),
            None => error,
        }
    }
}

impl ByteStream for TlsStream {
    #[inline]
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        match self.opened() {
            Ok(opened) => self.receive_opened(opened, room),
            Err(_) if self.stopped.load(Ordering::Acquire) => Ok(0),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn send(&self, octets: &[u8]) -> io::Result<usize> {
        self.send_vectored(&[IoSlice::new(octets)])
    }

    #[inline]
    fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let opened = self.opened()?;
        let sent = opened
            .sending
            .lock()
            .send(&self.socket, pieces, &opened.connection);
        sent.map_err(|error| self.explain(opened, error))
    }

    fn counts_in_ticks(&self) -> bool {
        true
    }

    fn set_timeouts(
        &self,
        receive: Option<Option<Duration>>,
        send: Option<Option<Duration>>,
    ) -> io::Result<()> {
        self.socket.set_timeouts(receive, send)?;
        if let Some(time) = receive {
            let time = time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            self.receive_timeout.store(time, Ordering::Release);
        }
        Ok(())
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.nonblocking.store(nonblocking, Ordering::Release);
        // A thread in the handshake applies it at the end.
        let handshake = self.handshake.lock();
        if handshake.is_some() {
            return Ok(());
        }
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) {
        if how != Shutdown::Write {
            self.stopped.store(true, Ordering::Release);
        }
        if how != Shutdown::Read
            && let Some(Ok(opened)) = self.outcome.get()
        {
            opened.end(&self.socket, true);
        }
        self.socket.shutdown(how);
    }

    fn peer(&self) -> Peer {
        match self.outcome.get() {
            Some(Ok(opened)) => opened.peer.clone(),
            _ => self.anonymous(),
        }
    }

    fn source(&self) -> &dyn AsFd {
        self.socket.source()
    }

    fn opening_deadline(&self) -> Option<Deadline> {
        self.outcome.get().is_none().then_some(self.deadline)
    }

    fn is_midway(&self) -> bool {
        // A handshake has its own deadline.
        let Some(Ok(opened)) = self.outcome.get() else {
            return false;
        };
        // Otherwise another thread is receiving, and will check itself.
        let receiving = opened.receiving.try_lock();
        receiving.is_some_and(|receiving| receiving.is_midway())
    }

    fn begun(&self) -> usize {
        match self.outcome.get() {
            Some(Ok(opened)) => opened.sending.lock().begun(),
            _ => 0,
        }
    }

    fn has_buffered(&self) -> bool {
        self.has_news.load(Ordering::Acquire)
    }
}

impl Drop for TlsStream {
    fn drop(&mut self) {
        if let Some(Ok(opened)) = self.outcome.get() {
            opened.end(&self.socket, true);
            // Unread tickets must not turn the end into a reset, which might overtake the last data
            // sent.
            self.socket.shutdown(Shutdown::Write);
            self.drain();
        }
    }
}
