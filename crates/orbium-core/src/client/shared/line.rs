// SPDX-License-Identifier: MIT OR Apache-2.0
//! One connection that many callers share.

use std::io;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use orbium_giop::{MessageHeader, MessageKind, Version, close_connection, message_error};
use orbium_sync::lock::{Mutex, MutexGuard};
use orbium_sync::{LeaderFollower, Wake};
use orbium_transport::{ByteStream, Deadline};

use super::inbox::{Full, Inbox};
use super::message::request_id;
use super::outbox::Outbox;
use crate::client::counts::Counted;
use crate::client::{SEATS, ended, ticks};
use crate::framing::{self, Framing};
use crate::metrics::Closing;
use crate::peer_memory::Budget;

/// How far apart the ids of one seat are: those between are the other seats',
/// and odd ones the server's.
pub(super) const STRIDE: u32 = 2 * SEATS;

/// How long one attempt to send may last while the peer takes nothing, and one
/// to receive meanwhile: both alternate, so that a peer which sends before it
/// reads on cannot wait for us while we wait for it.
pub(super) const ALTERNATE: Duration = Duration::from_millis(5);

/// Why nothing more comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Lost,
    /// The server does not trust us.
    Refused,
}

impl End {
    pub(super) fn of(error: &io::Error) -> Self {
        match orbium_sys::kind_of(error) {
            io::ErrorKind::PermissionDenied => Self::Refused,
            _ => Self::Lost,
        }
    }

    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Lost => io::ErrorKind::BrokenPipe.into(),
            Self::Refused => io::ErrorKind::PermissionDenied.into(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Reader {
    framing: Framing,
    /// The bound of a receive, as the stream has it.
    timeout: Option<Duration>,
    /// Whose answer goes on in fragments that do not say whose they are.
    fragmented: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) stream: Box<dyn ByteStream>,
    pub(super) readers: LeaderFollower,
    pub(super) outbox: Outbox,
    inboxes: Mutex<Vec<Arc<Inbox>>>,
    pub(super) reader: Mutex<Reader>,
    end: OnceLock<End>,
    /// Nobody joins any more: it is closed when nobody is left.
    retired: AtomicBool,
    closing: AtomicBool,
    budget: Budget,
    /// Octets that may wait at a seat.
    limit: usize,
    thread: Mutex<Option<orbium_sys::Thread>>,
    counted: Counted,
}

impl Line {
    /// Over a new stream; with a thread that reads it, or without.
    ///
    /// # Errors
    /// The stream is broken, or there is no thread to be had.
    pub(super) fn start(
        stream: Box<dyn ByteStream>,
        (message_size, budget): (usize, &Budget),
        has_thread: bool,
        counted: Counted,
    ) -> io::Result<Arc<Self>> {
        stream.set_timeouts(Some(None), Some(Some(ALTERNATE)))?;
        let line = Arc::new(Self {
            stream,
            readers: LeaderFollower::new(SEATS as usize, has_thread),
            outbox: Outbox::default(),
            inboxes: Mutex::default(),
            reader: Mutex::new(Reader {
                framing: Framing::new(message_size, budget),
                timeout: None,
                fragmented: None,
            }),
            end: OnceLock::new(),
            retired: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            budget: budget.clone(),
            // A message, and its fragments' headers.
            limit: message_size.saturating_mul(2).saturating_add(1 << 16),
            thread: Mutex::new(None),
            counted,
        });
        if has_thread {
            let reading = Arc::clone(&line);
            let read = Box::new(move || reading.read_to_the_end());
            let thread = orbium_sys::spawn("orbium-read", None, read)?;
            *lock(&line.thread) = Some(thread);
        }
        Ok(line)
    }

    pub(super) fn ending(&self) -> Option<End> {
        self.end.get().copied()
    }

    /// Takes a seat.
    pub(super) fn join(&self) -> Option<(usize, Arc<Inbox>)> {
        if self.outbox.has_ended() {
            return None;
        }
        let place = self.readers.join()?;
        let mut inboxes = lock(&self.inboxes);
        while inboxes.len() <= place {
            let first = u32::try_from(inboxes.len()).unwrap_or(0) % SEATS;
            inboxes.push(Arc::new(Inbox::starting_at(2 * first, &self.budget)));
        }
        Some((place, Arc::clone(&inboxes[place])))
    }

    pub(super) fn leave(&self, place: usize) {
        if self.readers.leave(place) && self.retired.load(Ordering::SeqCst) {
            self.close();
        }
    }

    /// Closes the connection as soon as nobody uses it.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
        if self.readers.followers() == 0 {
            self.close();
        }
    }

    /// Ends the connection in order, once, and waits for its thread.
    fn close(&self) {
        if self.closing.swap(true, Ordering::SeqCst) {
            return;
        }
        match self.has_peer_ended() {
            true => self.counted.note_cause(Closing::Peer),
            false => self.counted.note_closing(),
        }
        self.end_with(&close_connection(Version::V1_2));
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread
            && !thread.is_current()
        {
            thread.join();
        }
    }

    /// Whether the server ended the connection, as far as the closing thread can tell: while
    /// another thread receives, that thread detects the end.
    fn has_peer_ended(&self) -> bool {
        if self.end.get().is_some() {
            return true;
        }
        let has_thread = lock(&self.thread).is_some();
        let reader = self.reader.try_lock();
        let (false, Ok(reader)) = (has_thread, reader) else {
            return false;
        };
        let next = reader.framing.next();
        matches!(next, Ok(Some(header)) if header.kind == MessageKind::CloseConnection)
            || ended::has_peer_ended(&*self.stream)
    }

    /// Records the end, once, and wakes all waiting callers.
    pub(super) fn finish(&self, end: End) {
        if self.end.set(end).is_ok() {
            self.outbox.end();
            self.readers.close();
            self.stream.shutdown(Shutdown::Both);
        }
    }

    /// Reads for all until something has come for `own`, or the deadline has
    /// passed: then `false`. The caller has the turn to read, for which it may have
    /// waited. `timeout` is what was left until the deadline before.
    pub(super) fn read(&self, own: usize, timeout: Option<Duration>, deadline: Deadline) -> bool {
        let _turn = Reading(self);
        if self.outbox.has_rest() {
            self.send_rest();
        }
        let mut reader = lock(&self.reader);
        let mut left = deadline.remaining();
        let mut exact = !matches!(left, Ok(left) if ticks::is_in_time(timeout, left));
        loop {
            if self.sort(&mut reader, Some(own)) || self.end.get().is_some() {
                return true;
            }
            match left {
                Err(_) => return false,
                Ok(Some(left)) if exact => self.receive_within(&mut reader, left),
                Ok(_) => self.receive(&mut reader, timeout),
            };
            // Several receives must not have the time of one.
            exact = deadline != Deadline::NEVER;
            left = deadline.remaining();
        }
    }

    fn read_to_the_end(&self) {
        /// Nobody reads any more, whyever.
        struct Over<'l>(&'l Line);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.finish(End::Lost);
            }
        }
        let _over = Over(self);
        let mut reader = lock(&self.reader);
        while self.end.get().is_none() {
            self.receive(&mut reader, None);
            self.sort(&mut reader, None);
        }
    }

    /// As `receive`, ending with the time and not with the next tick.
    #[cold]
    fn receive_within(&self, reader: &mut Reader, time: Duration) -> bool {
        let stream = &*self.stream;
        if !stream.counts_in_ticks() || stream.has_buffered() {
            return self.receive(reader, Some(time));
        }
        if !ticks::comes_before(stream, Deadline::after(Some(time))) {
            return false;
        }
        // Of what is there; should it turn out to be nothing, not for ever.
        let timeout = reader.timeout.or(Some(time));
        self.receive(reader, timeout)
    }

    /// Receives once; whether something came.
    pub(super) fn receive(&self, reader: &mut Reader, timeout: Option<Duration>) -> bool {
        if reader.timeout != timeout {
            let given = ticks::given(&*self.stream, timeout);
            if self.stream.set_timeouts(Some(given), None).is_err() {
                self.finish(End::Lost);
                return false;
            }
            reader.timeout = timeout;
        }
        match reader.framing.receive(&*self.stream) {
            Ok(0) => self.finish(End::Lost),
            Ok(_) => return true,
            Err(error) => match orbium_sys::kind_of(&error) {
                io::ErrorKind::Interrupted
                | io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut => {}
                _ => self.finish(End::of(&error)),
            },
        }
        false
    }

    /// Hands whole messages to those they are for; whether one was for `own`.
    pub(super) fn sort(&self, reader: &mut Reader, own: Option<usize>) -> bool {
        let mut came = false;
        while self.end.get().is_none() {
            match reader.framing.next() {
                Ok(None) => break,
                Ok(Some(header)) => {
                    let place = self.hand_out(reader, &header);
                    reader.framing.consume(&header);
                    came |= place.is_some() && place == own;
                }
                Err(error) => {
                    crate::log::debug!(target: "orbium::conn", ?error, "not a message");
                    // They find out themselves.
                    let head = reader.framing.received();
                    self.tell_all(&head[..head.len().min(orbium_giop::HEADER_LEN)]);
                    self.refuse();
                }
            }
        }
        came
    }

    /// Hands out the message whose header that is; the seat that it was for.
    fn hand_out(&self, reader: &mut Reader, header: &MessageHeader) -> Option<usize> {
        let message = reader.framing.message(header);
        let place = match header.kind {
            MessageKind::Reply | MessageKind::LocateReply | MessageKind::Fragment => {
                match request_id(header, message) {
                    Some(id) => self.awaiting(id, !header.more_fragments),
                    None if header.kind == MessageKind::Fragment => reader.fragmented,
                    None => {
                        self.refuse();
                        None
                    }
                }
            }
            MessageKind::CloseConnection | MessageKind::MessageError => {
                self.tell_all(message);
                self.finish(End::Lost);
                None
            }
            // Requests come over bidirectional connections only.
            _ => {
                self.refuse();
                None
            }
        };
        if let Some(place) = place {
            let inbox = lock(&self.inboxes).get(place).cloned();
            let put = inbox.map_or(Err(Full::Never), |inbox| {
                inbox.put(message, self.limit).or_else(|full| {
                    match (full, request_id(header, message)) {
                        (Full::NoMemory, Some(id)) => {
                            inbox.put(&framing::refusal(header, id), self.limit)
                        }
                        _ => Err(full),
                    }
                })
            });
            match put {
                Ok(()) => self.readers.ready(place),
                Err(_) => self.refuse(),
            }
        }
        let is_old = header.version.minor < 2;
        if is_old && (header.more_fragments || header.kind == MessageKind::Fragment) {
            reader.fragmented = place.filter(|_| header.more_fragments);
        }
        place
    }

    /// The seat where that answer is awaited; others come too late.
    fn awaiting(&self, id: u32, is_all: bool) -> Option<usize> {
        let place = (id / 2 % SEATS) as usize;
        let inboxes = lock(&self.inboxes);
        let inbox = inboxes.get(place)?;
        inbox.awaits(id, is_all).then_some(place)
    }

    #[cold]
    fn refuse(&self) {
        self.counted.note_cause(Closing::Error);
        self.end_with(&message_error(Version::V1_2));
    }

    fn tell_all(&self, message: &[u8]) {
        for inbox in &*lock(&self.inboxes) {
            // Where there is no room, the end says enough.
            let _ = inbox.put(message, self.limit);
        }
    }

    /// Waits until something has come for a seat, or nothing more will; `false`
    /// at the deadline.
    pub(super) fn wait(&self, place: usize, timeout: Option<Duration>, deadline: Deadline) -> bool {
        match self.readers.wait(place, deadline.instant()) {
            Wake::Ready | Wake::Closed => true,
            Wake::TimedOut => false,
            Wake::Lead => self.read(place, timeout, deadline),
        }
    }
}

/// The turn to read, passed on at the end.
pub(super) struct Reading<'l>(pub(super) &'l Line);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.readers.promote();
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
