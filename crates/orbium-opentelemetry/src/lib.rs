// SPDX-License-Identifier: MIT OR Apache-2.0
//! OpenTelemetry spans of the calls that an ORB makes and of the requests that it serves, by
//! portable interceptors. W3C trace context is sent with each request as a service context, so that
//! the spans of all processes in the path of a call are one trace. The program configures the SDK:
//! sampling, processors and exporters are not part of this crate.
//!
//! ```
//! use opentelemetry::global;
//! use orbium::Orb;
//! use orbium::interceptor::Interceptors;
//!
//! let mut interceptors = Interceptors::new();
//! orbium_opentelemetry::register(&mut interceptors, global::tracer("ledger"))?;
//! let orb = Orb::builder().interceptors(interceptors).build()?;
//! # drop(orb);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod attributes;
mod call_spans;
mod guard;
mod requests;
mod trace_context;

use std::sync::Arc;

use opentelemetry::trace::Tracer;
use orbium_interceptor::{DuplicateName, Interceptors};

pub use trace_context::{TRACE_PARENT, TRACE_STATE};

/// Registers an interceptor of calls and one of requests, which create spans by `tracer`.
///
/// A span of a call is a child of the context that is current on the calling thread; one of a
/// request is a child of the span of the call, and current while its servant runs. Each attempt of
/// a call (after a forward or a lost connection) has a separate span. Operations that the ORB
/// itself invokes (`_is_a` and the like) have none.
///
/// A tracer, processor or exporter that panics loses its span, without effect on the call.
///
/// # Errors
/// [`DuplicateName`]: they are registered already.
pub fn register<T>(interceptors: &mut Interceptors, tracer: T) -> Result<(), DuplicateName>
where
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync + 'static,
{
    let tracer = Arc::new(tracer);
    interceptors.add_client(call_spans::Calls::new(Arc::clone(&tracer)))?;
    interceptors.add_server(requests::Requests::new(tracer))
}
