// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request headers with service contexts.

use orbium_cdr::CdrWriter;
use orbium_channel::dedication::DedicationRequest;
use orbium_giop::real_time::{priority_context, priority_range_context};
use orbium_giop::time::ContextData;
use orbium_giop::{BodyStart, RequestTemplate, ResponseFlags, ServiceContext, service_context};
use orbium_invocation::Operation;
use orbium_invocation::router_policies::RouterPolicies;
use orbium_trace::log::wants_spans;
use tracing::Span;

use orbium_connection::introduction::{Introduction, PriorityContext};
use orbium_invocation::timing::Timing;

/// Writes a request header with service contexts or a long operation name, or with a
/// request id that the current span records.
#[cold]
pub(crate) fn begin_in_full(
    template: &RequestTemplate,
    writer: &mut CdrWriter<'_>,
    request_id: u32,
    response: ResponseFlags,
    operation: &Operation,
    (introduction, added): (Option<Introduction>, &[ServiceContext<'_>]),
    (timing, routers): (&Timing, &RouterPolicies),
) -> BodyStart {
    let code_sets = introduction.and_then(|it| it.code_sets);
    let code_sets = code_sets.map(|negotiated| negotiated.context().encode());
    let said = introduction.map_or(PriorityContext::None, |it| it.said);
    let times = timing.is_propagated.then(|| timing.contexts());
    let (left, ends) = times.unzip();
    let left = left.map(|left| left.encode());
    let routed = (!routers.is_none()).then(|| routers.encode_behind(&ends.unwrap_or_default()));
    let ends = ends.map(|ends| ends.encode());
    let policies = routed.as_deref();
    let policies = policies.or_else(|| ends.as_ref().map(ContextData::as_slice));
    let (one, range, marker);
    let mut contexts = [ServiceContext { id: 0, data: &[] }; 5];
    let mut count = 0;
    let mut add = |id, data| {
        contexts[count] = ServiceContext { id, data };
        count += 1;
    };
    if let Some(data) = &code_sets {
        add(service_context::CODE_SETS, data);
    }
    match said {
        PriorityContext::None => {}
        PriorityContext::Marker { asks, priority } => {
            marker = DedicationRequest {
                priority: (asks >= 0).then_some(asks),
            }
            .encode();
            add(service_context::ORBIUM_DEDICATION, marker.as_slice());
            if priority >= 0 {
                one = priority_context(priority);
                add(service_context::RT_CORBA_PRIORITY, one.as_slice());
            }
        }
        PriorityContext::Priority(priority) => {
            one = priority_context(priority.number());
            add(service_context::RT_CORBA_PRIORITY, one.as_slice());
        }
        PriorityContext::Range(band) => {
            range = priority_range_context(band);
            add(service_context::RT_CORBA_PRIORITY_RANGE, range.as_slice());
        }
    }
    if let Some(data) = policies {
        add(service_context::INVOCATION_POLICIES, data);
    }
    if let Some(left) = &left {
        add(service_context::ORBIUM_TIME_LEFT, left.as_slice());
    }
    if wants_spans() {
        note_request_id(request_id);
    }
    let contexts = &contexts[..count];
    if !added.is_empty() {
        // Contexts of the ORB come first: receivers use the first with an id.
        let all = [contexts, added].concat();
        return template.begin(writer, request_id, response, operation.name(), &all);
    }
    template.begin(writer, request_id, response, operation.name(), contexts)
}

/// Records the id of a request in the span of the call, if this thread is within one.
#[cold]
fn note_request_id(id: u32) {
    let span = Span::current();
    if span
        .metadata()
        .is_some_and(|it| it.target() == "orbium::call")
    {
        span.record("corba.request_id", id);
    }
}
