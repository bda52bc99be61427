// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending direction of a line.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Instant;

use orbium_cdr::ByteOrder;
use orbium_giop::CancelRequest;
use orbium_sync::lock::MutexGuard;
use orbium_sys::Interest;
use orbium_transport::{ByteStream, Stamp};

use super::ending::close;
use super::{Line, Pending, Phase, State};
use crate::pending_call::News;
use crate::reader::Reader;
use orbium_channel::batch::{Batch, Message};

/// Octets sent at once before other threads can take the line's lock.
const TURN: usize = 1 << 20;

/// Queued bytes from which a message is sent at once, and not left to the reader.
const DEFERRED: usize = 8 * 1024;

impl Line {
    /// Sends a request, or queues it for sending, if `begins` returns whether its call still awaits a
    /// reply: `begins` runs under the lock of the line, under which a call is withdrawn.
    ///
    /// # Errors
    /// The line has ended: the effect on the call.
    pub(crate) fn submit(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        id: u32,
        octets: Vec<u8>,
        mut pending: Pending,
        begins: impl FnOnce() -> bool,
    ) -> Result<(), News> {
        let mut state = self.lock();
        if let Phase::Over(end) = state.phase {
            return Err(end.news(false));
        }
        if !begins() {
            return Ok(());
        }
        pending.number = state.next_number();
        let message = Message::new(id, pending.number, octets);
        state.pending.insert(id, pending);
        self.send_in_turn(reader, state, message);
        Ok(())
    }

    fn send_in_turn<'l>(
        self: &'l Arc<Self>,
        reader: &Arc<Reader>,
        mut state: MutexGuard<'l, State>,
        message: Message,
    ) {
        state.queued += message.len();
        state.queue.push_back(message);
        // The sending thread continues with it, or the reader once there is room.
        if state.wants_room || state.is_sending {
            return;
        }
        if !state.may_be_deferred() {
            return self.send_queued(reader, state);
        }
        if !std::mem::replace(&mut state.is_deferred, true) {
            drop(state);
            reader.send_soon(self);
        }
    }

    /// Sends the queued messages, as far as the peer accepts them.
    pub(crate) fn flush(self: &Arc<Self>, reader: &Arc<Reader>) {
        let state = self.lock();
        self.send_queued(reader, state);
    }

    /// Sends the messages left to the reader.
    pub(crate) fn send_deferred(self: &Arc<Self>, reader: &Arc<Reader>) {
        let state = self.lock();
        if state.is_deferred {
            self.send_queued(reader, state);
        }
    }

    /// Sends batches until the queue is empty. One thread at a time does so, without the lock
    /// during a system call: requests that others submit are then sent in the next batch.
    fn send_queued<'l>(
        self: &'l Arc<Self>,
        reader: &Arc<Reader>,
        mut state: MutexGuard<'l, State>,
    ) {
        let Some(stream) = self.stream.get().map(|stream| &**stream) else {
            return;
        };
        if state.is_sending {
            return;
        }
        state.is_deferred = false;
        let mut sent = 0;
        while let Some(mut batch) = state.next_batch(stream) {
            // From here on the server may have it.
            state.last_sent = batch.last();
            state.is_sending = true;
            drop(state);
            let outcome = batch.send(stream);
            state = self.lock();
            state.is_sending = false;
            if let Phase::Over(end) = state.phase {
                drop(state);
                if end.is_orderly() {
                    close(stream, batch.is_sent());
                }
                return;
            }
            state.put_back(batch, stream);
            match outcome {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return self.want_room(reader, &mut state, stream, true);
                }
                Err(error) => {
                    orbium_trace::log::debug!(target: "orbium::conn", %error, "cannot send");
                    // Data that the server has sent before are valid: the reader thread reads to
                    // the end.
                    stream.shutdown(Shutdown::Both);
                    drop(state);
                    return reader.look_at(self);
                }
            }
            if sent > TURN && state.has_more() {
                return self.want_room(reader, &mut state, stream, true);
            }
        }
        self.want_room(reader, &mut state, stream, false);
    }

    /// Registers or deregisters the wait for room to send with the reader.
    fn want_room(&self, reader: &Reader, state: &mut State, stream: &dyn ByteStream, wants: bool) {
        if let Err(error) = state.want_room(self.number, reader, stream, wants) {
            orbium_trace::log::warn!(target: "orbium::conn", %error, "cannot wait for room to send");
            stream.shutdown(Shutdown::Both);
        }
    }

    /// Abandons the reply to a request; returns whether the request has been sent.
    pub(crate) fn withdraw(self: &Arc<Self>, reader: &Arc<Reader>, id: u32) -> bool {
        let mut state = self.lock();
        let Some(pending) = state.pending.take(id) else {
            return false;
        };
        // Once it was passed to the stream, its rest has to be sent: the server may begin.
        let place = state.queue.iter().position(|message| message.id == id);
        if let Some(message) = place.and_then(|place| state.queue.remove(place)) {
            state.queued -= message.len();
            return false;
        }
        if let Some(version) = pending.cancelled {
            let cancel = CancelRequest { request_id: id };
            let octets = cancel.message(version, ByteOrder::NATIVE).to_vec();
            let number = state.next_number();
            self.send_in_turn(reader, state, Message::new(id, number, octets));
        }
        true
    }
}

impl State {
    /// Whether a message that has just been queued is left to the reader, to be sent with later
    /// ones: other replies are pending, the last send has just ended, and the queue is too short
    /// for a send of its own.
    fn may_be_deferred(&self) -> bool {
        self.phase == Phase::Open
            && self.pending.len() > 1
            && self.queued < DEFERRED
            && Stamp::now().count().saturating_sub(self.sent_at) < self.pause
    }

    /// Whether there is a message that may be sent.
    fn has_more(&self) -> bool {
        self.batch.is_some() || self.phase == Phase::Open && !self.queue.is_empty()
    }

    /// The next bytes for the stream.
    fn next_batch(&mut self, stream: &dyn ByteStream) -> Option<Batch> {
        if let Some(begun) = self.batch.take() {
            return Some(begun);
        }
        let before = self.last_sent;
        let spares = &mut self.spares;
        let batch = match self.phase {
            Phase::Opening | Phase::Over(_) => None,
            Phase::Binding => {
                let first = self.first.take();
                first.map(|first| Batch::of(first, before, spares))
            }
            Phase::Open if stream.sends_one_message() => {
                let message = self.queue.pop_front();
                message.map(|message| Batch::of(message, before, spares))
            }
            Phase::Open => Batch::merged(&mut self.queue, before, spares),
        }?;
        if self.phase == Phase::Open {
            self.queued -= batch.len();
        }
        Some(batch)
    }

    /// Takes a batch back from the stream: its rest is sent first.
    fn put_back(&mut self, batch: Batch, stream: &dyn ByteStream) {
        self.sent_at = Stamp::now().count();
        self.used = Instant::now();
        if batch.is_sent() {
            self.spares.recycle(batch);
        } else {
            self.last_sent = batch.last_sent(stream.begun());
            self.batch = Some(batch);
        }
    }

    /// The number of the next queued message.
    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Whether a request was sent, as far as is known here.
    pub(super) fn is_sent(&self, pending: &Pending) -> bool {
        pending.number <= self.last_sent
    }

    /// Registers or deregisters the wait for room to send.
    fn want_room(
        &mut self,
        number: u64,
        reader: &Reader,
        stream: &dyn ByteStream,
        wants: bool,
    ) -> io::Result<()> {
        if self.wants_room == wants {
            return Ok(());
        }
        self.wants_room = wants;
        if wants {
            self.sending = stream.sending_source();
        }
        match (&self.sending, wants) {
            (Some(source), true) => reader.watch_sending(number, source),
            (Some(source), false) => reader.ignore_sending(number, source),
            (None, true) => reader.change(number, stream.source(), Interest::Both),
            (None, false) => reader.change(number, stream.source(), Interest::Read),
        }
    }

    /// Deregisters the wait for room to send, after the end of the line.
    pub(super) fn stop_sending(&mut self, number: u64, reader: &Reader) {
        if let (Some(source), true) = (self.sending.take(), self.wants_room) {
            let _ = reader.ignore_sending(number, &source);
        }
    }

    /// Whether part of a message was sent, so that its rest must follow.
    pub(super) fn is_midway(&self) -> bool {
        self.is_sending || self.batch.is_some()
    }
}
