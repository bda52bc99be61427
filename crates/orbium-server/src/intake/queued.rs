// SPDX-License-Identifier: MIT OR Apache-2.0
//! Complete requests extracted from the stream, to be served by another thread.

use std::sync::{Arc, Weak};
use std::time::Instant;

use orbium_cdr::{CdrWriter, Format};
use orbium_channel::peer_memory::Charge;
use orbium_giop::{
    Completion, ExceptionKind, MessageHeader, RequestPositions, ResponseFlags, SystemException,
};
use orbium_sync::role::{Role, while_serving};

use super::dedication_reply::serve_with_reply_context;
use super::refused::refuse_request;
use crate::connections::connection::ServerConnection;
use crate::dedication::dedication_state::Marker;
use crate::lane::rank::Place;
use crate::log::Recurring;
use orbium_invocation::Expiry;
use orbium_invocation::Priority;
use orbium_lane::{Decided, Order, QueueBounds, QueuePermit, SETTLED};
use orbium_request::{AnswerPath, Unanswered};
use orbium_request::{Dispatcher, IncomingRequest, ServerContext};
use orbium_request::{ReplyPath, UntypedReply};

/// A queue of requests.
pub(crate) trait Sink {
    /// Enqueues a request; returns it if the queue is full.
    fn put(&self, request: Queued) -> Result<(), Box<Queued>>;

    /// The order of its queue.
    fn order(&self) -> Order {
        Order::default()
    }

    /// Whether requests for other lanes are passed to those rather than enqueued here.
    fn routes(&self) -> bool {
        true
    }

    /// A buffer for a request.
    fn room(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Removes the request with that id if it was not begun; returns whether it was there.
    fn cancel(&self, connection: u64, request_id: u32) -> bool;
}

/// A thread that serves queued requests, notified when a reply is about to be sent.
pub(crate) trait Answering: Role {
    fn answers(&self);
}

/// A pending reply of this connection: keeps it open.
#[derive(Debug)]
pub(super) struct Late(Arc<ServerConnection>);

impl Late {
    pub(super) fn new(connection: &Arc<ServerConnection>) -> Self {
        connection.begin_late();
        Self(Arc::clone(connection))
    }
}

impl AnswerPath for Late {
    fn send(&self, request_id: u32, message: &CdrWriter<'_>) {
        self.0.reply_late(request_id, message);
    }

    fn is_dead(&self) -> bool {
        self.0.is_broken()
    }

    fn opened(&self, request_id: u32, request: Weak<dyn Unanswered>) {
        self.0.cancelled.open(request_id, request);
    }

    fn closed(&self, request_id: u32) {
        self.0.cancelled.close(request_id);
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.0.end_late();
    }
}

/// A queued request. Dropped, it was not begun.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(super) late: Late,
    pub(super) header: MessageHeader,
    /// The positions of the fields read on arrival.
    pub(super) positions: RequestPositions,
    pub(super) octets: Vec<u8>,
    pub(super) seams: Vec<u32>,
    pub(super) request_id: u32,
    pub(super) response: ResponseFlags,
    pub(super) place: Place,
    /// The decision made on arrival.
    pub(crate) decided: Option<Decided>,
    /// The format, with the code sets in force on arrival.
    pub(super) format: Format,
    pub(super) nesting: u16,
    /// The exception for contexts that the connection cannot satisfy.
    pub(super) refused: Option<SystemException>,
    /// Counted from its arrival: queueing takes a part of its time.
    pub(super) expiry: Expiry,
    /// The charge for its data, if they are large.
    pub(super) _charge: Charge,
    /// Its permit of a queue bound shared by several lanes.
    pub(super) permit: Option<QueuePermit>,
    /// The time of its arrival, if measured.
    pub(super) arrived: Option<Instant>,
}

/// Records the queueing time of a request taken by a lane's thread.
#[cold]
pub(crate) fn count_waited(context: &ServerContext, (lane, name): (u32, &str), arrived: Instant) {
    if let Some(all) = context.measurements() {
        all.count_waited(lane, || name.to_owned(), arrived.elapsed());
    }
}

/// The exception for a full queue; the request was not begun.
pub(crate) fn no_room() -> SystemException {
    SystemException::omg(ExceptionKind::Transient, 1, Completion::No)
}

impl Queued {
    /// Acquires a permit of bounds that several lanes share; `false` if there is none.
    pub(crate) fn acquire(&mut self, bounds: &QueueBounds) -> bool {
        self.permit = bounds.acquire(self.octets.len());
        self.permit.is_some()
    }

    /// Releases its permit.
    pub(crate) fn give_place_back(&mut self) {
        self.permit = None;
    }

    /// Ends the queueing: releases the permit and records the time.
    pub(crate) fn begin(&mut self, context: &ServerContext, lane: (u32, &str)) {
        self.permit = None;
        if let Some(arrived) = self.arrived {
            count_waited(context, lane, arrived);
        }
    }

    /// Its place in a queue.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Whether the client does not wait for the end of the request.
    pub(crate) fn is_oneway(&self) -> bool {
        self.response != ResponseFlags::Full
    }

    /// The size of the request.
    pub(crate) fn len(&self) -> usize {
        self.octets.len()
    }

    pub(crate) fn connection(&self) -> &ServerConnection {
        &self.late.0
    }

    /// Whether its client has cancelled it.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.connection().was_cancelled(self.request_id)
    }

    /// Whether it is the request with that id.
    pub(crate) fn is(&self, connection: u64, request_id: u32) -> bool {
        self.connection().id == connection && self.request_id == request_id
    }

    /// Serves the request on this thread, which has that priority and holds `role`; returns the
    /// buffer of the request.
    pub(crate) fn serve(
        mut self,
        dispatcher: &dyn Dispatcher,
        priority: Option<Priority>,
        role: &dyn Answering,
        storage: &mut Vec<u8>,
    ) -> Vec<u8> {
        let (connection, context) = (&self.late.0, dispatcher.context());
        let request = self.positions.request(&self.header, &mut self.octets);
        let mut arguments = request.arguments;
        arguments.set_fragment_boundaries(&self.seams);
        arguments.set_owner(Some(&context.owner));
        arguments.set_format(self.format);
        arguments.set_nesting(self.nesting);
        let path = Answer {
            connection,
            request_id: self.request_id,
            thread: Some(role),
            arrived: self.arrived,
        };
        let mut reply = UntypedReply::new(
            &path,
            storage,
            self.header.version,
            self.request_id,
            self.format,
            self.response,
        );
        let dedication = match connection.marker(context, &request.contexts) {
            Some(Marker::Decided(reply)) => Some(reply.encode()),
            _ => None,
        };
        while_serving(context.number, role, || match (request.key, self.refused) {
            (Some(key), None) => {
                let incoming = IncomingRequest {
                    context,
                    key,
                    operation: request.operation,
                    contexts: request.contexts,
                    peer: Some(&**connection),
                    response: self.response,
                    expiry: self.expiry,
                    lane: self.decided.map_or_else(|| connection.lane(), |_| SETTLED),
                    decided: self.decided.as_ref(),
                };
                serve_with_reply_context(
                    dispatcher,
                    &incoming,
                    &mut arguments,
                    &mut reply,
                    dedication,
                );
            }
            (_, refused) => refuse_request(&mut reply, refused),
        });
        if orbium_invocation::priority::current() != priority {
            orbium_lane::thread::restore();
        }
        // Even if it was not cancelled: the id may be reused.
        connection.was_cancelled(self.request_id);
        self.octets
    }

    /// Answers that the queue is full; the request was not begun.
    #[cold]
    pub(crate) fn refuse(&self) {
        self.refuse_with(no_room());
    }

    /// Forwards its client to the lane that serves the object from now on; returns whether a
    /// forward was sent.
    #[cold]
    pub(crate) fn forward(&self, dispatcher: &dyn Dispatcher) -> bool {
        if self.response != ResponseFlags::Full || self.refused.is_some() {
            return false;
        }
        let key = self.positions.key(&self.octets);
        let Some(to) = key.and_then(|key| dispatcher.reference_of(key)) else {
            return false;
        };
        self.answer(|reply| reply.forward(&to, false).is_ok())
    }

    /// Answers a request that was not begun.
    #[cold]
    fn answer<R>(&self, answer: impl FnOnce(&mut UntypedReply<'_>) -> R) -> R {
        let path = Answer {
            connection: &self.late.0,
            request_id: self.request_id,
            thread: None,
            arrived: None,
        };
        let mut storage = Vec::new();
        let mut reply = UntypedReply::new(
            &path,
            &mut storage,
            self.header.version,
            self.request_id,
            self.format,
            self.response,
        );
        answer(&mut reply)
    }

    #[cold]
    fn log_refusal(&self, what: &str, exception: SystemException) {
        let connection = self.connection();
        if let Some(suppressed) = connection.tracked.admit(Recurring::QueueFull) {
            crate::log::warn!(
                target: "orbium::request",
                cause = Recurring::QueueFull.cause(),
                peer = %connection.peer(),
                request_id = self.request_id,
                error = %exception,
                suppressed,
                "{what}: there is no room for it",
            );
        }
    }

    /// Answers with an exception: the request was not begun.
    #[cold]
    pub(crate) fn refuse_with(&self, exception: SystemException) {
        if !self.response.expects_reply() {
            self.log_refusal("oneway dropped", exception);
            return;
        }
        self.log_refusal("request refused", exception);
        self.answer(|reply| reply.system_exception(exception));
    }
}

/// The reply path of a request while other threads may reply over the same connection.
pub(super) struct Answer<'a> {
    pub(super) connection: &'a Arc<ServerConnection>,
    pub(super) request_id: u32,
    pub(super) thread: Option<&'a dyn Answering>,
    pub(super) arrived: Option<Instant>,
}

impl ReplyPath for Answer<'_> {
    fn send(&self, message: &CdrWriter<'_>) {
        if let Some(thread) = self.thread {
            thread.answers();
        }
        self.connection.reply_late(self.request_id, message);
    }

    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        Some(Box::new(Late::new(self.connection)))
    }

    fn arrived(&self) -> Option<Instant> {
        self.arrived
    }
}
