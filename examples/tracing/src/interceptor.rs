// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interceptor of both sides.

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveContexts, SendRequest, ServerInterceptor,
    SlotId,
};
use orbium::{Any, Orb, OrbError};
use tracing::info;

use crate::trace_context::TraceContext;

/// The service context that has the `traceparent`: an id of this example's own.
const TRACE_PARENT: u32 = 0x4F52_4257;

/// Carries trace context with each request, and reports each call and each request.
#[derive(Clone, Copy, Debug)]
pub struct Tracing {
    /// Has the `traceparent` of the request that a thread serves.
    slot: SlotId,
}

// ANCHOR: client
impl ClientInterceptor for Tracing {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if request.operation().starts_with('_') {
            return Ok(());
        }
        let served = request.get_slot(self.slot)?.extract::<String>().ok();
        let parent = served.and_then(|text| text.parse::<TraceContext>().ok());
        let own = parent.map_or_else(TraceContext::root, |parent| parent.child());
        report(
            "call",
            request.operation(),
            &own,
            parent.map_or(0, |it| it.span_id),
        );
        request.add_service_context(TRACE_PARENT, own.to_string(), false)?;
        Ok(())
    }
}
// ANCHOR_END: client

impl ServerInterceptor for Tracing {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        let Ok(data) = request.service_context(TRACE_PARENT) else {
            return Ok(());
        };
        // Sent by a peer: what is no `traceparent` is ignored.
        let text = std::str::from_utf8(data).unwrap_or_default();
        if let Ok(parent) = text.parse::<TraceContext>() {
            let own = parent.child();
            report("request", &request.operation(), &own, parent.span_id);
            request.set_slot(self.slot, Any::from(own.to_string()))?;
        }
        Ok(())
    }
}

fn report(what: &str, operation: &str, own: &TraceContext, parent_id: u64) {
    info!(
        target: "trace_context",
        operation,
        trace_id = format_args!("{:032x}", own.trace_id),
        span_id = format_args!("{:016x}", own.span_id),
        parent_id = format_args!("{parent_id:016x}"),
        "{what}",
    );
}

/// An ORB with the interceptor on both sides, which listens on a port of its own.
///
/// # Errors
/// It cannot listen.
pub fn tracing_orb() -> Result<Orb, OrbError> {
    let mut interceptors = Interceptors::new();
    let tracing = Tracing {
        slot: interceptors.allocate_slot(),
    };
    // The only ones: no other has their name.
    let added =
        interceptors.add_client(tracing).is_ok() && interceptors.add_server(tracing).is_ok();
    debug_assert!(added);
    Orb::builder()
        .endpoint("iiop://127.0.0.1:0")?
        .interceptors(interceptors)
        .build()
}
