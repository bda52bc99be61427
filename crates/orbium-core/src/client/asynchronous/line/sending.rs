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
use orbium_transport::ByteStream;

use super::{Line, Message, Pending, Phase, State};
use crate::client::asynchronous::call::News;
use crate::client::asynchronous::reader::Reader;

/// Octets sent in one go before others that have the line's lock to take have it.
const TURN: usize = 1 << 20;

impl Line {
    /// Sends a request, or has it sent.
    ///
    /// # Errors
    /// The line has ended: what that means to the call.
    pub(in crate::client::asynchronous) fn submit(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        id: u32,
        octets: Vec<u8>,
        pending: Pending,
    ) -> Result<(), News> {
        let mut state = self.lock();
        if let Phase::Over(end) = state.phase {
            return Err(end.news(false));
        }
        state.pending.insert(id, pending);
        self.send_in_turn(reader, state, Message::new(id, octets));
        Ok(())
    }

    fn send_in_turn(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        mut state: MutexGuard<'_, State>,
        message: Message,
    ) {
        state.queue.push_back(message);
        // Whoever waits for room sends it then.
        if !state.wants_room {
            self.send_queued(reader, state);
        }
    }

    /// Sends what waits, as far as the peer takes it.
    pub(in crate::client::asynchronous) fn flush(self: &Arc<Self>, reader: &Arc<Reader>) {
        let state = self.lock();
        self.send_queued(reader, state);
    }

    fn send_queued(self: &Arc<Self>, reader: &Arc<Reader>, mut state: MutexGuard<'_, State>) {
        let Some(stream) = self.stream.get() else {
            return;
        };
        match state.send_all(&**stream) {
            Ok(is_all) => {
                if let Err(error) = state.want_room(self.number, reader, &**stream, !is_all) {
                    crate::log::warn!(target: "orbium::conn", %error, "cannot wait for room to send");
                    stream.shutdown(Shutdown::Both);
                }
            }
            Err(error) => {
                crate::log::debug!(target: "orbium::conn", %error, "cannot send");
                // What the server has sent before counts: the thread that reads
                // comes to the end by itself.
                stream.shutdown(Shutdown::Both);
                drop(state);
                reader.look_at(self);
            }
        }
    }

    /// Nobody waits for that answer any more; whether its request has left.
    pub(in crate::client::asynchronous) fn withdraw(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        id: u32,
    ) -> bool {
        let mut state = self.lock();
        let Some(pending) = state.pending.remove(&id) else {
            return false;
        };
        let place = state.queue.iter().position(|message| message.id == id);
        match place {
            Some(place) if !state.queue[place].is_begun => {
                state.queue.remove(place);
                return false;
            }
            // Its rest has to go out: the server may still begin.
            _ => {}
        }
        if let Some(version) = pending.cancelled {
            let cancel = CancelRequest { request_id: id };
            let octets = cancel.message(version, ByteOrder::NATIVE).to_vec();
            self.send_in_turn(reader, state, Message::new(id, octets));
        }
        true
    }
}

impl State {
    /// Whether everything was sent that may be now.
    fn send_all(&mut self, stream: &dyn ByteStream) -> io::Result<bool> {
        let mut sent = 0;
        loop {
            let message = match self.phase {
                Phase::Opening | Phase::Over(_) => return Ok(true),
                Phase::Binding => self.first.as_mut(),
                Phase::Open => self.queue.front_mut(),
            };
            let Some(message) = message else {
                return Ok(true);
            };
            if sent > TURN {
                return Ok(false);
            }
            message.is_begun = true;
            match stream.send(&message.octets[message.at..]) {
                Ok(count) => {
                    message.at += count;
                    sent += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
            if message.at == message.octets.len() {
                let id = message.id;
                self.is_sent(id);
            }
        }
    }

    fn is_sent(&mut self, id: u32) {
        if self.phase == Phase::Binding {
            self.first = None;
        } else {
            self.queue.pop_front();
        }
        self.used = Instant::now();
        if let Some(pending) = self.pending.get_mut(&id) {
            pending.is_sent = true;
        }
    }

    /// Has room to send waited for, or not any more.
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
            (Some(apart), true) => reader.watch_sending(number, apart),
            (Some(apart), false) => reader.ignore_sending(number, apart),
            (None, true) => reader.change(number, stream.source(), Interest::Both),
            (None, false) => reader.change(number, stream.source(), Interest::Read),
        }
    }

    /// Waits for no room any more: the line has ended.
    pub(super) fn stop_sending(&mut self, number: u64, reader: &Reader) {
        if let (Some(apart), true) = (self.sending.take(), self.wants_room) {
            let _ = reader.ignore_sending(number, &apart);
        }
    }

    /// Whether part of a message was sent, and nothing else may come before its
    /// rest.
    pub(super) fn is_midway(&self) -> bool {
        let messages = self.first.iter().chain(self.queue.front());
        messages.into_iter().any(|message| message.is_begun)
    }
}
