// SPDX-License-Identifier: MIT OR Apache-2.0
//! Enqueueing requests: they are parsed only as far as the queue, its lane and the
//! deadline require.

use std::sync::Arc;
use std::time::Instant;

use orbium_cdr::Format;
use orbium_channel::connection::{Event, Whole};
use orbium_giop::{
    Assembled, MessageHeader, MessageKind, ReplyStatus, RequestHeader, RequestPositions,
    ResponseFlags, SystemException, split_header,
};

use super::contexts::{Following, apply_contexts};
use super::queued::{Answer, Late, Queued, Sink};
use super::refusing::{refuse, unanswerable, violated};
use super::source::Source;
use super::state::{Intake, State};
use crate::connections::connection::ServerConnection;
use crate::dedication::dedication_state::Marker;
use crate::lane::lane_core::LaneCore;
use crate::lane::rank::Place;
use crate::message_outcome::Outcome;
use orbium_invocation::Expiry;
use orbium_invocation::Priority;
use orbium_lane::{Decided, Lane, Route};
use orbium_request::IncomingRequest;
use orbium_request::UntypedReply;
use orbium_request::asked_priority;

impl Intake {
    /// Processes the next complete message; requests are passed to `sink`.
    pub(crate) fn take_for(&mut self, source: &Source<'_>, sink: &dyn Sink) -> Outcome {
        let event = match self.giop.next(&Instant::now) {
            Ok(Some(event)) => event,
            Ok(None) => return Outcome::Incomplete,
            Err(violation) => return violated(source, violation),
        };
        match event {
            Event::Message(header) if header.kind == MessageKind::Request => {
                let decided = source.context.dedications.decides().is_some();
                if decided && !self.giop.came_in_fragments() && self.is_marked(source, &header) {
                    return Outcome::Dedicated;
                }
                self.put(source, &header, sink)
            }
            Event::Cancel(request_id) if sink.cancel(source.connection.id, request_id) => {
                Outcome::Dispatched
            }
            other => self.take_other(source, other),
        }
    }

    /// Extracts the request with that header for `sink`.
    pub(super) fn put(
        &mut self,
        source: &Source<'_>,
        header: &MessageHeader,
        sink: &dyn Sink,
    ) -> Outcome {
        match self.giop.take(header, sink.room()) {
            Ok(whole) => {
                let limit = self.state.known.limit;
                let (rest, continuation) = self.giop.behind();
                let following = Following {
                    rest,
                    continuation,
                    limit,
                };
                let outcome = self
                    .state
                    .enqueue(source, sink, header, whole, following, None);
                self.giop.follow();
                outcome
            }
            Err(Some(refused)) => refuse(source, &refused),
            Err(None) => unanswerable(source),
        }
    }
}

impl State {
    /// Enqueues a request in `sink`, or refuses it. With `moved`, its lane is resolved already, and
    /// so is how it is served.
    pub(super) fn enqueue(
        &mut self,
        source: &Source<'_>,
        sink: &dyn Sink,
        header: &MessageHeader,
        whole: Whole,
        mut following: Following<'_>,
        moved: Option<Decided>,
    ) -> Outcome {
        let connection = source.connection;
        let of_queue = (source, sink);
        let read = self.read(of_queue, header, whole, &mut following, moved);
        let code_sets = &mut following.continuation.code_sets;
        let Some(arrived) = read else {
            connection.send_message_error();
            return Outcome::Close;
        };
        let request_id = arrived.queued.request_id;
        connection.send_collected();
        let put = match &arrived.elsewhere {
            Some(lane) => LaneCore::of(lane).pool.put(arrived.queued),
            None => sink.put(arrived.queued),
        };
        let mut confirms = arrived.confirms;
        if let Err(mut queued) = put {
            if std::mem::take(&mut confirms) {
                // Its client is notified of the full queue.
                queued.response = ResponseFlags::SyncWithServer;
            }
            queued.refuse();
        }
        if confirms {
            // Arrival is all that the client waits for.
            confirm(
                connection,
                header,
                request_id,
                code_sets.format(header.format()),
            );
        }
        code_sets.end_message();
        match (connection.is_broken(), arrived.granted) {
            (true, _) => Outcome::Close,
            (false, true) => Outcome::ThreadGranted,
            (false, false) if connection.waits_for_room() => Outcome::QueueFull,
            (false, false) => Outcome::Dispatched,
        }
    }

    /// Reads the parts of a request that the queue needs; `None` if it is not a request.
    #[inline]
    fn read(
        &mut self,
        (source, sink): (&Source<'_>, &dyn Sink),
        header: &MessageHeader,
        whole: Whole,
        following: &mut Following<'_>,
        moved: Option<Decided>,
    ) -> Option<Arrived> {
        let connection = source.connection;
        let Whole { message, charge } = whole;
        let Assembled { mut octets, seams } = message;
        let addresses = octets.as_ptr_range();
        let (head, after) = split_header(&mut octets);
        let mut reader = header.reader(after);
        reader.set_fragment_boundaries(&seams);
        let request = header.read_request(&head, &mut reader).ok()?;
        let positions = RequestPositions::of(&request, &reader, &addresses);
        let (request_id, mut response) = (request.request_id, request.response);
        let (mut refused, expiry) = apply_contexts(&request, following, source);
        let granted = connection.marker(source.context, &request.contexts) == Some(Marker::Due);
        let asked = asked_priority(&request.contexts);
        // An earlier cancellation with this id was for another request.
        connection.was_cancelled(request_id);
        let routed = moved.is_none() && source.context.is_routed() && sink.routes();
        let (decided, elsewhere) = match routed.then(|| destination(source, &request)) {
            None => (moved, None),
            Some(Ok(destined)) => destined,
            Some(Err(exception)) => {
                refused = refused.or(Some(exception));
                (None, None)
            }
        };
        let handed_over = moved.is_some() || elsewhere.is_some();
        let confirms = handed_over && response == ResponseFlags::SyncWithServer;
        if confirms {
            response = ResponseFlags::None;
        }
        let own = decided.and_then(|it| it.priority);
        let priority = own.or(asked).map_or(0, Priority::number);
        let timing = decided.and_then(|it| it.timing);
        let expiry = decided.map_or(expiry, |it| it.expiry(expiry));
        let of_lane = elsewhere.as_ref().map(|lane| LaneCore::of(lane).pool.order);
        let order = of_lane.unwrap_or_else(|| sink.order());
        let place = Place::of_request(
            order,
            (priority, timing),
            &request.contexts,
            expiry.deadline().instant(),
        );
        let queued = Queued {
            late: Late::new(connection),
            _charge: charge,
            header: *header,
            positions,
            seams,
            request_id,
            response,
            place,
            decided,
            format: following.continuation.code_sets.format(header.format()),
            nesting: self.known.nesting,
            refused,
            expiry,
            octets,
            permit: None,
            arrived: source.context.measurements().map(|_| Instant::now()),
        };
        Some(Arrived {
            queued,
            elsewhere,
            confirms,
            granted,
        })
    }
}

/// Confirms the arrival of a request (SYNC_WITH_SERVER).
#[cold]
fn confirm(
    connection: &Arc<ServerConnection>,
    header: &MessageHeader,
    request_id: u32,
    format: Format,
) {
    let path = Answer {
        connection,
        request_id,
        thread: None,
        arrived: None,
    };
    let mut storage = Vec::new();
    let mut reply = UntypedReply::new(
        &path,
        &mut storage,
        header.version,
        request_id,
        format,
        ResponseFlags::SyncWithServer,
    );
    // The written data cannot fail.
    let _ = reply.say(ReplyStatus::NoException, &mut |_| {});
}

/// A request to be queued, with its effects.
struct Arrived {
    queued: Queued,
    /// The lane that serves it, if it is another one.
    elsewhere: Option<Lane>,
    /// Whether its client waits only for the confirmation of its arrival.
    confirms: bool,
    /// Whether it came in fragments and is served here; later messages are for the thread just
    /// granted to the connection.
    granted: bool,
}

/// The decision about an arrived request, if it was resolved, and its lane if it is another one.
type Destined = (Option<Decided>, Option<Lane>);

/// The lane of an arrived request.
#[cold]
fn destination(
    source: &Source<'_>,
    request: &RequestHeader<'_>,
) -> Result<Destined, SystemException> {
    let Some(key) = request.target.object_key() else {
        return Ok((None, None));
    };
    let arrived = IncomingRequest {
        context: source.context,
        key: &key,
        operation: request.operation,
        contexts: request.contexts,
        peer: Some(&**source.connection),
        response: request.response,
        expiry: Expiry::NEVER,
        lane: source.connection.lane(),
        decided: None,
    };
    Ok(match source.dispatcher.destination(&arrived)? {
        // The thread that takes it from the queue forwards the client.
        None | Some(Route::Elsewhere(..)) => (None, None),
        Some(Route::Here(decided)) => (Some(decided), None),
        Some(Route::To(lane, decided)) => (Some(decided), Some(lane)),
    })
}
