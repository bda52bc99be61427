// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from one stream to another.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_channel::framing::Framing;
use orbium_channel::outgoing::{self, Patience};
use orbium_giop::{
    Completion, ExceptionKind, HEADER_LEN, LocateRequest, LocateStatus, MessageHeader, MessageKind,
    ReplyStatus, RequestHeader, SystemException, SystemExceptionBody, Version, begin_locate_reply,
    begin_reply, finish_message, message_error, minor,
};
use orbium_transport::{ByteStream, Deadline};

use crate::refused::Refused;
use crate::rewrite;
use crate::shared::Shared;

/// Time for which clients are refused after a failure to reach the server, before the next attempt.
const CONNECT_PAUSE: Duration = Duration::from_millis(100);

/// One direction of a connection.
pub(crate) struct Pump<'a> {
    shared: &'a Shared,
    from: &'a dyn ByteStream,
    framing: Framing,
    refused: Refused,
    /// Time by which the partly received message must be complete, or the next one if the other
    /// side has ended.
    unfinished: Option<Deadline>,
    /// Time by which the first message must begin.
    opening: Deadline,
    /// Whether the other side has ended: no further messages are expected than requested.
    is_unasked: Option<&'a AtomicBool>,
}

impl<'a> Pump<'a> {
    fn new(shared: &'a Shared, from: &'a dyn ByteStream) -> Self {
        Self {
            shared,
            from,
            framing: Framing::new(
                shared.config.limits.message_size,
                shared.config.protocols.budget(),
            ),
            refused: Refused::new(shared.config.limits.messages_in_assembly),
            unfinished: None,
            opening: Deadline::NEVER,
            is_unasked: None,
        }
    }

    /// Whether the next message is due: part of it has arrived, or no other is expected.
    fn is_due(&self) -> bool {
        let is_begun = self.framing.is_partial() || self.from.is_midway();
        is_begun || self.is_unasked.is_some_and(|it| it.load(Ordering::Acquire))
    }

    /// Relays from a client to the server, to which it connects for the first message, and back on
    /// another thread; returns when both have ended.
    pub(crate) fn requests(shared: &Shared, id: u64, client: &Arc<dyn ByteStream>) {
        let limits = &shared.config.limits;
        let (receive, send) = (limits.message_time, Some(limits.send_time));
        let first = limits
            .initial_idle_time
            .map_or(receive, |it| it.min(receive));
        if client.set_timeouts(Some(Some(first)), Some(send)).is_err() {
            return;
        }
        let mut pump = Pump::new(shared, &**client);
        pump.opening = Deadline::after(limits.initial_idle_time);
        let Some(first) = pump.next() else {
            return;
        };
        pump.opening = Deadline::NEVER;
        if client.set_timeouts(Some(Some(receive)), None).is_err() {
            return;
        }
        let mut next = Some(first);
        while let Some(header) = next {
            next = match connect(shared, id) {
                Ok(server) => pump.relay(&server, client, header),
                Err(error) => {
                    orbium_trace::log::warn!(target: "orbium::bridge", to = %shared.to, %error, "cannot relay");
                    pump.refuse_for_now(header)
                }
            };
        }
    }

    /// Relays over one connection to the server, until either side ends; returns the message for
    /// another connection, if any.
    fn relay(
        &mut self,
        server: &Arc<dyn ByteStream>,
        client: &Arc<dyn ByteStream>,
        first: MessageHeader,
    ) -> Option<MessageHeader> {
        let shared = self.shared;
        let (has_ended, is_unasked) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let back = || {
                let mut pump = Pump::new(shared, &**server);
                pump.is_unasked = Some(&is_unasked);
                pump.replies(&**client);
                // Orderly or not, it is the end for the client, too. A socket of datagrams remains
                // open for all senders.
                if client.has_many_peers() {
                    has_ended.store(true, Ordering::Release);
                } else {
                    client.shutdown(Shutdown::Both);
                }
            };
            if thread::Builder::new().spawn_scoped(scope, back).is_err() {
                return None;
            }
            let mut next = Some(first);
            while let Some(header) = next
                && !has_ended.load(Ordering::Acquire)
            {
                let octets = self.framing.message(&header);
                if !self.refused.is_rest(&header, octets) && shared.send(&**server, octets).is_err()
                {
                    next = None;
                    break;
                }
                self.framing.consume(&header);
                next = self.next();
            }
            // Replies to requests sent before may still arrive, unless the server hangs.
            is_unasked.store(true, Ordering::Release);
            server.shutdown(Shutdown::Write);
            next
        })
    }

    fn replies(&mut self, client: &dyn ByteStream) {
        while let Some(header) = self.next() {
            let octets = self.framing.message(&header);
            let rewritten = rewrite::forward(&header, octets, self.shared);
            let octets = rewritten.as_deref().unwrap_or(octets);
            if self.shared.send(client, octets).is_err() {
                return;
            }
            self.framing.consume(&header);
        }
    }

    /// The header of the next message, once it has arrived whole; `None` at the end.
    fn next(&mut self) -> Option<MessageHeader> {
        loop {
            match self.framing.next() {
                Ok(Some(header)) => {
                    self.unfinished = None;
                    return Some(header);
                }
                Ok(None) => {}
                Err(error) => {
                    orbium_trace::log::debug!(target: "orbium::bridge", peer = %self.from.peer(), ?error, "not a message");
                    let _ = self.from.send(&message_error(Version::V1_2));
                    return None;
                }
            }
            if self.is_due() {
                let time = Some(self.shared.config.limits.message_time);
                let limit = *self.unfinished.get_or_insert_with(|| Deadline::after(time));
                if limit.has_passed() {
                    return None;
                }
            } else if self.opening.has_passed() {
                return None;
            } else {
                self.unfinished = None;
            }
            if self.shared.is_stopping() {
                return None;
            }
            match self.framing.receive(self.from) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted
                    | io::ErrorKind::WouldBlock
                    | io::ErrorKind::TimedOut => {}
                    _ => return None,
                },
            }
        }
    }

    /// Answers a client with the failure to reach the server, for a period; returns the message for
    /// the next attempt.
    fn refuse_for_now(&mut self, first: MessageHeader) -> Option<MessageHeader> {
        let until = Deadline::after(Some(CONNECT_PAUSE));
        let mut next = Some(first);
        while let Some(header) = next
            && !until.has_passed()
        {
            let message = self.framing.message(&header);
            self.refused.note(&header, message);
            if let Some(reply) = refusal(&header, message)
                && self.shared.send(self.from, &reply).is_err()
            {
                return None;
            }
            self.framing.consume(&header);
            next = self.next();
        }
        next
    }
}

fn connect(shared: &Shared, id: u64) -> io::Result<Arc<dyn ByteStream>> {
    let deadline = Deadline::after(Some(shared.config.connect_timeout.0));
    let server: Arc<dyn ByteStream> = Arc::from(shared.connector.connect(deadline)?);
    let limits = &shared.config.limits;
    let (receive, send) = (Some(limits.message_time), Some(limits.send_time));
    server.set_timeouts(Some(receive), Some(send))?;
    if let Some((_, place)) = shared.lock().open.get_mut(&id) {
        *place = Some(Arc::clone(&server));
    }
    if shared.is_stopping() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    Ok(server)
}

impl Shared {
    fn send(&self, to: &dyn ByteStream, octets: &[u8]) -> io::Result<()> {
        outgoing::send_octets(to, octets, Patience::For(self.config.limits.send_time))
    }
}

/// The answer to a request that cannot be relayed, if it expects one.
fn refusal(header: &MessageHeader, message: &mut [u8]) -> Option<Vec<u8>> {
    let minor_version = header.format().minor;
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, minor_version));
    let start = match header.kind {
        MessageKind::Request => {
            let request = RequestHeader::read(&mut reader, minor_version).ok()?;
            if !request.response.expects_reply() {
                return None;
            }
            let (id, status) = (request.request_id, ReplyStatus::SystemException);
            begin_reply(&mut writer, header.version, id, status, &[])
        }
        MessageKind::LocateRequest => {
            let request = LocateRequest::read(&mut reader, minor_version).ok()?;
            let (id, status) = (request.request_id, LocateStatus::SystemException);
            if minor_version < 2 {
                // LocateReply has no exceptions. The request that follows gets one.
                let here = LocateStatus::ObjectHere;
                let start = begin_locate_reply(&mut writer, header.version, id, here);
                finish_message(&mut writer, start);
                return writer.finish().ok();
            }
            begin_locate_reply(&mut writer, header.version, id, status)
        }
        _ => return None,
    };
    let exception = SystemException::orbium(
        ExceptionKind::Transient,
        minor::CONNECT_FAILED,
        Completion::No,
    );
    SystemExceptionBody::from(exception).write(&mut writer);
    finish_message(&mut writer, start);
    writer.finish().ok()
}
