// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client and two servers, each with an ORB of its own, connected over TCP: one trace.

use opentelemetry_sdk::trace::SdkTracerProvider;
use opentelemetry_spans::{Lines, pass};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(Lines)
        .build();
    println!("{}", pass(&provider, "hello by way of")?);
    provider.shutdown()?;
    Ok(())
}
