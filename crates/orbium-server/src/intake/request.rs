// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request served by the reading thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use orbium_cdr::{CdrWriter, Format};
use orbium_channel::connection::{
    Cause, Connection, Continuation, Parts, Refused, Role as Side, Whole,
};
use orbium_channel::framing::begins_with_request;
use orbium_channel::peer_memory::copied;
use orbium_channel::receive_buffer::SMALL;
use orbium_giop::numbers::Names;
use orbium_giop::{Assembled, MessageHeader, ResponseFlags, Version, split_header};
use orbium_sync::role::{Role, while_serving};

use super::contexts::{Following, apply_contexts};
use super::dedication_reply::serve_with_reply_context;
use super::queued::{Late, Sink};
use super::refused::refuse_request;
use super::refusing::{refuse, unanswerable};
use super::source::{HandOver, Source};
use super::state::{Intake, Known, State};
use crate::ServerConnection;
use crate::dedication::dedication_state::Marker;
use crate::lane::lane_core::LaneCore;
use crate::message_outcome::Outcome;
use orbium_invocation::Expiry;
use orbium_invocation::priority;
use orbium_lane as lane;
use orbium_lane::Decided;
use orbium_lane::Lane;
use orbium_request::AnswerPath;
use orbium_request::{IncomingRequest, ServerContext};
use orbium_request::{ReplyPath, UntypedReply};

/// A larger reply buffer is freed after the request.
const MAX_RETAINED_BUFFER: usize = 1 << 20;

/// A reading thread that serves a request: its role, and its reply path.
struct Reading<'a> {
    source: &'a Source<'a>,
    /// The data received after the message being served.
    rest: &'a [u8],
    begun: RefCell<Begun<'a>>,
    request_id: u32,
    /// Not `Dispatched` once the reading, or the request, was handed off.
    outcome: Cell<Outcome>,
}

/// State that is handed off with the reading.
struct Begun<'a> {
    known: &'a mut Known,
    continuation: &'a mut Continuation,
}

/// The outcome for the reading loop after the connection was handed off.
#[cold]
fn leave(outcome: Outcome, source: &Source<'_>) -> Outcome {
    source.connection.send_collected();
    if outcome == Outcome::HandedOff {
        if source.connection.ends_slowly() {
            source.reader.let_go();
        }
        source.connection.end_late();
        source.reader.returns();
    }
    outcome
}

impl Role for Reading<'_> {
    #[cold]
    fn hand_over(&self) {
        match self.outcome.get() {
            Outcome::Dispatched | Outcome::ThreadGranted => {
                self.give(|to, connection, intake| to.hand_over(connection, intake));
            }
            Outcome::HandedOff => self.source.reader.let_go(),
            _ => {}
        }
    }

    #[cold]
    fn wait(&self) {
        match self.outcome.get() {
            Outcome::Dispatched => self.give(|to, connection, intake| to.keep(connection, intake)),
            // Later messages are not for the reactor.
            Outcome::ThreadGranted => self.hand_over(),
            _ => {}
        }
    }
}

impl Reading<'_> {
    /// Hands off the reading, with the data received after the message.
    fn give(&self, to: fn(&dyn HandOver, &Arc<ServerConnection>, Intake) -> bool) {
        let Source {
            connection, reader, ..
        } = *self.source;
        connection.send_collected();
        let Begun {
            known,
            continuation,
        } = &mut *self.begun.borrow_mut();
        let budget = &self.source.context.budget;
        let continuation = continuation.take();
        let (limit, rest) = (known.limit, self.rest);
        let giop = Connection::continued(Side::Server, limit, rest, continuation, budget);
        let intake = Intake {
            giop: connection.with_its_headers(giop),
            state: State {
                storage: Vec::new(),
                known: Known {
                    moved_to: None,
                    marked: None,
                    ..**known
                },
            },
        };
        connection.begin_late();
        if to(reader, connection, intake) {
            self.outcome.set(Outcome::HandedOff);
        } else {
            connection.end_late();
        }
    }
}

impl Reading<'_> {
    /// Sends the reply to a request that is followed by received data, or from a thread that has
    /// handed off the reading.
    #[cold]
    fn send_otherwise(&self, message: &CdrWriter<'_>) {
        let connection = self.source.connection;
        match self.outcome.get() {
            Outcome::Dispatched | Outcome::ThreadGranted => {
                connection.reply_in_batch(message, begins_with_request(self.rest));
            }
            _ => {
                connection.reply_late(self.request_id, message);
            }
        }
    }
}

impl ReplyPath for Reading<'_> {
    #[inline]
    fn send(&self, message: &CdrWriter<'_>) {
        if self.rest.is_empty()
            && matches!(
                self.outcome.get(),
                Outcome::Dispatched | Outcome::ThreadGranted
            )
        {
            self.source.connection.reply(message);
        } else {
            self.send_otherwise(message);
        }
    }

    #[cold]
    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        Some(Box::new(Late::new(self.source.connection)))
    }

    #[cold]
    fn dedicated(&self) {
        if self.outcome.get() == Outcome::Dispatched {
            self.outcome.set(Outcome::ThreadGranted);
        }
    }

    #[cold]
    fn move_to(&self, lane: &Lane, decided: Decided) -> bool {
        let here = self.outcome.get() == Outcome::Dispatched;
        if here {
            self.outcome.set(Outcome::Forwarded);
            self.begun.borrow_mut().known.moved_to = Some((lane.clone(), decided));
        }
        here
    }
}

/// The parts of a request needed for its answer.
pub(super) struct Asked<'a> {
    pub(super) source: &'a Source<'a>,
    /// The data received after it.
    pub(super) rest: &'a [u8],
    pub(super) continuation: &'a mut Continuation,
    pub(super) version: Version,
    pub(super) format: Format,
    pub(super) request_id: u32,
    pub(super) response: ResponseFlags,
}

impl Asked<'_> {
    /// Has `serve` reply, and determines the state of the connection afterwards.
    #[inline(always)]
    pub(super) fn answer(
        self,
        state: &mut State,
        serve: impl FnOnce(&mut UntypedReply<'_>),
    ) -> Outcome {
        let reading = Reading {
            source: self.source,
            rest: self.rest,
            begun: RefCell::new(Begun {
                known: &mut state.known,
                continuation: self.continuation,
            }),
            request_id: self.request_id,
            outcome: Cell::new(Outcome::Dispatched),
        };
        let mut reply = UntypedReply::new(
            &reading,
            &mut state.storage,
            self.version,
            self.request_id,
            self.format,
            self.response,
        );
        while_serving(self.source.context.number, &reading, || serve(&mut reply));
        if state.storage.len() > SMALL {
            fall_back(&mut state.storage, self.source.context);
        }
        let connection = self.source.connection;
        if !priority::is(connection.priority()) {
            lane::thread::restore();
        }
        match reading.outcome.get() {
            Outcome::Dispatched => {}
            other => return leave(other, self.source),
        }
        if connection.needs_attention() {
            return attend(connection, self.rest);
        }
        Outcome::Dispatched
    }
}

/// Handles a connection that cannot send, or has collected replies, after a request: these are sent
/// unless another complete request was received.
#[cold]
fn attend(connection: &ServerConnection, rest: &[u8]) -> Outcome {
    if !begins_with_request(rest) {
        connection.send_collected();
    }
    if connection.is_broken() {
        Outcome::Close
    } else {
        Outcome::Dispatched
    }
}

/// Frees a large reply buffer, and any if memory is scarce.
#[cold]
fn fall_back(storage: &mut Vec<u8>, context: &ServerContext) {
    if storage.len() > MAX_RETAINED_BUFFER || context.budget.is_tight() {
        *storage = Vec::new();
    }
}

impl State {
    /// Serves any request, which may have `seams`; `rest` was received after it.
    pub(super) fn serve(
        &mut self,
        source: &Source<'_>,
        header: &MessageHeader,
        parts: Parts<'_>,
    ) -> Outcome {
        let Source {
            context,
            dispatcher,
            connection,
            ..
        } = *source;
        let (message, seams) = (parts.message, parts.seams);
        let mut following = Following {
            rest: parts.rest,
            continuation: parts.continuation,
            limit: self.known.limit,
        };
        let (head, after) = split_header(message);
        let mut arguments = header.reader(after);
        arguments.set_fragment_boundaries(seams);
        arguments.set_owner(Some(&context.owner));
        let Ok(request) = header.read_request(&head, &mut arguments) else {
            connection.send_message_error();
            return Outcome::Close;
        };
        let (mut refused, mut expiry, mut dedication) = (None, Expiry::NEVER, None);
        if !request.contexts.is_empty() {
            match connection.marker(context, &request.contexts) {
                Some(Marker::Due) => {
                    connection.send_collected();
                    self.known.marked = Some(message.to_vec());
                    return Outcome::Dedicated;
                }
                Some(Marker::Decided(reply)) => dedication = Some(reply.encode()),
                None => {}
            }
            (refused, expiry) = apply_contexts(&request, &mut following, source);
        }
        let format = following.continuation.code_sets.format(header.format());
        arguments.set_format(format);
        arguments.set_nesting(self.known.nesting);
        let asked = Asked {
            source,
            rest: following.rest,
            continuation: &mut *following.continuation,
            version: header.version,
            format,
            request_id: request.request_id,
            response: request.response,
        };
        let (Some(key), None) = (request.target.object_key(), refused) else {
            return asked.answer(self, |reply| refuse_request(reply, refused));
        };
        let incoming = IncomingRequest {
            context,
            key: &key,
            operation: request.operation,
            contexts: request.contexts,
            peer: Some(&**connection),
            response: request.response,
            expiry,
            lane: connection.lane(),
            decided: None,
        };
        let taken = asked.answer(self, |reply| {
            serve_with_reply_context(dispatcher, &incoming, &mut arguments, reply, dedication);
        });
        if taken == Outcome::Forwarded {
            return self.move_on(source, *header, (message, seams), following);
        }
        following.continuation.code_sets.end_message();
        taken
    }

    /// As `move_on`, for a plain request.
    #[cold]
    pub(super) fn move_plain_on(
        &mut self,
        source: &Source<'_>,
        message: &[u8],
        following: Following<'_>,
    ) -> Outcome {
        match message.first_chunk().and_then(MessageHeader::parse_any) {
            Some(header) if header.is_short() && Names::are_needed_for(message) => {
                self.move_numbered_on(source, message, following)
            }
            Some(header) => self.move_on(source, header, (message, &[]), following),
            None => Outcome::Close,
        }
    }

    /// Passes a request that was not begun to another lane.
    #[cold]
    pub(super) fn move_on(
        &mut self,
        source: &Source<'_>,
        header: MessageHeader,
        (message, seams): (&[u8], &[u32]),
        following: Following<'_>,
    ) -> Outcome {
        let Some((lane, decided)) = self.known.moved_to.take() else {
            return Outcome::Dispatched;
        };
        let pool = &LaneCore::of(&lane).pool;
        let Ok((octets, charge)) = copied(message, pool.room(), &source.context.budget) else {
            return match Refused::of(&header, message, Cause::NoMemory) {
                Some(refused) => refuse(source, &refused),
                None => unanswerable(source),
            };
        };
        let seams = seams.to_vec();
        let message = Assembled { octets, seams };
        let whole = Whole { message, charge };
        self.enqueue(source, pool, &header, whole, following, Some(decided))
    }
}
