// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages from a client: requests to servants, the others answered here.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_giop::codeset::{CodeSetContext, Negotiated};
use orbium_giop::{
    CancelRequest, Completion, ExceptionKind, FragmentError, HEADER_LEN, LocateRequest,
    LocateStatus, MessageHeader, MessageKind, Reassembly, RequestHeader, SystemException,
    begin_locate_reply, finish_message, service_context,
};
use orbium_sync::role::{Role, while_serving};

use crate::adapter::{Incoming, Located};
use crate::framing::{Framing, FramingError};
use crate::servant::{Reply, ReplyPath};
use crate::server::connection::ServerConnection;
use crate::{Limits, Orb};

/// A reply buffer larger than this is given back after the request.
const KEPT: usize = 1 << 20;

/// The receiving side of a connection.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) framing: Framing,
    storage: Vec<u8>,
    reassembly: Reassembly,
    negotiated: Negotiated,
    limit: usize,
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
    /// The connection is to be closed.
    Close,
}

/// Hands the reading of a connection to another thread.
pub(super) trait HandOver {
    /// Goes on reading with `intake` elsewhere; `false` if that cannot be.
    fn hand_over(&self, connection: &Arc<ServerConnection>, intake: Intake) -> bool;
}

/// The role of a thread that serves a request in the middle of reading.
struct Reading<'a> {
    connection: &'a Arc<ServerConnection>,
    reader: &'a dyn HandOver,
    /// Received behind the message being served.
    rest: &'a [u8],
    reassembly: RefCell<&'a mut Reassembly>,
    negotiated: Negotiated,
    limit: usize,
    handed_over: Cell<bool>,
}

impl Role for Reading<'_> {
    #[cold]
    fn hand_over(&self) {
        if self.handed_over.get() {
            return;
        }
        let intake = Intake {
            framing: Framing::with_octets(self.limit, self.rest.to_vec()),
            storage: Vec::new(),
            reassembly: std::mem::take(&mut **self.reassembly.borrow_mut()),
            negotiated: self.negotiated,
            limit: self.limit,
        };
        self.connection.begin_late();
        if self.reader.hand_over(self.connection, intake) {
            self.handed_over.set(true);
        } else {
            self.connection.end_late();
        }
    }
}

impl Intake {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            framing: Framing::new(limits.message_size),
            storage: Vec::new(),
            reassembly: Reassembly::new(limits.reassembly()),
            negotiated: Negotiated::DEFAULT,
            limit: limits.message_size,
        }
    }

    /// Deals with the next message that has arrived whole.
    #[inline]
    pub(super) fn take(
        &mut self,
        orb: &Orb,
        connection: &Arc<ServerConnection>,
        reader: &dyn HandOver,
    ) -> Taken {
        match self.framing.next() {
            Ok(Some(header)) if header.kind == MessageKind::Request && !header.more_fragments => {
                self.take_request(orb, connection, reader, &header)
            }
            Ok(Some(header)) => self.take_other(orb, connection, reader, &header),
            Ok(None) => Taken::None,
            Err(error) => refuse(connection, error),
        }
    }

    #[inline]
    fn take_request(
        &mut self,
        orb: &Orb,
        connection: &Arc<ServerConnection>,
        reader: &dyn HandOver,
        header: &MessageHeader,
    ) -> Taken {
        let (message, rest) = self.framing.split(header);
        let (reassembly, storage) = (&mut self.reassembly, &mut self.storage);
        let taken = serve(
            orb,
            connection,
            reader,
            header,
            message,
            rest,
            reassembly,
            storage,
            &mut self.negotiated,
            self.limit,
        );
        self.framing.consume(header);
        taken
    }

    #[cold]
    fn take_other(
        &mut self,
        orb: &Orb,
        connection: &Arc<ServerConnection>,
        reader: &dyn HandOver,
        header: &MessageHeader,
    ) -> Taken {
        if header.more_fragments || header.kind == MessageKind::Fragment {
            return self.take_fragment(orb, connection, reader, header);
        }
        let message = self.framing.message(header);
        let taken = single(orb, connection, header, message, &mut self.reassembly);
        self.framing.consume(header);
        taken
    }

    fn take_fragment(
        &mut self,
        orb: &Orb,
        connection: &Arc<ServerConnection>,
        reader: &dyn HandOver,
        header: &MessageHeader,
    ) -> Taken {
        let message = self.framing.message(header);
        let accepted = self.reassembly.accept(header, &message[HEADER_LEN..]);
        self.framing.consume(header);
        match accepted {
            Ok(None) => Taken::Done,
            // The rest of a request that was cancelled.
            Err(FragmentError::NothingToContinue(Some(_))) => Taken::Done,
            Err(error) => {
                tracing::debug!(peer = %connection.peer, %error, "bad fragment");
                connection.send_message_error();
                Taken::Close
            }
            Ok(Some(mut message)) => {
                let header = message
                    .first_chunk()
                    .and_then(|head| MessageHeader::parse(head).ok());
                let Some(header) = header else {
                    return Taken::Close;
                };
                if header.kind != MessageKind::Request {
                    return single(orb, connection, &header, &mut message, &mut self.reassembly);
                }
                let rest = self.framing.received();
                serve(
                    orb,
                    connection,
                    reader,
                    &header,
                    &mut message,
                    rest,
                    &mut self.reassembly,
                    &mut self.storage,
                    &mut self.negotiated,
                    self.limit,
                )
            }
        }
    }
}

#[cold]
fn refuse(connection: &ServerConnection, error: FramingError) -> Taken {
    tracing::debug!(peer = %connection.peer, ?error, "not a message");
    connection.send_message_error();
    Taken::Close
}

/// Serves one request.
#[inline]
#[allow(clippy::too_many_arguments)]
fn serve(
    orb: &Orb,
    connection: &Arc<ServerConnection>,
    reader: &dyn HandOver,
    header: &MessageHeader,
    message: &mut [u8],
    rest: &[u8],
    reassembly: &mut Reassembly,
    storage: &mut Vec<u8>,
    negotiated: &mut Negotiated,
    limit: usize,
) -> Taken {
    let mut arguments = header
        .reader(&mut message[HEADER_LEN..])
        .with_owner(Some(orb.owner()));
    let Ok(request) = RequestHeader::read(&mut arguments, header.format().minor) else {
        connection.send_message_error();
        return Taken::Close;
    };
    let mut incompatible = false;
    if !request.contexts.is_empty() {
        if let Some(data) = request.contexts.find(service_context::CODE_SETS) {
            match CodeSetContext::decode(data).map(Negotiated::from_context) {
                Ok(Ok(agreed)) => *negotiated = agreed,
                _ => incompatible = true,
            }
        }
    }
    let format = Format {
        order: header.order,
        minor: header.format().minor,
        char_set: negotiated.char_set,
        wide_set: negotiated.wide_set,
    };
    arguments.set_format(format);
    let path = Path {
        connection,
        request_id: request.request_id,
    };
    let mut reply = Reply {
        path: &path,
        storage,
        version: header.version,
        request_id: request.request_id,
        format,
        response: request.response,
        answered: false,
    };
    let key = match request.target.object_key() {
        Some(key) if !incompatible => key,
        _ => {
            let exception = if incompatible {
                SystemException::omg(ExceptionKind::CodesetIncompatible, 2, Completion::No)
            } else {
                SystemException::omg(ExceptionKind::ObjectNotExist, 2, Completion::No)
            };
            if request.response.expects_reply() {
                reply.system_exception(exception);
            }
            return Taken::Done;
        }
    };
    let incoming = Incoming {
        orb,
        key: &key,
        operation: request.operation,
        contexts: request.contexts,
        peer: Some(&connection.peer),
        response: request.response,
        arguments,
    };
    let role = Reading {
        connection,
        reader,
        rest,
        reassembly: RefCell::new(reassembly),
        negotiated: *negotiated,
        limit,
        handed_over: Cell::new(false),
    };
    while_serving(&role, || incoming.serve(&mut reply));
    if reply.storage.len() > KEPT {
        *reply.storage = Vec::new();
    }
    if role.handed_over.get() {
        connection.end_late();
        return Taken::HandedOver;
    }
    if connection.is_broken() {
        Taken::Close
    } else {
        Taken::Done
    }
}

/// Where a reply goes, unless the client has cancelled the request.
struct Path<'c> {
    connection: &'c ServerConnection,
    request_id: u32,
}

impl ReplyPath for Path<'_> {
    #[inline]
    fn send(&self, message: &CdrWriter<'_>) {
        if !self.connection.was_cancelled(self.request_id) {
            self.connection.send(message);
        }
    }
}

/// A message other than a request.
fn single(
    orb: &Orb,
    connection: &ServerConnection,
    header: &MessageHeader,
    message: &mut [u8],
    reassembly: &mut Reassembly,
) -> Taken {
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    match header.kind {
        MessageKind::LocateRequest => {
            match LocateRequest::read(&mut reader, header.format().minor) {
                Ok(request) => {
                    answer_locate(orb, connection, header, &request);
                    return Taken::Done;
                }
                Err(error) => tracing::debug!(peer = %connection.peer, %error, "bad LocateRequest"),
            }
        }
        MessageKind::CancelRequest => match CancelRequest::read(&mut reader) {
            Ok(cancel) => {
                reassembly.cancel(cancel.request_id);
                connection.cancel(cancel.request_id);
                return Taken::Done;
            }
            Err(error) => tracing::debug!(peer = %connection.peer, %error, "bad CancelRequest"),
        },
        // The peer has given up on us, or ends the connection.
        MessageKind::CloseConnection | MessageKind::MessageError => return Taken::Close,
        kind => tracing::debug!(peer = %connection.peer, ?kind, "unexpected message"),
    }
    connection.send_message_error();
    Taken::Close
}

fn answer_locate(
    orb: &Orb,
    connection: &ServerConnection,
    header: &MessageHeader,
    request: &LocateRequest<'_>,
) {
    let status = match request.target.object_key() {
        Some(key) if orb.locate(&key) == Located::Here => LocateStatus::ObjectHere,
        _ => LocateStatus::UnknownObject,
    };
    let format = Format::plain(ByteOrder::NATIVE, header.format().minor);
    let mut writer = CdrWriter::new(format);
    let start = begin_locate_reply(&mut writer, header.version, request.request_id, status);
    finish_message(&mut writer, start);
    connection.send(&writer);
}
