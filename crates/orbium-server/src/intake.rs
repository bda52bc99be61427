// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from a client: requests to servants, the others answered here.

mod arriving;
mod dedication_reply;
mod gated;
mod oversized;
mod queued;
mod request;
mod scarce;

use std::sync::Arc;
use std::time::Duration;

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrWriter, Encode, Format};
use orbium_channel::framing::{Framing, FramingError};
use orbium_channel::peer_memory::Charge;
use orbium_giop::codeset::Negotiated;
use orbium_giop::{
    Assembled, CancelRequest, FragmentError, HEADER_LEN, LocateRequest, LocateStatus,
    MessageHeader, MessageKind, Reassembly, SystemExceptionBody, begin_locate_reply,
    finish_message,
};
use orbium_transport::{ByteStream, Deadline};

use crate::connection::ServerConnection;
use crate::lane::Decided;
use crate::lane::Lane;
use crate::{Dispatcher, Located, ServerContext};
use arriving::Whole;
pub(super) use queued::Answering;
pub(super) use queued::{Queued, Sink};

/// The receiving side of a connection.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) framing: Framing,
    state: State,
}

/// State of a connection, without the receive buffer.
#[derive(Debug)]
struct State {
    /// The buffer for replies.
    storage: Vec<u8>,
    known: Known,
}

/// The part of it that goes with the reading, to another thread too.
#[derive(Debug)]
struct Known {
    reassembly: Reassembly,
    /// For the messages in assembly.
    assembly_charge: Charge,
    negotiated: Negotiated,
    /// Code sets are agreed for one message alone.
    agrees_anew: bool,
    limit: usize,
    nesting: u16,
    /// Time a peer may take to complete a message.
    message_time: Duration,
    /// Until when a message in assembly must be complete.
    assembly: Option<Deadline>,
    /// The lane that is to serve the current request.
    moved_to: Option<(Lane, Decided)>,
    /// A request that the connection's own thread is to deal with.
    marked: Option<Vec<u8>>,
}

/// Where messages come from, and which threads continue reading if a servant blocks.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) context: &'s ServerContext,
    pub(super) dispatcher: &'s dyn Dispatcher,
    pub(super) connection: &'s Arc<ServerConnection>,
    pub(super) reader: &'s dyn HandOver,
}

impl<'s> Source<'s> {
    /// The messages of a connection, which a thread reads for an ORB.
    pub(super) fn new(
        dispatcher: &'s dyn Dispatcher,
        connection: &'s Arc<ServerConnection>,
        reader: &'s dyn HandOver,
    ) -> Self {
        Self {
            context: dispatcher.context(),
            dispatcher,
            connection,
            reader,
        }
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It was dealt with; the next may follow.
    Done,
    /// No whole message is there.
    None,
    /// It was dealt with, but the reading is another thread's now.
    HandedOver,
    /// Another lane is to serve it.
    Moved,
    /// It waits for a place in a queue; nothing more is to be read before it has one.
    Waits,
    /// It was dealt with; what follows is for a thread of the connection's own.
    Granted,
    /// That thread is to deal with it.
    Marked,
    /// The connection is to be closed.
    Close,
}

/// Hands the reading of a connection to another thread.
pub(super) trait HandOver {
    /// Goes on reading with `intake` elsewhere; `false` if that cannot be.
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool;

    /// As `hand_over`, but this thread goes on with it while it waits for a
    /// reply, if it can.
    fn keep(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool {
        self.hand_over(connection, intake)
    }

    /// What was kept goes to another thread after all.
    fn let_go(&self) {}

    /// The queue for requests that the reading thread does not serve itself.
    fn sink(&self) -> Option<&dyn Sink> {
        None
    }
}

impl Intake {
    pub(super) fn new(context: &ServerContext, stream: &dyn ByteStream) -> Self {
        let (limits, budget) = (&context.limits, &context.budget);
        Self {
            framing: Framing::new(limits.message_size, budget),
            state: State {
                storage: Vec::new(),
                known: Known {
                    reassembly: Reassembly::new(limits.reassembly()),
                    assembly_charge: budget.charge(),
                    negotiated: Negotiated::DEFAULT,
                    agrees_anew: stream.has_many_peers(),
                    limit: limits.message_size,
                    nesting: limits.nesting,
                    message_time: limits.message_time,
                    assembly: None,
                    moved_to: None,
                    marked: None,
                },
            },
        }
    }

    /// Deals with the next message that has arrived whole.
    #[inline(never)]
    pub(super) fn take(&mut self, source: &Source<'_>) -> Taken {
        self.take_within(source)
    }

    /// As `take`, as part of the caller's loop: it has much to do with what is
    /// known there.
    #[inline(always)]
    pub(super) fn take_within(&mut self, source: &Source<'_>) -> Taken {
        let Some(header) = self.framing.next_plain_request() else {
            return self.take_any(source);
        };
        orbium_trace::probe!(TransportReceive);
        let (message, rest) = self.framing.split(&header);
        let taken = self.state.serve_plain(source, &header, message, rest);
        self.framing.consume(&header);
        taken
    }

    /// As `take`, for whatever it may be.
    #[inline(never)]
    fn take_any(&mut self, source: &Source<'_>) -> Taken {
        match self.framing.next() {
            Ok(Some(header)) if header.kind == MessageKind::Request && !header.more_fragments => {
                orbium_trace::probe!(TransportReceive);
                let (message, rest) = self.framing.split(&header);
                let taken = self.state.serve(source, &header, message, &[], rest);
                self.framing.consume(&header);
                taken
            }
            Ok(Some(header)) => self.take_other(source, &header),
            Ok(None) => Taken::None,
            Err(FramingError::NoMemory) => self.refuse_for_memory(source),
            Err(error) => self.refuse(source, error),
        }
    }

    /// Puts a request back that another thread is to deal with.
    #[cold]
    pub(super) fn put_marked_back(&mut self) {
        if let Some(mut octets) = self.state.known.marked.take() {
            octets.extend_from_slice(self.framing.received());
            let limit = self.state.known.limit;
            self.framing = Framing::with_octets(limit, octets, self.framing.budget());
        }
    }

    /// Whether a message has begun and is not complete.
    pub(super) fn is_unfinished(&self) -> bool {
        self.framing.is_partial() || self.state.known.assembly.is_some()
    }

    /// Whether a message has been in assembly for too long.
    pub(super) fn is_assembly_late(&self) -> bool {
        self.state.known.assembly.is_some_and(Deadline::has_passed)
    }

    #[cold]
    fn take_other(&mut self, source: &Source<'_>, header: &MessageHeader) -> Taken {
        if header.more_fragments || header.kind == MessageKind::Fragment {
            return self.take_fragment(source, header);
        }
        let message = self.framing.message(header);
        let taken = self.state.single(source, header, message);
        self.framing.consume(header);
        taken
    }

    fn take_fragment(&mut self, source: &Source<'_>, header: &MessageHeader) -> Taken {
        if self.charge_fragment(header).is_err() {
            return self.refuse_fragment(source, header);
        }
        let message = self.framing.message(header);
        let accepted = self
            .state
            .known
            .reassembly
            .accept(header, &message[HEADER_LEN..]);
        self.framing.consume(header);
        self.state.watch_assembly(matches!(accepted, Ok(Some(_))));
        if !matches!(accepted, Ok(Some(_))) {
            self.charge_assembly();
        }
        if self.is_assembly_late() {
            crate::log::debug!(target: "orbium::wire", peer = %source.connection.peer(), "fragments not completed in time");
            return Taken::Close;
        }
        match accepted {
            // With an id it is the rest of a request that was cancelled.
            Ok(None) | Err(FragmentError::NothingToContinue(Some(_))) => Taken::Done,
            // What else comes of it continues nothing.
            Err(FragmentError::MessageTooLarge(Some(id))) => {
                oversized::log_refusal(source, &"fragments exceed `limits.message_size`");
                oversized::count(source);
                if self.state.known.reassembly.dropped_expects_reply() {
                    oversized::too_large(source.connection, header.version, id);
                }
                Taken::Done
            }
            Err(error) => {
                crate::log::debug!(target: "orbium::wire", peer = %source.connection.peer(), %error, "bad fragment");
                source.connection.send_message_error();
                Taken::Close
            }
            Ok(Some(whole)) => {
                let taken = self.take_assembled(source, whole);
                self.charge_assembly();
                taken
            }
        }
    }

    /// Deals with a message that came in fragments.
    fn take_assembled(&mut self, source: &Source<'_>, whole: Assembled) -> Taken {
        let Assembled { mut octets, seams } = whole;
        {
            {
                let header = octets
                    .first_chunk()
                    .and_then(|head| MessageHeader::parse(head).ok());
                match header {
                    Some(header) if header.kind == MessageKind::Request => {
                        if let Some(sink) = source.reader.sink() {
                            let charge = std::mem::replace(
                                &mut self.state.known.assembly_charge,
                                source.context.budget.charge(),
                            );
                            let whole = Whole {
                                octets,
                                seams,
                                charge,
                            };
                            return self.state.enqueue(source, sink, &header, whole, None);
                        }
                        let rest = self.framing.received();
                        let state = &mut self.state;
                        match state.serve(source, &header, &mut octets, &seams, rest) {
                            // In one piece it is no message that could be read again.
                            Taken::Marked => {
                                state.known.marked = None;
                                match state.serve(source, &header, &mut octets, &seams, rest) {
                                    Taken::Done => Taken::Granted,
                                    other => other,
                                }
                            }
                            taken => taken,
                        }
                    }
                    Some(header) => self.state.single(source, &header, &mut octets),
                    None => Taken::Close,
                }
            }
        }
    }
}

#[cold]
fn refuse(connection: &ServerConnection, error: FramingError) -> Taken {
    crate::log::debug!(target: "orbium::wire", peer = %connection.peer(), %error, "not a message");
    connection.send_message_error();
    Taken::Close
}

impl State {
    /// Starts, renews or ends the time for messages in assembly.
    fn watch_assembly(&mut self, completed: bool) {
        if self.known.reassembly.is_empty() {
            self.known.assembly = None;
        } else if completed || self.known.assembly.is_none() {
            self.known.assembly = Some(Deadline::after(Some(self.known.message_time)));
        }
    }

    /// Deals with a message other than a request.
    fn single(&mut self, source: &Source<'_>, header: &MessageHeader, message: &mut [u8]) -> Taken {
        let Source {
            dispatcher,
            connection,
            ..
        } = *source;
        let mut reader = header.reader(&mut message[HEADER_LEN..]);
        let malformed = match header.kind {
            MessageKind::LocateRequest => LocateRequest::read(&mut reader, header.format().minor)
                .map(|request| answer_locate(dispatcher, connection, header, &request))
                .err(),
            MessageKind::CancelRequest => CancelRequest::read(&mut reader)
                .map(|cancel| {
                    self.known.reassembly.cancel(cancel.request_id);
                    connection.cancel(cancel.request_id);
                })
                .err(),
            // The peer has given up on us, or ends the connection.
            MessageKind::CloseConnection | MessageKind::MessageError => return Taken::Close,
            _ => Some(reader.error(CdrErrorKind::BadDiscriminator)),
        };
        let Some(error) = malformed else {
            return Taken::Done;
        };
        crate::log::debug!(target: "orbium::wire", peer = %connection.peer(), kind = ?header.kind, %error, "bad message");
        connection.send_message_error();
        Taken::Close
    }
}

fn answer_locate(
    dispatcher: &dyn Dispatcher,
    connection: &ServerConnection,
    header: &MessageHeader,
    request: &LocateRequest<'_>,
) {
    let located = match request.target.object_key() {
        Some(key) => dispatcher.locate(&key),
        None => Located::Unknown,
    };
    let minor = header.format().minor;
    let status = match &located {
        Located::Here => LocateStatus::ObjectHere,
        Located::Unknown => LocateStatus::UnknownObject,
        Located::At(_) => LocateStatus::ObjectForward,
        Located::NotYet(_) if minor >= 2 => LocateStatus::SystemException,
        // No status of these versions says so: the request will be answered so.
        Located::NotYet(_) => LocateStatus::ObjectHere,
    };
    let format = Format::plain(ByteOrder::NATIVE, minor);
    let mut writer = CdrWriter::new(format);
    let start = begin_locate_reply(&mut writer, header.version, request.request_id, status);
    match &located {
        Located::At(to) => to.encode(&mut writer),
        Located::NotYet(exception) if minor >= 2 => {
            SystemExceptionBody::from(*exception).write(&mut writer);
        }
        _ => {}
    }
    finish_message(&mut writer, start);
    connection.reply(&writer);
}
