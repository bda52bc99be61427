// SPDX-License-Identifier: MIT OR Apache-2.0
//! An exporter for terminals. Programs use one of OTLP.

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// Writes a line for each span that ends.
#[derive(Debug)]
pub struct Lines;

impl SpanExporter for Lines {
    async fn export(&self, ended: Vec<SpanData>) -> OTelSdkResult {
        for span in ended {
            let (kind, context) = (span.span_kind, span.span_context);
            println!(
                "{:<22} {:<8} trace={} span={} parent={}",
                span.name,
                format!("{kind:?}"),
                context.trace_id(),
                context.span_id(),
                span.parent_span_id,
            );
        }
        Ok(())
    }
}
