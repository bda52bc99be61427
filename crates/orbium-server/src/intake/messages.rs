// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from a client: requests to servants, the others answered here.

use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrWriter, Encode, Format};
use orbium_channel::connection::{Event, Violation};
use orbium_giop::numbers::Names;
use orbium_giop::{
    HEADER_LEN, LocateRequest, LocateStatus, MessageHeader, MessageKind, PlainRequest,
    SystemExceptionBody, begin_locate_reply, finish_message,
};

use super::refusing::{refuse, violated};
use super::source::Source;
use super::state::Intake;
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
        match self.giop.next_plain_request() {
            Some(header) => self.take_plain(source, header, |message| {
                PlainRequest::find(&message[HEADER_LEN..], header.order)
            }),
            None => self.take_any(source),
        }
    }

    /// Serves the request with that message header, if `find` says that there is nothing
    /// unusual about it: then nothing of the header is looked at again.
    #[inline(always)]
    fn take_plain(
        &mut self,
        source: &Source<'_>,
        header: MessageHeader,
        find: impl FnOnce(&[u8]) -> Option<PlainRequest>,
    ) -> Outcome {
        orbium_trace::probe!(TransportReceive);
        let parts = self.giop.plain_parts(&header);
        let outcome = match find(parts.message) {
            Some(request) if !source.context.observes_requests() => {
                self.state.serve_plain(source, header, request, parts, None)
            }
            _ => return self.take_request(source, header),
        };
        self.giop.consume_plain(&header);
        outcome
    }

    /// As `take`, for whatever it may be.
    #[inline(never)]
    fn take_any(&mut self, source: &Source<'_>) -> Outcome {
        if let Some(header) = self.giop.next_short_request() {
            if !Names::are_needed_for(self.giop.plain_parts(&header).message) {
                return self.take_plain(source, header, PlainRequest::find_short_native);
            }
            orbium_trace::probe!(TransportReceive);
            let parts = self.giop.plain_parts(&header);
            let outcome = self.state.serve_numbered(source, header, parts);
            self.giop.consume_plain(&header);
            return outcome;
        }
        match self.giop.next(&Instant::now) {
            Ok(Some(Event::Message(header))) if header.kind == MessageKind::Request => {
                orbium_trace::probe!(TransportReceive);
                self.take_request(source, header)
            }
            Ok(Some(event)) => self.take_other(source, event),
            Ok(None) => Outcome::Incomplete,
            Err(violation) => violated(source, violation),
        }
    }

    #[inline(never)]
    fn take_request(&mut self, source: &Source<'_>, header: MessageHeader) -> Outcome {
        let header = &header;
        let in_fragments = self.giop.came_in_fragments();
        if let (true, Some(sink)) = (in_fragments, source.reader.sink()) {
            return self.put(source, header, sink);
        }
        let mut outcome = self.state.serve(source, header, self.giop.parts(header));
        // In fragments it is no message that could be read again.
        if in_fragments && outcome == Outcome::Dedicated {
            self.state.known.marked = None;
            outcome = match self.state.serve(source, header, self.giop.parts(header)) {
                Outcome::Dispatched => Outcome::ThreadGranted,
                other => other,
            };
        }
        self.giop.consume(header);
        outcome
    }

    /// Deals with what is no request.
    #[cold]
    pub(super) fn take_other(&mut self, source: &Source<'_>, event: Event) -> Outcome {
        match event {
            Event::Message(header) => self.take_locate(source, &header),
            Event::Cancel(request_id) => {
                source.connection.cancel(request_id);
                Outcome::Dispatched
            }
            Event::Refused(refused) => refuse(source, &refused),
            Event::Fragment => Outcome::Dispatched,
            // The peer has given up on us, or ends the connection.
            Event::Close | Event::MessageError => Outcome::Close,
        }
    }

    fn take_locate(&mut self, source: &Source<'_>, header: &MessageHeader) -> Outcome {
        let (message, seams) = self.giop.message(header);
        let mut reader = header.reader(&mut message[HEADER_LEN..]);
        reader.set_fragment_boundaries(seams);
        let outcome = match LocateRequest::read(&mut reader, header.format().minor) {
            Ok(request) => {
                answer_locate(source.dispatcher, source.connection, header, &request);
                Outcome::Dispatched
            }
            Err(error) => violated(source, Violation::Malformed(error)),
        };
        self.giop.consume(header);
        outcome
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
