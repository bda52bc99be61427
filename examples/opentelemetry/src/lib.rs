// SPDX-License-Identifier: MIT OR Apache-2.0
//! OpenTelemetry spans from a client through two servers.

mod lines;

use std::error::Error;

use opentelemetry::trace::{Tracer, TracerProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use orbium::Orb;
use orbium::interceptor::Interceptors;
use trace_context::Stop;
use trace_context::relay::Station;

pub use lines::Lines;

// ANCHOR: orb
/// An ORB that listens, and makes a span of each call and of each request.
///
/// # Errors
/// It cannot listen.
pub fn traced_orb(provider: &SdkTracerProvider) -> Result<Orb, Box<dyn Error>> {
    let mut interceptors = Interceptors::new();
    orbium_opentelemetry::register(&mut interceptors, provider.tracer("relay"))?;
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?;
    Ok(orb.interceptors(interceptors).build()?)
}
// ANCHOR_END: orb

/// Passes a text from a client by way of two servers, within a span of the program.
///
/// # Errors
/// Those of the ORBs.
pub fn pass(provider: &SdkTracerProvider, text: &str) -> Result<String, Box<dyn Error>> {
    let (client, front, back) = (
        traced_orb(provider)?,
        traced_orb(provider)?,
        traced_orb(provider)?,
    );
    let (name, next) = ("back", None);
    let last: Station = back.serve("Station", Stop { name, next })?;
    let next = Some(front.resolve(&back.object_to_string(&last))?);
    let name = "front";
    let first: Station = front.serve("Station", Stop { name, next })?;
    let station: Station = client.resolve(&front.object_to_string(&first))?;
    let passed = provider
        .tracer("relay")
        .in_span("program", |_| station.pass(text))?;
    for orb in [client, front, back] {
        orb.shutdown(true)?;
    }
    Ok(passed)
}
