// SPDX-License-Identifier: MIT OR Apache-2.0
//! The spans of requests: each while a thread serves the request.

use std::cell::RefCell;
use std::time::Instant;

use orbium_giop::{ResponseFlags, SystemException};
use orbium_interceptor::server::InterceptedObject;
use orbium_invocation::priority;
use orbium_invocation::spans::{
    FORWARDED, Giop, Key, Method, OTHER, RESULTS, Scoped, USER_EXCEPTION, is_implicit,
    microseconds, original, record_deadline, record_failure,
};
use orbium_lane::lane_name;
use orbium_transport::Peer;
use tracing::field::{Empty, display};
use tracing::span::EnteredSpan;
use tracing::{Level, Span};

use crate::log::wants_spans;
use crate::{IncomingRequest, UntypedReply};

/// An active object as shown by the spans of its requests.
pub trait ServedObject: InterceptedObject {
    /// The path of its adapter.
    fn adapter_path(&self) -> String;

    /// Its most derived interface.
    fn repository_id(&self) -> &'static str;

    /// The number of the lane that serves all its requests, or the number for no lane.
    fn lane(&self) -> u32;
}

/// The active objects of an ORB.
pub trait ServedObjects {
    /// Calls `see` with the object of a key, held during the call; `None` if there is none.
    fn look_up(&self, key: &[u8], see: &mut dyn FnMut(Option<&dyn ServedObject>));
}

/// The span of the request of this thread, if it could not be created at once.
#[derive(Debug)]
enum Later {
    None,
    /// Whether this thread serves the request, and its priority, are not known yet.
    Awaited,
    Made(Span),
}

thread_local! {
    static LATER: RefCell<Later> = const { RefCell::new(Later::None) };
}

/// A request being processed by a thread.
#[derive(Debug)]
pub struct RequestSpan {
    /// The current span of the thread, unless it is created later.
    span: Option<EnteredSpan>,
    /// The state of the request further down on this stack.
    before: Later,
}

impl RequestSpan {
    /// Begins when a thread has taken a request; `None` if no subscriber wants spans.
    #[cold]
    pub fn begin(
        objects: &dyn ServedObjects,
        request: &IncomingRequest<'_>,
        reply: &UntypedReply<'_>,
    ) -> Option<Self> {
        if !wants_spans() {
            return None;
        }
        let mut span = None;
        objects.look_up(request.key, &mut |object| {
            // Only the hooks of its adapter decide whether another lane serves it.
            let is_later = object.is_some_and(|object| object.lane() != request.lane);
            span = (!is_later).then(|| span_of(request, Some(reply), object));
        });
        let later = match span {
            None => Later::Awaited,
            Some(_) => Later::None,
        };
        Some(Self {
            span: span.map(Span::entered),
            before: LATER.replace(later),
        })
    }

    /// Ends when the thread has finished the request.
    #[cold]
    pub fn end(
        self,
        objects: &dyn ServedObjects,
        request: &IncomingRequest<'_>,
        reply: &UntypedReply<'_>,
        failed: Option<SystemException>,
    ) {
        let later = LATER.replace(self.before);
        let span = match (self.span, later) {
            (Some(entered), _) => entered.exit(),
            (None, Later::Made(span)) => span,
            // Another lane serves it.
            (None, _) if reply.is_moved() => return,
            // Refused before its servant was looked up.
            (None, _) => {
                let mut span = Span::none();
                objects.look_up(request.key, &mut |object| {
                    span = span_of(request, Some(reply), object);
                });
                span
            }
        };
        match failed {
            Some(exception) => record_failure(&span, exception),
            None if reply.is_raised() => {
                span.record("rpc.status_code", USER_EXCEPTION);
            }
            None if reply.is_forwarded() => {
                span.record("rpc.status_code", FORWARDED);
            }
            None if request.response == ResponseFlags::Full => {
                span.record("rpc.status_code", RESULTS);
            }
            None => {}
        }
        record_missed(&span, request);
    }
}

/// Serves a request within its span, once this thread is known to serve it.
pub fn serve_within<R>(
    request: &IncomingRequest<'_>,
    object: &dyn ServedObject,
    reply: &mut UntypedReply<'_>,
    serve: impl FnOnce(&mut UntypedReply<'_>) -> R,
) -> R {
    let is_awaited = LATER.with_borrow(|later| matches!(later, Later::Awaited));
    if !is_awaited {
        return serve(reply);
    }
    let span = span_of(request, Some(reply), Some(object));
    LATER.set(Later::Made(span.clone()));
    let _entered = span.entered();
    serve(reply)
}

/// The span of a collocated request, which becomes the current one of the thread; `None` without a
/// subscriber for it.
#[cold]
#[must_use]
pub(crate) fn collocated_span(
    request: &IncomingRequest<'_>,
    object: &dyn ServedObject,
) -> Option<EnteredSpan> {
    wants_spans().then(|| span_of(request, None, Some(object)).entered())
}

/// Records the outcome of a collocated request.
#[cold]
pub(crate) fn end_collocated_span(
    span: &Span,
    request: &IncomingRequest<'_>,
    failed: Option<SystemException>,
    user_exception: Option<&'static str>,
) {
    match (failed, user_exception) {
        (Some(exception), _) => record_failure(span, exception),
        (None, Some(id)) => {
            span.record("rpc.status_code", USER_EXCEPTION);
            // A marshalled reply of the servant has already recorded it.
            if !id.is_empty() {
                span.record("error.type", display(Scoped(id)));
            }
        }
        (None, None) if request.response == ResponseFlags::Full => {
            span.record("rpc.status_code", RESULTS);
        }
        (None, None) => {}
    }
    record_missed(span, request);
}

fn record_missed(span: &Span, request: &IncomingRequest<'_>) {
    if let Some(deadline) = request.expiry.deadline().instant() {
        span.record("corba.deadline.missed", Instant::now() > deadline);
    }
}

macro_rules! request_span {
    ($level:expr, $parent:expr, $method:expr) => {
        tracing::span!(
            target: "orbium::request",
            parent: $parent,
            $level,
            "request",
            otel.kind = "server",
            otel.name = %$method,
            otel.status_code = Empty,
            otel.status_description = Empty,
            rpc.system.name = "corba",
            rpc.method = %$method,
            rpc.method_original = Empty,
            rpc.status_code = Empty,
            error.type = Empty,
            network.peer.address = Empty,
            network.peer.port = Empty,
            corba.interface.repository_id = Empty,
            corba.object.key = Empty,
            corba.poa = Empty,
            corba.lane = Empty,
            corba.conn = Empty,
            corba.request_id = Empty,
            corba.transport = Empty,
            corba.giop.version = Empty,
            corba.oneway = Empty,
            corba.priority = Empty,
            corba.queued_us = Empty,
            corba.deadline_remaining_us = Empty,
            corba.deadline.missed = Empty,
            corba.completed = Empty,
            corba.minor = Empty,
        )
    };
}

/// A child of the caller's span for a collocated call. The span of a remote request is independent
/// of the thread's previous span: the thread may be waiting in a nested call.
fn span_of(
    request: &IncomingRequest<'_>,
    reply: Option<&UntypedReply<'_>>,
    object: Option<&dyn ServedObject>,
) -> Span {
    let known = object.and_then(|object| object.known_operation(request.operation));
    let interface = object.map_or("", ServedObject::repository_id);
    let method = match known {
        Some(name) => Method {
            interface,
            operation: name,
        },
        None => Method {
            interface: "",
            operation: OTHER,
        },
    };
    let parent = match request.peer {
        Some(_) => None,
        None => Span::current().id(),
    };
    let span = if is_implicit(request.operation) && known.is_some() {
        request_span!(Level::TRACE, parent, method)
    } else {
        request_span!(Level::DEBUG, parent, method)
    };
    if span.is_disabled() {
        return span;
    }
    if known.is_none() {
        span.record("rpc.method_original", display(original(request.operation)));
    }
    if let Some(object) = object {
        span.record("corba.interface.repository_id", interface);
        span.record("corba.poa", object.adapter_path().as_str());
    }
    span.record("corba.object.key", display(Key(request.key)));
    if let Some(reply) = reply {
        span.record("corba.request_id", reply.request_id());
        span.record("corba.giop.version", display(Giop(reply.version())));
    }
    span.record("corba.oneway", !request.response.expects_reply());
    if let Some(priority) = priority::current() {
        span.record("corba.priority", priority.number());
    }
    if let Some(arrived) = reply.and_then(UntypedReply::arrived) {
        span.record("corba.queued_us", microseconds(arrived.elapsed()));
    }
    record_deadline(&span, request.expiry.deadline().instant());
    record_peer(&span, request);
    span
}

fn record_peer(span: &Span, request: &IncomingRequest<'_>) {
    let Some(connection) = request.peer else {
        span.record("corba.transport", "collocated");
        return;
    };
    if let Some(lane) = lane_name() {
        span.record("corba.lane", lane.as_str());
    }
    span.record("corba.conn", connection.id());
    span.record("corba.transport", connection.transport());
    match connection.peer() {
        Peer::Internet(address) | Peer::Authenticated { address, .. } => {
            span.record("network.peer.address", display(address.ip()));
            span.record("network.peer.port", address.port());
        }
        peer => {
            span.record("network.peer.address", display(peer));
        }
    }
}
