// SPDX-License-Identifier: MIT OR Apache-2.0
//! The span of a call: from the arguments to the results, with retries and forwards.

use std::cell::Cell;
use std::time::Instant;

use orbium_channel::protocol;
use orbium_giop::{ExceptionKind, SystemException};
use orbium_invocation::spans::{
    Giop, Key, Method, RESULTS, Scoped, USER_EXCEPTION, is_implicit, record_address,
    record_deadline, record_failure,
};
use orbium_invocation::story::Phase;
use orbium_invocation::{Operation, Priority, priority};
use tracing::field::{Empty, display};
use tracing::span::EnteredSpan;
use tracing::{Level, Span};

use crate::reference::Reference;
use crate::reference::candidate::Candidate;

/// A call in progress; its span ends when this is dropped.
#[derive(Debug)]
pub struct CallSpan {
    span: Span,
    oneway: bool,
    deadline: Cell<Option<Instant>>,
    /// Whether the end is already recorded.
    has_ended: Cell<bool>,
}

/// The span of a call at a level, which has to be constant for `tracing`.
macro_rules! call_span {
    ($level:expr, $interface:expr, $operation:expr) => {{
        let method = Method {
            interface: $interface,
            operation: $operation.name(),
        };
        tracing::span!(
            target: "orbium::call",
            $level,
            "call",
            otel.kind = "client",
            otel.name = %method,
            otel.status_code = Empty,
            otel.status_description = Empty,
            rpc.system.name = "corba",
            rpc.method = %method,
            rpc.status_code = Empty,
            error.type = Empty,
            server.address = Empty,
            server.port = Empty,
            network.peer.address = Empty,
            network.peer.port = Empty,
            corba.interface.repository_id = $interface,
            corba.object.key = Empty,
            corba.request_id = Empty,
            corba.transport = Empty,
            corba.giop.version = Empty,
            corba.oneway = $operation.is_oneway(),
            corba.priority = Empty,
            corba.deadline_remaining_us = Empty,
            corba.deadline.missed = Empty,
            corba.completed = Empty,
            corba.minor = Empty,
            corba.forwards = Empty,
            corba.retries = Empty,
            corba.phase = Empty,
        )
    }};
}

impl CallSpan {
    /// Begins the span of a call; `None` without a subscriber for it.
    #[cold]
    pub fn begin(object: &Reference, operation: &'static Operation) -> Option<Self> {
        let interface = match operation.interface() {
            "" => object.ior().type_id.as_str(),
            interface => interface,
        };
        let span = if is_implicit(operation.name().as_bytes()) {
            call_span!(Level::TRACE, interface, operation)
        } else {
            call_span!(Level::DEBUG, interface, operation)
        };
        if span.is_disabled() {
            return None;
        }
        let call = Self {
            span,
            oneway: operation.is_oneway(),
            deadline: Cell::new(None),
            has_ended: Cell::new(false),
        };
        call.note_priority(priority::current());
        Some(call)
    }

    /// Makes it the current span of this thread.
    pub fn enter(&self) -> EnteredSpan {
        self.span.clone().entered()
    }

    /// Records the deadline of the call.
    pub fn note_deadline(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
        record_deadline(&self.span, deadline);
    }

    /// Records the priority of the request, if it has one.
    pub fn note_priority(&self, priority: Option<Priority>) {
        if let Some(priority) = priority {
            self.span.record("corba.priority", priority.number());
        }
    }

    /// Records the destination of the request: the object itself, or the forward.
    pub fn note_way(&self, object: &Reference, candidate: &Candidate, is_forwarded: bool) {
        let span = &self.span;
        span.record("corba.object.key", display(Key(&candidate.object_key)));
        span.record("corba.giop.version", display(Giop(candidate.version)));
        match candidate.channel() {
            Some(channel) => {
                span.record("corba.transport", channel.scheme.as_str());
                let peer = ("network.peer.address", "network.peer.port");
                record_address(span, peer, &channel.address);
            }
            None => {
                span.record("corba.transport", "collocated");
            }
        }
        let offers;
        let named = if is_forwarded {
            offers = protocol::offers(object.ior());
            offers.first().map(|offer| &offer.channel)
        } else {
            candidate.channel()
        };
        if let Some(named) = named {
            record_address(span, ("server.address", "server.port"), &named.address);
        }
    }

    /// Records the id of the last request: each retry has its own.
    pub fn note_request_id(&self, id: u32) {
        self.span.record("corba.request_id", id);
    }

    /// Records the numbers of retries and forwards so far.
    pub fn note_counts(&self, retries: u32, forwards: u32) {
        if retries > 0 {
            self.span.record("corba.retries", retries);
        }
        if forwards > 0 {
            self.span.record("corba.forwards", forwards);
        }
    }

    /// Records that the call ends with that user exception.
    pub fn note_user_exception(&self, id: Option<&str>) {
        self.has_ended.set(true);
        self.span.record("rpc.status_code", USER_EXCEPTION);
        if let Some(id) = id {
            self.span.record("error.type", display(Scoped(id)));
        }
    }

    /// Records that the call ends with a system exception, raised in that phase.
    pub fn note_failure(&self, exception: SystemException, phase: Phase) {
        self.has_ended.set(true);
        record_failure(&self.span, exception);
        self.span.record("corba.phase", phase.name());
        if exception.kind == ExceptionKind::Timeout && self.deadline.take().is_some() {
            self.span.record("corba.deadline.missed", true);
        }
    }
}

impl Drop for CallSpan {
    fn drop(&mut self) {
        if !self.has_ended.get() && !self.oneway {
            self.span.record("rpc.status_code", RESULTS);
        }
        if let Some(deadline) = self.deadline.get() {
            let missed = Instant::now() > deadline;
            self.span.record("corba.deadline.missed", missed);
        }
    }
}
