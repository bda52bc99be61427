// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from a client: requests to servants, the others answered here.

use std::time::Instant;

use orbium_cdr::{ByteOrder, CdrWriter, Encode, Format};
use orbium_channel::connection::{Event, Violation};
use orbium_giop::{
    GiopRequests, HEADER_LEN, LocateRequest, LocateStatus, MessageHeader, MessageKind,
    NumberedRequests, RequestForm, ShortRequests, SystemExceptionBody, UsualForm,
    begin_locate_reply, finish_message,
};

use super::refusing::{refuse, violated};
use super::source::Source;
use super::state::Intake;
use crate::ServerConnection;
use crate::message_outcome::Outcome;
use orbium_request::{Dispatcher, Located};

impl Intake {
    /// Processes the next complete message.
    #[inline]
    pub(crate) fn take(&mut self, source: &Source<'_>) -> Outcome {
        match self.giop.usual_form() {
            UsualForm::Giop => self.take_one::<GiopRequests>(source),
            UsualForm::Short => self.take_one::<ShortRequests<false>>(source),
            UsualForm::Native => self.take_one::<ShortRequests<true>>(source),
            UsualForm::Numbered => self.take_one::<NumberedRequests>(source),
        }
    }

    fn take_one<F: RequestForm>(&mut self, source: &Source<'_>) -> Outcome {
        self.take_within::<F>(source)
    }

    /// As `take`, for connections with mostly requests of that form, inlined into the caller's
    /// loop, which shares much of its state.
    #[inline(always)]
    pub(crate) fn take_within<F: RequestForm>(&mut self, source: &Source<'_>) -> Outcome {
        match self.take_plain::<F>(source) {
            Some(outcome) => outcome,
            None => self.take_other_form(source),
        }
    }

    /// Serves the next message, if it begins as a request of that form; in the plain case, its
    /// header is parsed only once.
    #[inline(always)]
    fn take_plain<F: RequestForm>(&mut self, source: &Source<'_>) -> Option<Outcome> {
        let parts = self.giop.next_request::<F>()?;
        orbium_trace::probe!(TransportReceive);
        let octets = parts.message.len();
        let Some(outcome) = self.state.serve_plain::<F>(source, parts) else {
            return Some(self.take_unusual(source));
        };
        self.giop.consume_plain(octets);
        Some(outcome)
    }

    /// Serves the next message, if it is a GIOP request with a relative time-out and otherwise
    /// plain.
    #[inline]
    fn take_before_deadline(&mut self, source: &Source<'_>) -> Option<Outcome> {
        let parts = self.giop.next_request::<GiopRequests>()?;
        let octets = parts.message.len();
        let outcome = self.state.serve_before_deadline(source, parts)?;
        self.giop.consume_plain(octets);
        Some(outcome)
    }

    /// Processes a complete request that begins as a plain one but is not plain.
    fn take_unusual(&mut self, source: &Source<'_>) -> Outcome {
        if let Some(outcome) = self.take_before_deadline(source) {
            return outcome;
        }
        let head = self.giop.received().first_chunk();
        match head.and_then(MessageHeader::plain_request) {
            Some(header) => {
                orbium_trace::probe!(TransportReceive);
                self.take_request(source, header)
            }
            None => self.take_any(source),
        }
    }

    /// As `take`, for a message that does not begin as most requests of the connection: with short
    /// headers some have GIOP headers, and with numbers some have names.
    fn take_other_form(&mut self, source: &Source<'_>) -> Outcome {
        let form = self.giop.usual_form();
        if form != UsualForm::Giop
            && let Some(outcome) = self.take_plain::<GiopRequests>(source)
        {
            return outcome;
        }
        if form == UsualForm::Numbered
            && let Some(outcome) = self.take_plain::<ShortRequests<false>>(source)
        {
            return outcome;
        }
        self.take_any(source)
    }

    /// As `take`, for any message.
    fn take_any(&mut self, source: &Source<'_>) -> Outcome {
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

    fn take_request(&mut self, source: &Source<'_>, header: MessageHeader) -> Outcome {
        let header = &header;
        let in_fragments = self.giop.came_in_fragments();
        if let (true, Some(sink)) = (in_fragments, source.reader.sink()) {
            return self.put(source, header, sink);
        }
        let mut outcome = self.state.serve(source, header, self.giop.parts(header));
        // A fragmented message cannot be read again.
        if in_fragments && outcome == Outcome::Dedicated {
            self.state.known.marked = None;
            outcome = match self.state.serve(source, header, self.giop.parts(header)) {
                Outcome::Dispatched => Outcome::ThreadGranted,
                other => other,
            };
        }
        self.giop.consume(header);
        self.giop.follow();
        outcome
    }

    /// Processes a message other than a request.
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
            // The peer has given up, or closes the connection.
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
        Located::At(_, true) if minor >= 2 => LocateStatus::ObjectForwardPerm,
        Located::At(..) => LocateStatus::ObjectForward,
        Located::NotYet(_) if minor >= 2 => LocateStatus::SystemException,
        // These versions have no status for it: the request will be answered accordingly.
        Located::NotYet(_) => LocateStatus::ObjectHere,
    };
    let format = Format::plain(ByteOrder::NATIVE, minor);
    let mut writer = CdrWriter::new(format);
    let start = begin_locate_reply(&mut writer, header.version, request.request_id, status);
    match &located {
        Located::At(to, _) => to.encode(&mut writer),
        Located::NotYet(exception) if minor >= 2 => {
            SystemExceptionBody::from(*exception).write(&mut writer);
        }
        _ => {}
    }
    finish_message(&mut writer, start);
    connection.reply(&writer);
}
