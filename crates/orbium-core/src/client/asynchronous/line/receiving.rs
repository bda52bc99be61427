// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving direction of a line: replies to pending calls.

use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use orbium_channel::framing::{Framing, FramingError, refusal};
use orbium_channel::peer_memory::{Charge, NoMemory};
use orbium_giop::dedication::DedicationReply;
use orbium_giop::{
    Assembled, FragmentError, HEADER_LEN, MessageHeader, MessageKind, PlainReply, ReplyHeader,
    Version, message_error,
};

use super::{Awaiting, End, Line, Pending, Phase};
use crate::client::assembly::{Assembly, Whole};
use crate::client::asynchronous::Reply;
use crate::client::asynchronous::call::{Call, News};
use crate::client::asynchronous::reader::Reader;
use crate::client::bands::is_unknown_to_server;
use crate::client::connection::is_limit;
use crate::client::exchange::{Outcome, read_answer};
use crate::client::link::not_trusted;
use crate::client::story::{Note, Phase as CallPhase};
use crate::{Channel, Config};

/// Receives in a row before other lines have their turn.
const TURN: usize = 16;

/// What was received and not handed out yet.
#[derive(Debug)]
pub(super) struct Input {
    framing: Framing,
    assembly: Assembly,
}

impl Input {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            framing: Framing::new(config.limits.message_size, config.protocols.budget()),
            assembly: Assembly::new(config.limits.reassembly(), config.protocols.budget()),
        }
    }

    /// Takes out a reply that came whole; where there is no memory for it, the one
    /// that says so.
    fn take_reply(&mut self, header: MessageHeader) -> (MessageHeader, Whole) {
        let seams = Vec::new();
        let (octets, charge) = match self.framing.take_out(&header, Vec::new()) {
            Ok(taken) => taken,
            Err(NoMemory) => (self.refuse(&header), Charge::default()),
        };
        let new = octets.first_chunk().map(MessageHeader::parse);
        let message = Assembled { octets, seams };
        (
            new.and_then(Result::ok).unwrap_or(header),
            Whole { message, charge },
        )
    }

    /// Drops a reply, and returns one with NO_MEMORY in its place; nothing if its
    /// header cannot be read.
    #[cold]
    fn refuse(&mut self, header: &MessageHeader) -> Vec<u8> {
        self.framing.budget().count_refused();
        let mut reader = header.reader(&mut self.framing.message(header)[HEADER_LEN..]);
        let read = ReplyHeader::read(&mut reader, header.format().minor);
        let octets = read.map(|reply| refusal(header, reply.request_id));
        self.framing.consume(header);
        octets.unwrap_or_default()
    }
}

impl Line {
    /// Receives what is there. On the thread that reads.
    pub(in crate::client::asynchronous) fn receive(self: &Arc<Self>, reader: &Arc<Reader>) {
        let Some(stream) = self.stream.get() else {
            return;
        };
        let input = self.input.lock();
        let mut input = input.unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TURN {
            let end = match input.framing.receive(&**stream) {
                Ok(0) => {
                    self.note(CallPhase::Wait, &"the connection ended");
                    Some(End::Lost)
                }
                Ok(_) => self.hand_out(reader, &mut input),
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
                drop(input);
                return self.end(reader, end);
            }
            // What the callers did about these replies goes out together.
            self.send_deferred(reader);
            // The poller reports what comes later.
            if !input.framing.is_partial() && !stream.has_buffered() {
                return;
            }
        }
        // The source does not show what the stream has taken from there.
        if stream.has_buffered() {
            reader.look_at(self);
        }
    }

    /// Hands out the messages that are whole; why the line ends, if it does.
    fn hand_out(self: &Arc<Self>, reader: &Arc<Reader>, input: &mut Input) -> Option<End> {
        loop {
            let header = match input.framing.next() {
                Ok(None) => return None,
                Ok(Some(header)) => header,
                Err(FramingError::NoMemory) => {
                    let refused = input.assembly.skip(&mut input.framing);
                    if let Some(end) = self.assembled(reader, refused) {
                        return Some(end);
                    }
                    continue;
                }
                Err(error) => {
                    crate::log::debug!(target: "orbium::wire", %error, "not a message");
                    let refused = self.refuse(&error);
                    return Some(match error {
                        FramingError::TooLarge { .. } => End::TooLarge,
                        FramingError::Header(_) | FramingError::NoMemory => refused,
                    });
                }
            };
            let end = match header.kind {
                MessageKind::Reply if !header.more_fragments => {
                    let (header, whole) = input.take_reply(header);
                    let end = self.take_reply(reader, &header, whole);
                    if end.is_some() {
                        return end;
                    }
                    continue;
                }
                MessageKind::Reply | MessageKind::LocateReply | MessageKind::Fragment => {
                    let added = input.assembly.accept(&header, &mut input.framing);
                    if let Some(end) = self.assembled(reader, added) {
                        return Some(end);
                    }
                    continue;
                }
                MessageKind::CloseConnection => Some(End::Closed),
                MessageKind::MessageError => Some(End::MessageError),
                // Requests come over bidirectional connections only.
                kind => Some(self.refuse(&format_args!("a server sent {kind:?}"))),
            };
            input.framing.consume(&header);
            if end.is_some() {
                return end;
            }
        }
    }

    /// Deals with what a fragment made whole, if it did.
    fn assembled(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        added: Result<Option<Whole>, FragmentError>,
    ) -> Option<End> {
        match added {
            Ok(None) => None,
            Ok(Some(whole)) => {
                let header = whole.message.first_chunk().map(MessageHeader::parse);
                match header {
                    Some(Ok(header)) if header.kind == MessageKind::Reply => {
                        self.take_reply(reader, &header, whole)
                    }
                    // No LocateRequest was sent.
                    Some(Ok(_)) => None,
                    _ => {
                        self.note(CallPhase::Wait, &"fragments make no message");
                        Some(End::Garbage)
                    }
                }
            }
            // The rest of a reply to an abandoned request.
            Err(FragmentError::NothingToContinue(Some(_))) => None,
            Err(error) => {
                crate::log::debug!(target: "orbium::wire", %error, "bad fragment in a reply");
                let refused = self.refuse(&error);
                Some(match is_limit(error) {
                    true => End::TooLarge,
                    false => refused,
                })
            }
        }
    }

    fn refuse(&self, cause: &dyn fmt::Display) -> End {
        self.note(CallPhase::Wait, cause);
        self.say_last(&message_error(Version::V1_2));
        End::Garbage
    }

    /// Delivers a reply to its pending call.
    fn take_reply(
        self: &Arc<Self>,
        reader: &Arc<Reader>,
        header: &MessageHeader,
        whole: Whole,
    ) -> Option<End> {
        let Whole {
            mut message,
            charge,
        } = whole;
        let Assembled { octets, seams } = &mut message;
        let (plain, said) = match ReplyHeader::plain(header, octets) {
            Some(plain) if seams.is_empty() => (Some(plain), None),
            _ => read_answer(header, octets, seams),
        };
        let Some(plain) = plain else {
            self.note(CallPhase::Wait, &"a reply whose header cannot be read");
            return Some(End::Garbage);
        };
        // Late replies are discarded.
        let pending = self.awaited(&plain, said)?;
        let reply = Reply {
            header: *header,
            status: plain.status,
            body: plain.body,
            octets: message.octets,
            seams: message.seams,
            _charge: charge,
            format: pending.format,
        };
        match pending.awaiting {
            Awaiting::Call(call) => {
                answer(&call, reply, &self.key().channel);
                None
            }
            Awaiting::Band => self.bound(reader, reply),
        }
    }

    fn awaited(&self, plain: &PlainReply, said: Option<DedicationReply>) -> Option<Pending> {
        let mut state = self.lock();
        let pending = state.pending.remove(&plain.request_id);
        state.is_introduced = true;
        state.used = Instant::now();
        // The server knows by now what is wished.
        let asking = state.asking.take();
        drop(state);
        if let (Some(own), Some(said)) = (asking, said) {
            own.record_reply(said);
        }
        pending
    }

    /// The server has answered to the band.
    fn bound(self: &Arc<Self>, reader: &Arc<Reader>, mut reply: Reply) -> Option<End> {
        match reply.outcome(None) {
            Some(Outcome::Failed(refused)) if !is_unknown_to_server(refused) => {
                return Some(End::Refused(refused));
            }
            // The calls themselves will find out what to do.
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

fn answer(call: &Arc<Call>, mut reply: Reply, channel: &Channel) {
    let outcome = reply.outcome(Some(call.orb()));
    if let Some(outcome) = &outcome {
        call.note(Note::new(CallPhase::Wait, Some(channel), &outcome.text()));
    }
    match outcome {
        None => call.answer(Ok(reply)),
        Some(Outcome::Failed(exception)) if !call.may_go_on() => call.answer(Err(exception)),
        Some(outcome) => call.hear(News::Outcome(outcome)),
    }
}
