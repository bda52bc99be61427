// SPDX-License-Identifier: MIT OR Apache-2.0
//! A multiplexed connection: one stream, many call slots.

use std::io;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use orbium_channel::connection::{Bounds, Connection, Event, Violation};
use orbium_channel::ended;
use orbium_giop::{MessageHeader, ReassemblyLimits, Version, close_connection};
use orbium_metrics::Closing;
use orbium_sync::lock::Mutex;
use orbium_sync::{LeaderFollower, Wake};
use orbium_transport::{ByteStream, Deadline};

use super::pending_reply::PendingReply;
use super::send_queue::SendQueue;
use crate::client_config::CALL_SLOTS;
use crate::counts::Counted;
use orbium_channel::request_id;
use orbium_transport::ticks;

/// Distance of the request ids of one slot: the even ones between them belong to the other slots,
/// the odd ones to the server.
pub(super) const STRIDE: u32 = 2 * CALL_SLOTS;

/// Maximum duration of one attempt to send while the peer does not receive, and of one to receive
/// in between: both alternate, so that a peer that sends before it reads cannot deadlock with us.
pub(super) const ALTERNATE: Duration = Duration::from_millis(5);

/// The reason for the end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Lost,
    /// The server refused our certificate.
    Refused,
    /// CloseConnection.
    Closed,
    /// MessageError.
    MessageError,
    /// Data of the server violated the protocol or a limit.
    Violated(Violation),
}

impl End {
    pub(super) fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Refused,
            _ => Self::Lost,
        }
    }

    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Refused => io::ErrorKind::PermissionDenied.into(),
            _ => io::ErrorKind::BrokenPipe.into(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Reader {
    giop: Connection,
    /// The current receive timeout of the stream.
    timeout: Option<Duration>,
}

#[derive(Debug)]
pub(super) struct MultiplexedConnection {
    pub(super) stream: Box<dyn ByteStream>,
    pub(super) readers: LeaderFollower,
    pub(super) send_queue: SendQueue,
    pending: Mutex<Vec<Arc<PendingReply>>>,
    pub(super) reader: Mutex<Reader>,
    end: OnceLock<End>,
    /// No further slots are allocated: closed when the last one is released.
    retired: AtomicBool,
    closing: AtomicBool,
    thread: Mutex<Option<orbium_sys::Thread>>,
    counted: Counted,
}

/// Every slot may have a reply in fragments: the budget of peers bounds them together.
pub(super) fn bounds(message: usize) -> Bounds {
    Bounds {
        message,
        reassembly: ReassemblyLimits {
            message,
            messages: CALL_SLOTS as usize,
            total: message.saturating_mul(CALL_SLOTS as usize),
        },
        message_time: None,
    }
}

impl MultiplexedConnection {
    /// Starts a connection over a new stream, with an I/O thread or without.
    ///
    /// # Errors
    ///
    /// The stream is broken, or no thread can be started.
    pub(super) fn start(
        stream: Box<dyn ByteStream>,
        giop: Connection,
        has_thread: bool,
        counted: Counted,
    ) -> io::Result<Arc<Self>> {
        stream.set_timeouts(Some(None), Some(Some(ALTERNATE)))?;
        let connection = Arc::new(Self {
            stream,
            readers: LeaderFollower::new(CALL_SLOTS as usize, has_thread),
            send_queue: SendQueue::default(),
            pending: Mutex::default(),
            reader: Mutex::new(Reader {
                giop,
                timeout: None,
            }),
            end: OnceLock::new(),
            retired: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            thread: Mutex::new(None),
            counted,
        });
        if has_thread {
            let reading = Arc::clone(&connection);
            let read = Box::new(move || reading.read_to_the_end());
            let thread = orbium_sys::spawn("orbium-read", None, read)?;
            *connection.thread.lock() = Some(thread);
        }
        Ok(connection)
    }

    pub(super) fn ending(&self) -> Option<End> {
        self.end.get().copied()
    }

    /// Takes a call slot.
    pub(super) fn join(&self) -> Option<(usize, Arc<PendingReply>)> {
        if self.send_queue.has_ended() {
            return None;
        }
        let slot = self.readers.join()?;
        let mut pending = self.pending.lock();
        while pending.len() <= slot {
            let first = u32::try_from(pending.len()).unwrap_or(0) % CALL_SLOTS;
            pending.push(Arc::new(PendingReply::after(2 * first)));
        }
        Some((slot, Arc::clone(&pending[slot])))
    }

    pub(super) fn leave(&self, slot: usize) {
        // If `retire` still counted this follower, its lock of `readers` precedes this
        // one: then its store of `retired` happens-before the load here.
        if self.readers.leave(slot) && self.retired.load(Ordering::SeqCst) {
            self.close();
        }
    }

    /// Closes the connection as soon as no slot is in use.
    pub(super) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
        if self.readers.followers() == 0 {
            self.close();
        }
    }

    /// Sends CloseConnection, once, and joins the I/O thread.
    fn close(&self) {
        if self.closing.swap(true, Ordering::SeqCst) {
            return;
        }
        if self.has_peer_ended() {
            self.counted.note_cause(Closing::Peer);
        } else {
            self.counted.note_closing();
        }
        self.end_with(&close_connection(Version::V1_2));
        let thread = self.thread.lock().take();
        if let Some(thread) = thread
            && !thread.is_current()
        {
            thread.join();
        }
    }

    /// Whether the server ended the connection, as far as the closing thread can determine: while
    /// another thread receives, that thread detects the end.
    fn has_peer_ended(&self) -> bool {
        if self.end.get().is_some() {
            return true;
        }
        let has_thread = self.thread.lock().is_some();
        let reader = self.reader.try_lock();
        let (false, Some(reader)) = (has_thread, reader) else {
            return false;
        };
        ended::has_peer_ended(reader.giop.is_closing(), &*self.stream)
    }

    /// Records the end, once, and wakes all waiting callers.
    pub(super) fn finish(&self, end: End) {
        if self.end.set(end).is_ok() {
            self.send_queue.end();
            self.readers.close();
            self.stream.shutdown(Shutdown::Both);
        }
    }

    /// Reads as the leader until a message for `own` has arrived, or the deadline has passed: then
    /// `false`. `timeout` is the time that remained before the caller waited to become the leader.
    pub(super) fn read(&self, own: usize, timeout: Option<Duration>, deadline: Deadline) -> bool {
        let _turn = Reading(self);
        if self.send_queue.has_rest() {
            self.send_rest();
        }
        let mut reader = self.reader.lock();
        let mut left = deadline.remaining();
        let mut exact = !matches!(left, Ok(left) if ticks::is_in_time(timeout, left));
        loop {
            if self.demultiplex(&mut reader, Some(own)) || self.end.get().is_some() {
                return true;
            }
            match left {
                Err(_) => return false,
                Ok(Some(left)) if exact => self.receive_within(&mut reader, left),
                Ok(_) => self.receive(&mut reader, timeout),
            };
            // The timeout applies to one receive; after the first one the deadline.
            exact = deadline != Deadline::NEVER;
            left = deadline.remaining();
        }
    }

    fn read_to_the_end(&self) {
        /// Handles the end of the I/O thread, also by a panic.
        struct Over<'l>(&'l MultiplexedConnection);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.finish(End::Lost);
            }
        }
        let _over = Over(self);
        let mut reader = self.reader.lock();
        while self.end.get().is_none() {
            self.receive(&mut reader, None);
            self.demultiplex(&mut reader, None);
        }
    }

    /// As `receive`, but ends exactly at the deadline and not at the next tick.
    #[cold]
    fn receive_within(&self, reader: &mut Reader, time: Duration) -> bool {
        let stream = &*self.stream;
        if !stream.counts_in_ticks() || stream.has_buffered() {
            return self.receive(reader, Some(time));
        }
        if !ticks::comes_before(stream, Deadline::after(Some(time))) {
            return false;
        }
        // Readable: the timeout only guards against a spurious wake-up.
        let timeout = reader.timeout.or(Some(time));
        self.receive(reader, timeout)
    }

    /// Receives once; returns whether data arrived.
    pub(super) fn receive(&self, reader: &mut Reader, timeout: Option<Duration>) -> bool {
        if reader.timeout != timeout {
            let given = ticks::given(&*self.stream, timeout);
            if self.stream.set_timeouts(Some(given), None).is_err() {
                self.finish(End::Lost);
                return false;
            }
            reader.timeout = timeout;
        }
        match reader.giop.receive(&*self.stream) {
            Ok(0) => self.finish(End::Lost),
            Ok(_) => return true,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted
                | io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut => {}
                _ => self.finish(End::of(&error)),
            },
        }
        false
    }

    /// Demultiplexes whole messages to their slots; returns whether one was for `own`.
    pub(super) fn demultiplex(&self, reader: &mut Reader, own: Option<usize>) -> bool {
        let mut came = false;
        while self.end.get().is_none() {
            match reader.giop.next(&Instant::now) {
                Ok(None) => break,
                Ok(Some(Event::Message(header))) => {
                    let slot = self.deliver(&mut reader.giop, &header);
                    came |= slot.is_some() && slot == own;
                }
                Ok(Some(Event::Close)) => self.finish(End::Closed),
                Ok(Some(Event::MessageError)) => self.finish(End::MessageError),
                Ok(Some(Event::Fragment | Event::Cancel(_) | Event::Refused(_))) => {}
                Err(violation) => self.refuse(violation),
            }
        }
        came
    }

    /// Delivers the reply with that header; returns its slot. Late replies are discarded.
    fn deliver(&self, giop: &mut Connection, header: &MessageHeader) -> Option<usize> {
        let Some(id) = request_id(header, giop.message(header).0) else {
            self.refuse(Violation::NoRequestId);
            return None;
        };
        let slot = (id / 2 % CALL_SLOTS) as usize;
        let pending = self.pending.lock().get(slot).cloned();
        let Some(pending) = pending.filter(|pending| pending.awaits(id)) else {
            giop.consume(header);
            return None;
        };
        match giop.take(header, pending.room()) {
            Ok(reply) => {
                pending.put(reply);
                self.readers.ready(slot);
            }
            Err(_) => self.refuse(Violation::NoRequestId),
        }
        Some(slot)
    }

    #[cold]
    fn refuse(&self, violation: Violation) {
        orbium_trace::log::debug!(target: "orbium::conn", %violation, "cannot be read");
        self.counted.note_cause(Closing::Error);
        if let Some(answer) = violation.answer() {
            self.say_before_the_end(&answer);
        }
        self.finish(End::Violated(violation));
    }

    /// Waits until a message has arrived for a slot, or the connection has ended; `false` at the
    /// deadline.
    pub(super) fn wait(&self, slot: usize, timeout: Option<Duration>, deadline: Deadline) -> bool {
        match self.readers.wait(slot, deadline.instant()) {
            Wake::Ready | Wake::Closed => true,
            Wake::TimedOut => false,
            Wake::Lead => self.read(slot, timeout, deadline),
        }
    }
}

/// Leadership; dropping it promotes a follower.
pub(super) struct Reading<'l>(pub(super) &'l MultiplexedConnection);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.readers.promote();
    }
}
