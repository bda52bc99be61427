// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spans of requests to servants.

use std::cell::RefCell;
use std::sync::Arc;

use opentelemetry::trace::{SpanKind, SpanRef, TraceContextExt, Tracer};
use opentelemetry::{Context, ContextGuard, KeyValue};
use orbium_giop::SystemException;
use orbium_interceptor::{
    Interrupt, ReceiveContexts, ReceiveRequest, RequestStatus, SendException, SendOther, SendReply,
    ServerInterceptor, ServerRequest,
};
use orbium_invocation::spans::{OTHER, is_implicit, original};

use crate::attributes::{method, note_exception, note_method, note_status, system};
use crate::guard::{NAME, guarded};
use crate::trace_context::{TRACE_PARENT, TRACE_STATE, read};

/// The current span of a thread.
struct Open {
    context: Context,
    /// Restores the previous context of the thread.
    guard: ContextGuard,
    /// Whether the span has the name of an operation that the servant's skeleton knows.
    is_named: bool,
}

thread_local! {
    /// The requests that this thread serves, the innermost last. `None` if there is no span,
    /// because the SDK has panicked. All points of a request run on one thread, with those of a
    /// nested one between them.
    static OPEN: RefCell<Vec<Option<Open>>> = const { RefCell::new(Vec::new()) };
}

/// Creates a span for each request.
pub(crate) struct Requests<T> {
    tracer: Arc<T>,
}

impl<T> Requests<T> {
    pub(crate) fn new(tracer: Arc<T>) -> Self {
        Self { tracer }
    }
}

impl<T> Requests<T>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    fn begin(&self, request: &ReceiveContexts<'_, '_>) -> Open {
        let state = request.service_context(TRACE_STATE).ok();
        let parent = request.service_context(TRACE_PARENT).ok();
        let parent = match parent.and_then(|parent| read(parent, state)) {
            Some(remote) => Context::new().with_remote_span_context(remote),
            None => Context::new(),
        };
        // Whether it is an operation of the servant is known once that is found.
        let operation = original(request.operation().as_bytes()).to_string();
        let span = self.tracer.span_builder(operation);
        let span = span.with_kind(SpanKind::Server).with_attributes([system()]);
        let span = self.tracer.build_with_context(span, &parent);
        let context = parent.with_span(span);
        let guard = context.clone().attach();
        Open {
            context,
            guard,
            is_named: false,
        }
    }
}

/// Ends the span of the innermost request, once `note` has recorded its outcome.
fn end(request: &ServerRequest<'_>, note: impl FnOnce(&SpanRef<'_>)) {
    if is_implicit(request.operation().as_bytes()) {
        return;
    }
    let Some(open) = OPEN.with_borrow_mut(Vec::pop).flatten() else {
        return;
    };
    drop(open.guard);
    guarded(|| {
        let span = open.context.span();
        if !open.is_named {
            note_method(&span, OTHER.to_owned());
            let operation = original(request.operation().as_bytes()).to_string();
            span.set_attribute(KeyValue::new("rpc.method_original", operation));
        }
        note(&span);
        span.end();
    });
}

impl<T> ServerInterceptor for Requests<T>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    fn name(&self) -> &str {
        NAME
    }

    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        if !is_implicit(request.operation().as_bytes()) {
            let open = guarded(|| self.begin(request));
            OPEN.with_borrow_mut(|all| all.push(open));
        }
        Ok(())
    }

    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let Some(operation) = request.known_operation() else {
            return Ok(());
        };
        if is_implicit(operation.as_bytes()) {
            return Ok(());
        }
        let method = method(&request.target_most_derived_interface(), operation);
        let context = OPEN.with_borrow_mut(|all| {
            let open = all.last_mut()?.as_mut()?;
            open.is_named = true;
            Some(open.context.clone())
        });
        guarded(|| {
            if let Some(context) = context {
                note_method(&context.span(), method);
            }
        });
        Ok(())
    }

    fn send_reply(&self, request: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        end(request, |span| note_status(span, "NO_EXCEPTION"));
        Ok(())
    }

    fn send_exception(&self, request: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        let is_system = request.reply_status() == RequestStatus::SystemException;
        let id = request.sending_exception_id().to_owned();
        end(request, |span| note_exception(span, &id, is_system));
        Ok(())
    }

    fn send_other(&self, request: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        let status = request.reply_status();
        end(request, |span| match status {
            RequestStatus::LocationForward => note_status(span, "LOCATION_FORWARD"),
            RequestStatus::Unknown => span.add_event("answered later", Vec::new()),
            _ => {}
        });
        Ok(())
    }
}
