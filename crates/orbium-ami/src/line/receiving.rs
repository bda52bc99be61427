// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving direction of a line: replies to pending calls.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use orbium_channel::connection::{Connection, Event, Violation, Whole};
use orbium_channel::dedication::DedicationReply;
use orbium_giop::{Assembled, MessageHeader, MessageKind, PlainReply, ReplyHeader};
use orbium_invocation::story::Phase as CallPhase;

use super::end::End;
use super::{Awaiting, Line, Pending, Phase};
use crate::pending_call::answer;
use crate::reader::Reader;
use orbium_client::band_operation::is_unknown_to_server;
use orbium_client::received_reply::ReceivedReply;
use orbium_connection::outcome::{Outcome, read_answer};
use orbium_invocation::call_exceptions::not_trusted;

/// Consecutive receives before other lines are served.
const TURN: usize = 16;

impl Line {
    /// Receives the available data. Runs on the reader thread.
    pub(crate) fn receive(self: &Arc<Self>, reader: &Arc<Reader>) {
        let Some(stream) = self.stream.get() else {
            return;
        };
        let mut giop = self.giop.lock();
        for _ in 0..TURN {
            let end = match giop.receive(&**stream) {
                Ok(0) => {
                    self.note(CallPhase::Wait, &"the connection ended");
                    Some(End::Lost)
                }
                Ok(_) => {
                    let end = self.hand_out(reader, &mut giop);
                    // Once for all of these replies: the clock is not read for each.
                    self.lock().used = Instant::now();
                    end
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return,
                    io::ErrorKind::Interrupted => None,
                    io::ErrorKind::PermissionDenied => {
                        self.note(CallPhase::Tls, &error);
                        Some(End::Refused(not_trusted()))
                    }
                    _ => {
                        self.note(CallPhase::Wait, &error);
                        Some(End::Lost)
                    }
                },
            };
            if let Some(end) = end {
                drop(giop);
                return self.end(reader, end);
            }
            // The requests that callers made on these replies are sent together.
            self.send_deferred(reader);
            // The poller reports later data.
            if !giop.is_partial() && !stream.has_buffered() {
                return;
            }
        }
        // The source does not show data that the stream has buffered.
        if stream.has_buffered() {
            reader.look_at(self);
        }
    }

    /// Processes the whole messages; returns the reason if the line ends.
    fn hand_out(self: &Arc<Self>, reader: &Arc<Reader>, giop: &mut Connection) -> Option<End> {
        loop {
            if let Some((header, plain)) = giop.next_plain_reply() {
                let end = match giop.take_plain_reply(&header) {
                    Ok(whole) => self.take_read_reply(reader, (header, plain, None), whole),
                    Err(refusal) => self.take_reply(reader, refusal),
                };
                if end.is_some() {
                    return end;
                }
                continue;
            }
            let end = match giop.next(&Instant::now) {
                Ok(None) => return None,
                Ok(Some(Event::Message(header))) if header.kind == MessageKind::Reply => {
                    match giop.take(&header, Vec::new()) {
                        Ok(whole) => self.take_reply(reader, whole),
                        Err(_) => None,
                    }
                }
                // No LocateRequest was sent.
                Ok(Some(Event::Message(header))) => {
                    giop.consume(&header);
                    None
                }
                Ok(Some(Event::Close)) => Some(End::Closed),
                Ok(Some(Event::MessageError)) => Some(End::MessageError),
                Ok(Some(Event::Fragment | Event::Cancel(_) | Event::Refused(_))) => None,
                Err(violation) => Some(self.refuse(&violation)),
            };
            if end.is_some() {
                return end;
            }
        }
    }

    /// Reports the violation in the received data.
    fn refuse(&self, violation: &Violation) -> End {
        orbium_trace::log::debug!(target: "orbium::wire", %violation, "cannot be read");
        self.note(CallPhase::Wait, violation);
        if let Some(answer) = violation.answer() {
            self.say_last(&answer);
        }
        if violation.is_limit() {
            End::TooLarge
        } else {
            End::Garbage
        }
    }

    /// Delivers a reply to its pending call.
    fn take_reply(self: &Arc<Self>, reader: &Arc<Reader>, whole: Whole) -> Option<End> {
        let mut whole = whole;
        let Some((header, plain, said)) = read_header(&mut whole.message) else {
            self.note(CallPhase::Wait, &"a reply whose header cannot be read");
            return Some(End::Garbage);
        };
        self.take_read_reply(reader, (header, plain, said), whole)
    }

    /// The same for a reply with its header read.
    fn take_read_reply(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        (header, plain, said): (MessageHeader, PlainReply, Option<DedicationReply>),
        whole: Whole,
    ) -> Option<End> {
        let Whole { message, charge } = whole;
        // Late replies are discarded.
        let pending = self.awaited(&plain, said)?;
        let reply = ReceivedReply {
            header,
            status: plain.status,
            body: plain.body,
            octets: message.octets,
            seams: message.seams,
            charge,
            format: pending.format,
        };
        match pending.awaiting {
            Awaiting::Call(call) => {
                answer(call, reply, Some(&self.key().channel));
                None
            }
            Awaiting::Band => self.bound(reader, reply),
        }
    }

    fn awaited(&self, plain: &PlainReply, said: Option<DedicationReply>) -> Option<Pending> {
        let mut state = self.lock();
        let pending = state.pending.take(plain.request_id);
        state.code_sets.confirm();
        // The server has received the request by now.
        let asking = state.asking.take();
        drop(state);
        if let (Some(own), Some(said)) = (asking, said) {
            own.record_reply(said);
        }
        pending
    }

    /// Processes the server's reply to the binding of the band.
    fn bound(self: &Arc<Self>, reader: &Arc<Reader>, mut reply: ReceivedReply) -> Option<End> {
        match reply.outcome(None) {
            Some(Outcome::Failed(refused)) if !is_unknown_to_server(refused) => {
                return Some(End::Refused(refused));
            }
            // The calls determine the next step themselves.
            _ => {}
        }
        {
            let mut state = self.lock();
            if state.phase == Phase::Binding {
                state.phase = Phase::Open;
            }
        }
        self.flush(reader);
        None
    }
}

/// The header of a reply, and the dedication reply in its contexts.
fn read_header(
    message: &mut Assembled,
) -> Option<(MessageHeader, PlainReply, Option<DedicationReply>)> {
    let head = message.first_chunk()?;
    let header = MessageHeader::plain_reply(head).or_else(|| MessageHeader::parse_any(head))?;
    let Assembled { octets, seams } = message;
    if seams.is_empty()
        && let Some(plain) = ReplyHeader::plain(&header, octets)
    {
        return Some((header, plain, None));
    }
    let (plain, said) = read_answer(&header, octets, seams);
    Some((header, plain?, said))
}
