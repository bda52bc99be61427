// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORBs with spans that a test reads.

use std::sync::Arc;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData, SpanExporter};
use orbium::Orb;
use orbium::interceptor::Interceptors;
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, reach};

/// A provider that hands each span to `exporter` when it ends.
pub(crate) fn provider(exporter: impl SpanExporter + 'static) -> SdkTracerProvider {
    SdkTracerProvider::builder()
        .with_simple_exporter(exporter)
        .build()
}

/// An ORB with both interceptors, which listens.
pub(crate) fn traced_orb(provider: &SdkTracerProvider) -> Orb {
    let mut interceptors = Interceptors::new();
    orbium_opentelemetry::register(&mut interceptors, provider.tracer("test")).unwrap();
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    orb.interceptors(interceptors).build().unwrap()
}

/// An object of another ORB, and what is known of it in its server.
pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) state: Arc<TargetState>,
    pub(crate) target: Target,
}

pub(crate) fn served(orb: Orb) -> Served {
    let state = Arc::new(TargetState::default());
    let target = orb.serve("Target", Arc::clone(&state)).unwrap();
    Served { orb, state, target }
}

/// The same object for another ORB.
pub(crate) fn seen_by(orb: &Orb, served: &Served) -> Target {
    reach(orb, &served.orb.object_to_string(&served.target))
}

/// What has ended so far, in the order of the beginnings.
pub(crate) fn spans(exporter: &InMemorySpanExporter) -> Vec<SpanData> {
    let mut all = exporter.get_finished_spans().unwrap();
    all.sort_by_key(|it| it.start_time);
    all
}

/// An attribute as text; empty if there is none.
pub(crate) fn attribute(span: &SpanData, key: &str) -> String {
    let found = span.attributes.iter().rfind(|it| it.key.as_str() == key);
    found.map(|it| it.value.to_string()).unwrap_or_default()
}
