// SPDX-License-Identifier: MIT OR Apache-2.0
//! One trace from a client through two servers.

use opentelemetry::trace::SpanKind;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use opentelemetry_spans::pass;

#[test]
fn each_hop_is_a_child_of_the_one_before() -> Result<(), Box<dyn std::error::Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    assert_eq!(pass(&provider, "hello by")?, "hello by front back");
    let all = exporter.get_finished_spans()?;
    let mut parent = all.iter().find(|it| it.name == "program").unwrap();
    for kind in [
        SpanKind::Client,
        SpanKind::Server,
        SpanKind::Client,
        SpanKind::Server,
    ] {
        let is_child = |id| id == parent.span_context.span_id();
        let child = all.iter().find(|it| is_child(it.parent_span_id)).unwrap();
        assert_eq!(child.span_kind, kind);
        assert_eq!(child.name, "Relay::Station/pass");
        let trace_id = child.span_context.trace_id();
        assert_eq!(trace_id, parent.span_context.trace_id());
        parent = child;
    }
    assert_eq!(all.len(), 5);
    Ok(())
}
