// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection to a client, as all its threads see it.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicI16, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use orbium_cdr::CdrWriter;
use orbium_giop::{Version, close_connection, message_error};
use orbium_sync::Shelf;
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sync::role;
use orbium_sys::Interest;
use orbium_transport::{ByteStream, Deadline, Peer};

use crate::outgoing::{self, Patience};
use crate::priority;
use crate::server::LaneCore;
use crate::server::bell::Bell;
use crate::server::cancelled::Cancelled;
use crate::server::intake::Intake;
use crate::server::own_thread::Settled;

/// What could not be sent yet on a connection that must not block.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub(super) octets: Vec<u8>,
    since: Deadline,
    /// What is waited on, if it is not the source of the stream.
    pub(super) source: Option<Arc<OwnedFd>>,
}

#[derive(Debug)]
pub(crate) struct ServerConnection {
    pub(super) id: u64,
    /// The number of its lane, and the priority of that, or of its own thread.
    pub(super) lane: AtomicU32,
    pub(super) priority: AtomicI16,
    pub(super) stream: Box<dyn ByteStream>,
    peer: OnceLock<Peer>,
    /// What was received, where threads share their connections and who has served
    /// a message leaves it without a lock.
    pub(super) left: Shelf<Intake, 1>,
    /// Guards the sending direction. A thread that alone can send skips it.
    sending: Mutex<Pending>,
    /// Threads that still serve a request after they handed the reading over.
    late: AtomicUsize,
    broken: AtomicBool,
    ended: AtomicBool,
    closed: AtomicBool,
    pub(super) has_pending: AtomicBool,
    cancelled: Cancelled,
    /// Whether it has a thread of its own.
    pub(super) settled: Settled,
    pub(super) send_time: Duration,
    fragment_size: Option<usize>,
    /// Set where one thread serves many connections: sends must not block it.
    bell: Option<Arc<Bell>>,
}

impl ServerConnection {
    pub(super) fn new(
        lane: &LaneCore,
        id: u64,
        stream: Box<dyn ByteStream>,
        send_time: Duration,
        fragment_size: Option<usize>,
        bell: Option<Arc<Bell>>,
    ) -> Self {
        Self {
            id,
            lane: AtomicU32::new(lane.number),
            priority: AtomicI16::new(priority::number_of(lane.setup.priority)),
            peer: OnceLock::new(),
            stream,
            left: Shelf::default(),
            sending: Mutex::default(),
            late: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            has_pending: AtomicBool::new(false),
            cancelled: Cancelled::default(),
            settled: Settled::default(),
            send_time,
            fragment_size,
            bell,
        }
    }

    /// Who is at the other end. Not asked before it must be known: a peer that
    /// proves who it is has not done so when it is accepted.
    pub(crate) fn peer(&self) -> &Peer {
        self.peer.get_or_init(|| self.stream.peer())
    }

    /// The number of the lane whose threads serve it, or that nobody is to be
    /// asked who does.
    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.lane.load(Ordering::Relaxed)
    }

    /// The priority that threads which read it have.
    #[inline]
    pub(super) fn priority(&self) -> i16 {
        self.priority.load(Ordering::Relaxed)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Pending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that serves a request hands the reading over: from now on its
    /// reply and those of the new reader can meet.
    pub(super) fn begin_late(&self) {
        self.late.fetch_add(1, Ordering::AcqRel);
    }

    /// That thread is done.
    pub(super) fn end_late(&self) {
        if self.late.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancelled.clear();
            if self.ended.load(Ordering::SeqCst) {
                self.close(Patience::For(self.send_time));
            }
        }
    }

    /// Nothing more will be read. The connection is closed once the last reply
    /// was sent, for CloseConnection says that what was not answered was not
    /// begun.
    pub(super) fn end(&self) {
        if !self.ended.load(Ordering::SeqCst) {
            // Under the lock: what is kept before is seen by `close`, and what
            // comes after waits for the peer itself, as nobody else will.
            let _pending = self.lock();
            self.ended.store(true, Ordering::SeqCst);
        }
        // Either this sees that nobody is late, or who is sees the end: hence
        // the one order of both.
        if self.late.load(Ordering::SeqCst) == 0 {
            self.close(Patience::Until(Deadline::after(Some(Duration::ZERO))));
        }
    }

    /// Whether `end` would cut nothing off: then nothing more is kept either.
    /// Otherwise what is kept for the peer goes first.
    pub(super) fn may_end(&self) -> bool {
        let pending = self.lock();
        let is_empty = pending.octets.is_empty();
        if is_empty {
            self.ended.store(true, Ordering::SeqCst);
        }
        is_empty
    }

    /// Notes that nobody waits for a reply any more.
    pub(super) fn cancel(&self, request_id: u32) {
        if self.is_shared() {
            self.cancelled.insert(request_id);
        }
    }

    /// Whether other threads may send replies of their own.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.late.load(Ordering::Acquire) > 0
    }

    /// Whether any request is being served beside so many that wait.
    pub(super) fn serves_beside(&self, waiting: usize) -> bool {
        self.late.load(Ordering::Acquire) > waiting
    }

    pub(super) fn was_cancelled(&self, request_id: u32) -> bool {
        self.cancelled.remove(request_id)
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

    /// Whether a request would better not be begun: its answer could not go out
    /// before others that the peer does not take.
    pub(super) fn is_held_up(&self) -> bool {
        self.has_pending() && !self.is_broken() && !self.ended.load(Ordering::Acquire)
    }

    /// Whether its end waits for a peer that does not take what is kept for it.
    pub(super) fn ends_slowly(&self) -> bool {
        self.has_pending() && self.ended.load(Ordering::Acquire)
    }

    /// Ends the connection at once, while a request of it may be served.
    #[cold]
    pub(super) fn give_up(&self) {
        self.break_off(&io::ErrorKind::TimedOut.into());
    }

    #[cold]
    fn break_off(&self, error: &io::Error) {
        crate::log::debug!(peer = %self.peer(), %error, "cannot send");
        self.broken.store(true, Ordering::Release);
        self.stream.shutdown(Shutdown::Both);
    }

    /// Tells the peer that it sent what is no message; behind a reply that it
    /// has not taken whole, not within it.
    pub(super) fn send_message_error(&self) {
        let message = message_error(Version::V1_2);
        let mut pending = self.lock();
        if !pending.octets.is_empty() {
            pending.octets.extend_from_slice(&message);
            return;
        }
        // If nothing of it can be sent at once, the peer does not listen anyway.
        let sent = self.stream.send(&message).unwrap_or(0);
        if sent > 0 && sent < message.len() {
            self.break_off(&io::ErrorKind::WriteZero.into());
        }
    }

    /// Ends the connection in order, once. The last word stands behind all that
    /// is kept for the peer, and is not said if that does not go out whole.
    fn close(&self, patience: Patience) {
        if self.is_broken() || self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut pending = self.lock();
        let kept = std::mem::take(&mut pending.octets);
        // Held any longer it would keep the end from the peer.
        pending.source = None;
        self.has_pending.store(false, Ordering::Release);
        if outgoing::send_octets(&*self.stream, &kept, patience).is_ok() {
            let _ = self.stream.send(&close_connection(Version::V1_2));
        }
        self.stream.shutdown(Shutdown::Write);
    }

    #[inline]
    fn send_blocking(&self, message: &CdrWriter<'_>) -> io::Result<()> {
        let patience = Patience::For(self.send_time);
        outgoing::send(&*self.stream, message, self.fragment_size, patience)
    }

    /// Sends what the peer takes at once and keeps the rest.
    fn send_or_keep(&self, message: &CdrWriter<'_>, bell: &Bell) -> io::Result<()> {
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
        }
        self.keep(&mut pending, octets, bell)
    }

    /// As `send_or_keep`, by who reads the connection while nobody else is to
    /// answer: without the lock, unless something is to be kept.
    fn send_alone(&self, message: &CdrWriter<'_>, bell: &Bell) -> io::Result<()> {
        let in_one = self.fragment_size.is_none_or(|size| message.len() <= size);
        if !in_one || message.is_gathered() || self.has_pending() {
            return self.send_or_keep(message, bell);
        }
        let written = message.written();
        let sent = sent_at_once(&*self.stream, written)?;
        if sent < written.len() {
            return self.keep(&mut self.lock(), written[sent..].to_vec(), bell);
        }
        Ok(())
    }

    /// Keeps what the peer did not take, behind what is kept already.
    #[cold]
    fn keep(&self, pending: &mut Pending, mut octets: Vec<u8>, bell: &Bell) -> io::Result<()> {
        if pending.octets.is_empty() {
            pending.since = Deadline::after(Some(self.send_time));
        }
        if self.ended.load(Ordering::Acquire) || self.has_own_thread() {
            // The reactor has done with the connection: this is a thread that
            // may wait, and nobody else will send.
            role::about_to_block();
            pending.octets.append(&mut octets);
            let kept = std::mem::take(&mut pending.octets);
            return outgoing::send_octets(&*self.stream, &kept, Patience::For(self.send_time));
        }
        pending.octets.append(&mut octets);
        if !self.has_pending.swap(true, Ordering::AcqRel) {
            self.wait_for(bell, pending, Interest::Write)?;
            bell.has_deadline(self.id);
        }
        Ok(())
    }

    /// Changes what is waited for; under the lock, so that it fits what is kept.
    fn wait_for(&self, bell: &Bell, pending: &mut Pending, interest: Interest) -> io::Result<()> {
        let source = self.stream.source();
        let asked = bell.interest(interest);
        if let Some(sending) = pending.source.take() {
            bell.poller.remove(&sending, self.id)?;
            return bell.poller.add(&source, self.id, asked);
        }
        match self.stream.sending_source() {
            Some(sending) if interest == Interest::Write => {
                bell.poller.remove(&source, self.id)?;
                bell.poller.add(&sending, self.id, asked)?;
                pending.source = Some(sending);
                Ok(())
            }
            _ => bell.poller.modify(&source, self.id, asked),
        }
    }

    /// Asks again for what is told of once: the peer's next message, or room for
    /// what is kept for it.
    pub(super) fn wait_again(&self, bell: &Bell) -> io::Result<()> {
        if !self.is_shared() && !self.has_pending() {
            // Nobody else could keep anything, nor is anything kept.
            let interest = bell.interest(Interest::Read);
            return bell.poller.modify(&self.stream.source(), self.id, interest);
        }
        let pending = self.lock();
        self.ask_again(bell, &pending)
    }

    fn ask_again(&self, bell: &Bell, pending: &Pending) -> io::Result<()> {
        let interest = match pending.octets.is_empty() {
            true => bell.interest(Interest::Read),
            false => bell.interest(Interest::Write),
        };
        match &pending.source {
            Some(sending) => bell.poller.modify(sending, self.id, interest),
            None => bell.poller.modify(&self.stream.source(), self.id, interest),
        }
    }

    /// Nothing is waited for any more.
    pub(super) fn wait_for_nothing(&self, bell: &Bell) {
        // Closing a source would do as well, once no thread holds it any more.
        let _ = match self.lock().source.take() {
            Some(sending) => bell.poller.remove(&sending, self.id),
            None => bell.poller.remove(&self.stream.source(), self.id),
        };
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
            if let Some(bell) = &self.bell
                && bell.once
            {
                self.ask_again(bell, &pending)?;
            }
            return Ok(false);
        }
        pending.octets = Vec::new();
        self.has_pending.store(false, Ordering::Release);
        if let Some(bell) = &self.bell {
            self.wait_for(bell, &mut pending, Interest::Read)?;
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
        let sent = match &self.bell {
            _ if self.is_shared() => self.send_among_others(message),
            // Alone: nobody else can be sending.
            None => self.send_blocking(message),
            Some(bell) => self.send_alone(message, bell),
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
        match &self.bell {
            Some(bell) => self.send_or_keep(message, bell),
            None => {
                let _guard = self.lock();
                self.send_blocking(message)
            }
        }
    }
}
