// SPDX-License-Identifier: MIT OR Apache-2.0
//! W3C trace context from a client through two servers, by interceptors.

orbium::include_idl!("relay");

mod interceptor;
mod station;
mod trace_context;

pub use interceptor::{Tracing, tracing_orb};
pub use station::Stop;
pub use trace_context::{InvalidTraceParent, TraceContext};
