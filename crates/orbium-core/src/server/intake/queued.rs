// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests taken out of the stream whole, to be served by another thread.

use std::sync::Arc;

use orbium_cdr::{CdrWriter, Format};
use orbium_giop::codeset::Negotiated;
use orbium_giop::{
    CancelRequest, Completion, ExceptionKind, HEADER_LEN, MessageHeader, MessageKind, ReplyStatus,
    RequestHeader, ResponseFlags, SystemException,
};
use orbium_sync::role::{Role, while_serving};

use super::request::refuse_request;
use super::telling::serve_and_tell;
use super::{Intake, Source, State, Taken, refuse};
use crate::adapter::{Expiry, Incoming};
use crate::dispatch_hook::asked_priority;
use crate::lane::{Decided, Place, QueueRoom, Route, SETTLED};
use crate::servant::{Reply, ReplyPath};
use crate::server::connection::ServerConnection;
use crate::server::own_thread::Marker;
use crate::{Orb, Priority};

/// Takes requests that wait to be served.
pub(in crate::server) trait Sink {
    /// Takes one; gives it back if there is no room for it.
    fn put(&self, request: Queued) -> Result<(), Box<Queued>>;

    /// A buffer for the octets of one.
    fn room(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Drops the request of that id if it was not begun; whether it was there.
    fn cancel(&self, connection: u64, request_id: u32) -> bool;
}

/// Is told that an answer is about to go out.
pub(in crate::server) trait Answering {
    fn answers(&self);
}

/// A reply of this connection is still to come: it stays open for that.
#[derive(Debug)]
struct Late(Arc<ServerConnection>);

impl Late {
    fn new(connection: &Arc<ServerConnection>) -> Self {
        connection.begin_late();
        Self(Arc::clone(connection))
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.0.end_late();
    }
}

/// A request that waits. Dropped, it was not begun.
#[derive(Debug)]
pub(in crate::server) struct Queued {
    late: Late,
    pub(super) header: MessageHeader,
    pub(super) octets: Vec<u8>,
    seams: Vec<u32>,
    request_id: u32,
    response: ResponseFlags,
    priority: i16,
    /// What was found out when it arrived.
    decided: Option<Decided>,
    /// The code sets are those that held when it arrived.
    format: Format,
    nesting: u16,
    /// What it asks of the connection that is not there.
    refused: Option<SystemException>,
    /// Counted from its arrival: waiting in a queue takes of its time.
    expiry: Expiry,
    /// Its place in what several lanes have room for together.
    place: Option<Place>,
}

impl Queued {
    /// Takes a place of several lanes' room; `false` if there is none.
    pub(in crate::server) fn enter(&mut self, room: &QueueRoom) -> bool {
        self.place = room.enter(self.octets.len());
        self.place.is_some()
    }

    /// It waits no longer: others may.
    pub(in crate::server) fn begin(&mut self) {
        self.place = None;
    }

    /// CORBA priority: higher goes first.
    pub(in crate::server) fn priority(&self) -> i16 {
        self.priority
    }

    /// Whether the client goes on before this is done.
    pub(in crate::server) fn is_oneway(&self) -> bool {
        self.response != ResponseFlags::Full
    }

    /// Octets held.
    pub(in crate::server) fn len(&self) -> usize {
        self.octets.len()
    }

    pub(in crate::server) fn connection(&self) -> &ServerConnection {
        &self.late.0
    }

    /// Whether its client has cancelled it.
    pub(in crate::server) fn was_cancelled(&self) -> bool {
        self.connection().was_cancelled(self.request_id)
    }

    /// Whether this is that request.
    pub(in crate::server) fn is(&self, connection: u64, request_id: u32) -> bool {
        self.connection().id == connection && self.request_id == request_id
    }

    /// Serves the request in the knowledge that this thread has that priority
    /// and holds `role`; gives the buffer of its octets back.
    pub(in crate::server) fn serve(
        mut self,
        orb: &Orb,
        priority: Option<Priority>,
        role: &(impl Role + Answering),
        storage: &mut Vec<u8>,
    ) -> Vec<u8> {
        let connection = &self.late.0;
        let mut arguments = self.header.reader(&mut self.octets[HEADER_LEN..]);
        arguments.set_seams(&self.seams);
        arguments.set_owner(Some(orb.owner()));
        // It was read before, so it can be.
        if let Ok(request) = RequestHeader::read(&mut arguments, self.header.format().minor) {
            arguments.set_format(self.format);
            arguments.set_nesting(self.nesting);
            let path = Answer {
                connection,
                request_id: self.request_id,
                thread: Some(role),
            };
            let mut reply = Reply::new(
                &path,
                storage,
                self.header.version,
                self.request_id,
                self.format,
                self.response,
            );
            let key = request.target.object_key();
            let told = match connection.marker(orb, &request.contexts) {
                Some(Marker::Told(reply)) => Some(reply.encode()),
                _ => None,
            };
            while_serving(role, || match (key, self.refused) {
                (Some(key), None) => {
                    let incoming = Incoming {
                        orb,
                        key: &key,
                        operation: request.operation,
                        contexts: request.contexts,
                        peer: Some(connection),
                        response: self.response,
                        expiry: self.expiry,
                        lane: self.decided.map_or_else(|| connection.lane(), |_| SETTLED),
                        decided: self.decided.as_ref(),
                    };
                    serve_and_tell(&incoming, arguments, &mut reply, told);
                }
                (_, refused) => refuse_request(&mut reply, refused),
            });
        }
        if crate::priority::current() != priority {
            crate::lane::thread::restore();
        }
        // Whether cancelled or not: the id may come again.
        connection.was_cancelled(self.request_id);
        self.octets
    }

    /// Answers that there is no room for the request, which was not begun.
    #[cold]
    pub(in crate::server) fn refuse(&self) {
        self.refuse_with(SystemException::omg(
            ExceptionKind::Transient,
            1,
            Completion::No,
        ));
    }

    /// Answers with an exception: the request was not begun.
    #[cold]
    pub(in crate::server) fn refuse_with(&self, exception: SystemException) {
        let peer = self.connection().peer();
        if !self.response.expects_reply() {
            crate::log::debug!(%peer, "no room: a oneway is dropped");
            return;
        }
        crate::log::debug!(%peer, id = self.request_id, "no room: a request is refused");
        let path = Answer {
            connection: &self.late.0,
            request_id: self.request_id,
            thread: None,
        };
        let mut storage = Vec::new();
        let mut reply = Reply::new(
            &path,
            &mut storage,
            self.header.version,
            self.request_id,
            self.format,
            self.response,
        );
        reply.system_exception(exception);
    }
}

/// Where the reply of a request goes that others may be answered beside.
struct Answer<'a> {
    connection: &'a Arc<ServerConnection>,
    request_id: u32,
    thread: Option<&'a dyn Answering>,
}

impl ReplyPath for Answer<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        if let Some(thread) = self.thread {
            thread.answers();
        }
        self.connection.reply_late(self.request_id, message);
    }
}

impl Intake {
    /// Deals with the next message that has arrived whole; requests go to
    /// `sink`.
    pub(in crate::server) fn take_for(&mut self, source: &Source<'_>, sink: &dyn Sink) -> Taken {
        match self.framing.next() {
            Ok(Some(header)) if header.kind == MessageKind::Request && !header.more_fragments => {
                if source.orb.core().dedication.get().is_some() && self.is_marked(source, &header) {
                    return Taken::Marked;
                }
                let mut octets = sink.room();
                octets.extend_from_slice(self.framing.message(&header));
                self.framing.consume(&header);
                self.state
                    .enqueue(source, sink, &header, octets, Vec::new(), None)
            }
            Ok(Some(header)) => {
                if header.kind == MessageKind::CancelRequest {
                    let message = self.framing.message(&header);
                    let mut reader = header.reader(&mut message[HEADER_LEN..]);
                    if let Ok(cancel) = CancelRequest::read(&mut reader)
                        && sink.cancel(source.connection.id, cancel.request_id)
                    {
                        self.framing.consume(&header);
                        return Taken::Done;
                    }
                }
                self.take_other(source, &header)
            }
            Ok(None) => Taken::None,
            Err(error) => refuse(source.connection, error),
        }
    }
}

impl State {
    /// Has a request wait in `sink`, or refuses it. With `moved` that is known to
    /// be the right one, and how it is served.
    pub(super) fn enqueue(
        &mut self,
        source: &Source<'_>,
        sink: &dyn Sink,
        header: &MessageHeader,
        mut octets: Vec<u8>,
        seams: Vec<u32>,
        moved: Option<Decided>,
    ) -> Taken {
        let connection = source.connection;
        let mut reader = header.reader(&mut octets[HEADER_LEN..]);
        reader.set_seams(&seams);
        let Ok(request) = RequestHeader::read(&mut reader, header.format().minor) else {
            connection.send_message_error();
            return Taken::Close;
        };
        let (request_id, mut response) = (request.request_id, request.response);
        let (mut refused, expiry) = self.heed(&request.contexts, connection);
        // What came in fragments is served here, and what follows elsewhere.
        let granted = connection.marker(source.orb, &request.contexts) == Some(Marker::Due);
        let asked = asked_priority(&request.contexts);
        // A cancellation that came before means another request.
        connection.was_cancelled(request_id);
        let mut decided = moved;
        let mut elsewhere = None;
        if moved.is_none() && source.orb.core().lanes.is_routed() {
            match destination(source, &request) {
                Ok(Some(Route::Here(it))) => decided = Some(it),
                Ok(Some(Route::To(lane, it))) => {
                    decided = Some(it);
                    elsewhere = Some(lane);
                }
                Ok(None) => {}
                Err(exception) => refused = refused.or(Some(exception)),
            }
        }
        let handed_over = moved.is_some() || elsewhere.is_some();
        let confirms = handed_over && response == ResponseFlags::SyncWithServer;
        if confirms {
            response = ResponseFlags::None;
        }
        let own = decided.and_then(|it| it.priority);
        let queued = Queued {
            late: Late::new(connection),
            header: *header,
            seams,
            request_id,
            response,
            priority: own.or(asked).map_or(0, Priority::number),
            decided,
            format: self.format(header),
            nesting: self.known.nesting,
            refused,
            expiry,
            octets,
            place: None,
        };
        let put = match &elsewhere {
            Some(lane) => lane.0.pool.put(queued),
            None => sink.put(queued),
        };
        if let Err(queued) = put {
            queued.refuse();
        }
        if confirms {
            // That it has arrived is all that was asked.
            self.confirm(connection, header, request_id);
        }
        if self.known.agrees_anew {
            self.known.negotiated = Negotiated::DEFAULT;
        }
        match (connection.is_broken(), granted) {
            (true, _) => Taken::Close,
            (false, true) => Taken::Granted,
            (false, false) => Taken::Done,
        }
    }
}

impl State {
    /// Tells the client that a request has arrived.
    #[cold]
    fn confirm(
        &mut self,
        connection: &Arc<ServerConnection>,
        header: &MessageHeader,
        request_id: u32,
    ) {
        let path = Answer {
            connection,
            request_id,
            thread: None,
        };
        let mut storage = Vec::new();
        let mut reply = Reply::new(
            &path,
            &mut storage,
            header.version,
            request_id,
            self.format(header),
            ResponseFlags::SyncWithServer,
        );
        // Nothing is written that could fail.
        let _ = reply.say(ReplyStatus::NoException, &mut |_| {});
    }
}

/// Where a request goes that has just arrived, if that has to be found out.
#[cold]
fn destination(
    source: &Source<'_>,
    request: &RequestHeader<'_>,
) -> Result<Option<Route>, SystemException> {
    let Some(key) = request.target.object_key() else {
        return Ok(None);
    };
    let arrived = Incoming {
        orb: source.orb,
        key: &key,
        operation: request.operation,
        contexts: request.contexts,
        peer: Some(source.connection),
        response: request.response,
        expiry: Expiry::NEVER,
        lane: source.connection.lane(),
        decided: None,
    };
    arrived.destination()
}
