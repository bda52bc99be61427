// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection to a client, as all its threads see it.

use std::collections::HashSet;
use std::io;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use orbium_cdr::CdrWriter;
use orbium_giop::{Version, close_connection, message_error};
use orbium_sys::{Interest, Poller};
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::outgoing::{self, Patience};

/// Cancelled requests remembered while replies may still come from elsewhere.
const MAX_CANCELLED: usize = 1024;

/// What could not be sent yet on a connection that must not block.
#[derive(Debug, Default)]
struct Pending {
    octets: Vec<u8>,
    since: Deadline,
}

#[derive(Debug)]
pub(super) struct ServerConnection {
    pub(super) id: u64,
    pub(super) stream: Box<dyn ByteStream>,
    pub(super) peer: Peer,
    /// Guards the sending direction. A thread that alone can send skips it.
    sending: Mutex<Pending>,
    /// Threads that still serve a request after they handed the reading over.
    late: AtomicUsize,
    broken: AtomicBool,
    ended: AtomicBool,
    closed: AtomicBool,
    has_pending: AtomicBool,
    cancelled: Mutex<HashSet<u32>>,
    send_time: Duration,
    fragment_size: Option<usize>,
    /// Set where one thread serves many connections: sends must not block it.
    poller: Option<Arc<Poller>>,
}

impl ServerConnection {
    pub(super) fn new(
        id: u64,
        stream: Box<dyn ByteStream>,
        send_time: Duration,
        fragment_size: Option<usize>,
        poller: Option<Arc<Poller>>,
    ) -> Self {
        Self {
            id,
            peer: stream.peer(),
            stream,
            sending: Mutex::default(),
            late: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            has_pending: AtomicBool::new(false),
            cancelled: Mutex::default(),
            send_time,
            fragment_size,
            poller,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that serves a request hands the reading over: from now on its
    /// reply and those of the new reader can meet.
    pub(super) fn begin_late(&self) {
        self.late.fetch_add(1, Ordering::AcqRel);
    }

    /// That thread is done.
    pub(super) fn end_late(&self) {
        if self.late.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.cancelled
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clear();
            if self.ended.load(Ordering::Acquire) {
                self.close();
            }
        }
    }

    /// Nothing more will be read. The connection is closed once the last reply
    /// was sent, for CloseConnection says that what was not answered was not
    /// begun.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if !self.is_shared() {
            self.close();
        }
    }

    /// Notes that nobody waits for a reply any more.
    pub(super) fn cancel(&self, request_id: u32) {
        if self.is_shared() {
            let mut cancelled = self
                .cancelled
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if cancelled.len() < MAX_CANCELLED {
                cancelled.insert(request_id);
            }
        }
    }

    /// Whether other threads may send replies of their own.
    #[inline]
    fn is_shared(&self) -> bool {
        self.late.load(Ordering::Acquire) > 0
    }

    fn was_cancelled(&self, request_id: u32) -> bool {
        let mut cancelled = self
            .cancelled
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        cancelled.remove(&request_id)
    }

    /// Whether sending failed: nothing more can be done here.
    #[inline]
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Whether earlier replies wait for the peer to take them.
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        self.has_pending.load(Ordering::Acquire)
    }

    /// Wakes whoever reads, with the end.
    pub(super) fn stop_receiving(&self) {
        self.stream.shutdown(Shutdown::Read);
    }

    #[cold]
    fn break_off(&self, error: &io::Error) {
        tracing::debug!(peer = %self.peer, %error, "cannot send");
        self.broken.store(true, Ordering::Release);
        self.stream.shutdown(Shutdown::Both);
    }

    /// Sends a message of twelve octets, if that is possible at once.
    fn send_short(&self, message: &[u8]) {
        let _guard = self.lock();
        let _ = self.stream.send(message);
    }

    /// Tells the peer that it sent what is no message.
    pub(super) fn send_message_error(&self) {
        self.send_short(&message_error(Version::V1_2));
    }

    /// Ends the connection in order, once.
    fn close(&self) {
        if !self.is_broken() && !self.closed.swap(true, Ordering::AcqRel) {
            self.send_short(&close_connection(Version::V1_2));
            self.stream.shutdown(Shutdown::Write);
        }
    }

    #[inline]
    fn send_blocking(&self, message: &CdrWriter<'_>) -> io::Result<()> {
        let patience = Patience::For(self.send_time);
        outgoing::send(&*self.stream, message, self.fragment_size, patience)
    }

    /// Sends what the peer takes at once and keeps the rest.
    fn send_or_keep(&self, message: &CdrWriter<'_>, poller: &Poller) -> io::Result<()> {
        let mut pending = self.lock();
        let mut octets = Vec::new();
        match self.fragment_size {
            Some(size) if message.len() > size => {
                outgoing::fragments_into(&mut octets, message, size);
            }
            _ if pending.octets.is_empty() && !message.is_gathered() => {
                let written = message.written();
                let sent = sent_at_once(&*self.stream, written)?;
                if sent == written.len() {
                    return Ok(());
                }
                octets.extend_from_slice(&written[sent..]);
            }
            _ => message
                .pieces()
                .for_each(|piece| octets.extend_from_slice(piece)),
        }
        if pending.octets.is_empty() {
            let sent = sent_at_once(&*self.stream, &octets)?;
            octets.drain(..sent);
            if octets.is_empty() {
                return Ok(());
            }
            pending.since = Deadline::after(Some(self.send_time));
        }
        pending.octets.append(&mut octets);
        self.has_pending.store(true, Ordering::Release);
        self.wait_for(poller, Interest::Write)
    }

    /// Changes what is waited for; under the lock, so that it fits what is kept.
    fn wait_for(&self, poller: &Poller, interest: Interest) -> io::Result<()> {
        let source = self.stream.source();
        poller.modify(&source, self.id, interest)
    }

    /// Sends what was kept, as far as the peer takes it; whether all is gone,
    /// and the connection can be read again.
    pub(super) fn flush(&self) -> io::Result<bool> {
        let mut pending = self.lock();
        let sent = sent_at_once(&*self.stream, &pending.octets)?;
        pending.octets.drain(..sent);
        if !pending.octets.is_empty() {
            if sent > 0 {
                pending.since = Deadline::after(Some(self.send_time));
            }
            return Ok(false);
        }
        pending.octets = Vec::new();
        self.has_pending.store(false, Ordering::Release);
        if let Some(poller) = &self.poller {
            self.wait_for(poller, Interest::Read)?;
        }
        Ok(true)
    }

    /// Until when the peer must have taken something, if something is kept.
    pub(super) fn pending_deadline(&self) -> Option<Deadline> {
        self.has_pending().then(|| self.lock().since)
    }
}

/// Sends what the peer takes without making us wait.
fn sent_at_once(stream: &dyn ByteStream, octets: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < octets.len() {
        match stream.send(&octets[sent..]) {
            Ok(count) => sent += count,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => break,
                _ => return Err(error),
            },
        }
    }
    Ok(sent)
}

impl ServerConnection {
    /// Sends the reply to a request from the thread that reads. A connection
    /// that fails is found broken by whoever reads it.
    #[inline]
    pub(super) fn reply(&self, message: &CdrWriter<'_>) {
        let sent = if self.poller.is_none() && !self.is_shared() {
            // Alone: nobody else can be sending.
            self.send_blocking(message)
        } else {
            self.send_among_others(message)
        };
        if let Err(error) = sent {
            self.break_off(&error);
        }
    }

    /// Sends the reply to a request from a thread that has handed the reading
    /// over, unless the client has cancelled it.
    #[cold]
    pub(super) fn reply_late(&self, request_id: u32, message: &CdrWriter<'_>) {
        if self.was_cancelled(request_id) {
            return;
        }
        if let Err(error) = self.send_among_others(message) {
            self.break_off(&error);
        }
    }

    fn send_among_others(&self, message: &CdrWriter<'_>) -> io::Result<()> {
        match &self.poller {
            Some(poller) => self.send_or_keep(message, poller),
            None => {
                let _guard = self.lock();
                self.send_blocking(message)
            }
        }
    }
}
