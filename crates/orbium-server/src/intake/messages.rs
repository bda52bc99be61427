// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from a client: requests to servants, the others answered here.

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrWriter, Encode, Format};
use orbium_channel::framing::FramingError;
use orbium_giop::{
    Assembled, CancelRequest, FragmentError, HEADER_LEN, LocateRequest, LocateStatus,
    MessageHeader, MessageKind, SystemExceptionBody, begin_locate_reply, finish_message,
};

use super::oversized;
use super::source::Source;
use super::state::{Intake, State};
use super::whole::Whole;
use crate::outcome::Outcome;
use crate::{Dispatcher, Located, ServerConnection};

impl Intake {
    /// Deals with the next message that has arrived whole.
    #[inline(never)]
    pub(crate) fn take(&mut self, source: &Source<'_>) -> Outcome {
        self.take_within(source)
    }

    /// As `take`, as part of the caller's loop: it has much to do with what is
    /// known there.
    #[inline(always)]
    pub(crate) fn take_within(&mut self, source: &Source<'_>) -> Outcome {
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
    fn take_any(&mut self, source: &Source<'_>) -> Outcome {
        if let Some(header) = self.framing.next_short_request() {
            orbium_trace::probe!(TransportReceive);
            let (message, rest) = self.framing.split(&header);
            let taken = self.state.serve_short(source, &header, message, rest);
            self.framing.consume(&header);
            return taken;
        }
        match self.framing.next() {
            Ok(Some(header)) if header.kind == MessageKind::Request && !header.more_fragments => {
                orbium_trace::probe!(TransportReceive);
                let (message, rest) = self.framing.split(&header);
                let taken = self.state.serve(source, &header, message, &[], rest);
                self.framing.consume(&header);
                taken
            }
            Ok(Some(header)) => self.take_other(source, &header),
            Ok(None) => Outcome::Incomplete,
            Err(FramingError::NoMemory) => self.refuse_for_memory(source),
            Err(error) => self.refuse(source, error),
        }
    }

    #[cold]
    pub(super) fn take_other(&mut self, source: &Source<'_>, header: &MessageHeader) -> Outcome {
        if header.more_fragments || header.kind == MessageKind::Fragment {
            return self.take_fragment(source, header);
        }
        let message = self.framing.message(header);
        let taken = self.state.single(source, header, message);
        self.framing.consume(header);
        taken
    }

    fn take_fragment(&mut self, source: &Source<'_>, header: &MessageHeader) -> Outcome {
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
            return Outcome::Close;
        }
        match accepted {
            // With an id it is the rest of a request that was cancelled.
            Ok(None) | Err(FragmentError::NothingToContinue(Some(_))) => Outcome::Dispatched,
            // What else comes of it continues nothing.
            Err(FragmentError::MessageTooLarge(Some(id))) => {
                oversized::log_refusal(source, &"fragments exceed `limits.message_size`");
                oversized::count(source);
                if self.state.known.reassembly.dropped_expects_reply() {
                    oversized::too_large(source.connection, header.version, id);
                }
                Outcome::Dispatched
            }
            Err(error) => {
                crate::log::debug!(target: "orbium::wire", peer = %source.connection.peer(), %error, "bad fragment");
                source.connection.send_message_error();
                Outcome::Close
            }
            Ok(Some(whole)) => {
                let taken = self.take_assembled(source, whole);
                self.charge_assembly();
                taken
            }
        }
    }

    /// Deals with a message that came in fragments.
    fn take_assembled(&mut self, source: &Source<'_>, whole: Assembled) -> Outcome {
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
                            Outcome::Dedicated => {
                                state.known.marked = None;
                                match state.serve(source, &header, &mut octets, &seams, rest) {
                                    Outcome::Dispatched => Outcome::ThreadGranted,
                                    other => other,
                                }
                            }
                            taken => taken,
                        }
                    }
                    Some(header) => self.state.single(source, &header, &mut octets),
                    None => Outcome::Close,
                }
            }
        }
    }
}

impl State {
    /// Deals with a message other than a request.
    fn single(
        &mut self,
        source: &Source<'_>,
        header: &MessageHeader,
        message: &mut [u8],
    ) -> Outcome {
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
            MessageKind::CloseConnection | MessageKind::MessageError => return Outcome::Close,
            _ => Some(reader.error(CdrErrorKind::BadDiscriminator)),
        };
        let Some(error) = malformed else {
            return Outcome::Dispatched;
        };
        crate::log::debug!(target: "orbium::wire", peer = %connection.peer(), kind = ?header.kind, %error, "bad message");
        connection.send_message_error();
        Outcome::Close
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
