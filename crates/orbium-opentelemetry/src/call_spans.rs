// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spans of calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use opentelemetry::trace::{SpanKind, SpanRef, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue};
use orbium_giop::SystemException;
use orbium_interceptor::{
    ClientInterceptor, ClientRequest, Interrupt, ReceiveException, ReceiveOther, ReceiveReply,
    RequestStatus, SendRequest,
};
use orbium_invocation::spans::is_implicit;
use orbium_sync::lock::Mutex;

use crate::attributes::{method, note_exception, note_status, scoped, system};
use crate::guard::{NAME, guarded};
use crate::trace_context::{TRACE_PARENT, TRACE_STATE, parent_of, state_of};

/// Maximum number of open spans. An asynchronous call has no second sequence once its handle is
/// dropped: its span ends when it is the oldest of that many.
const MAX_OPEN: usize = 65_536;

/// Creates a span for each attempt of a call.
pub(crate) struct Calls<T> {
    tracer: Arc<T>,
    /// By the id of the request at all of its points.
    open: Mutex<BTreeMap<u32, Context>>,
}

impl<T> Calls<T> {
    pub(crate) fn new(tracer: Arc<T>) -> Self {
        let open = Mutex::default();
        Self { tracer, open }
    }

    fn keep(&self, request: u32, context: Context) {
        let mut open = self.open.lock();
        let oldest = if open.len() < MAX_OPEN {
            None
        } else {
            // The ids begin anew after the greatest: the oldest is the next one in that circle.
            let mut next = open.range(request..).chain(open.range(..request));
            let id = next.next().map(|(id, _)| *id);
            id.and_then(|id| open.remove(&id))
        };
        open.insert(request, context);
        drop(open);
        // The end of its span may run an exporter.
        guarded(|| drop(oldest));
    }

    /// Ends the span of a request, once `note` has recorded its outcome.
    fn end(&self, request: &ClientRequest<'_>, note: impl FnOnce(&SpanRef<'_>)) {
        let mut open = self.open.lock();
        let context = open.remove(&request.request_id());
        drop(open);
        guarded(|| {
            if let Some(context) = context {
                note(&context.span());
                context.span().end();
            }
        });
    }
}

impl<T> Calls<T>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    fn begin(&self, request: &ClientRequest<'_>) -> Context {
        let target = request.effective_target();
        let interface = match request.interface() {
            "" => target.type_id.as_str(),
            id => id,
        };
        let method = method(interface, request.operation());
        let mut attributes = vec![system(), KeyValue::new("rpc.method", method.clone())];
        if let Some(profile) = target.iiop_profiles().next() {
            attributes.push(KeyValue::new("server.address", profile.host));
            attributes.push(KeyValue::new("server.port", i64::from(profile.port)));
        }
        let span = self.tracer.span_builder(method);
        let span = span.with_kind(SpanKind::Client).with_attributes(attributes);
        let parent = Context::current();
        let span = self.tracer.build_with_context(span, &parent);
        parent.with_span(span)
    }
}

impl<T> ClientInterceptor for Calls<T>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    fn name(&self) -> &str {
        NAME
    }

    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if is_implicit(request.operation().as_bytes()) {
            return Ok(());
        }
        let Some(context) = guarded(|| self.begin(request)) else {
            return Ok(());
        };
        let span = context.span().span_context().clone();
        if span.is_valid() {
            request.add_service_context(TRACE_PARENT, parent_of(&span), true)?;
            let state = state_of(&span);
            if !state.is_empty() {
                request.add_service_context(TRACE_STATE, state, true)?;
            }
        }
        self.keep(request.request_id(), context);
        Ok(())
    }

    fn receive_reply(&self, reply: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.end(reply, |span| note_status(span, "NO_EXCEPTION"));
        Ok(())
    }

    fn receive_exception(&self, reply: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        let is_system = reply.reply_status() == RequestStatus::SystemException;
        let id = reply.received_exception_id();
        self.end(reply, |span| note_exception(span, id, is_system));
        Ok(())
    }

    fn receive_other(&self, reply: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        match reply.reply_status() {
            // The reply is outstanding.
            RequestStatus::Unknown => {}
            RequestStatus::LocationForward => {
                let to = reply.forward_reference();
                let to = to.map(|it| scoped(&it.type_id));
                self.end(reply, |span| {
                    note_status(span, "LOCATION_FORWARD");
                    let to = to.map(|it| KeyValue::new("corba.forward.interface", it));
                    span.add_event("forwarded", to.into_iter().collect());
                });
            }
            RequestStatus::TransportRetry => {
                self.end(reply, |span| span.add_event("sent again", Vec::new()));
            }
            _ => self.end(reply, |_| {}),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::noop::NoopTracer;

    use super::*;

    /// Regression: the least id was taken for the oldest, which it is not once ids begin anew.
    #[test]
    fn the_oldest_of_too_many_spans_ends_also_after_the_greatest_id() {
        let calls = Calls::new(Arc::new(NoopTracer::new()));
        let first = u32::MAX - 10;
        for number in 0..MAX_OPEN as u32 {
            calls.keep(first.wrapping_add(number), Context::new());
        }
        calls.keep(first.wrapping_add(MAX_OPEN as u32), Context::new());
        let open = calls.open.lock();
        assert_eq!(open.len(), MAX_OPEN);
        assert!(!open.contains_key(&first));
        assert!(open.contains_key(&0) && open.contains_key(&(first + 1)));
    }
}
