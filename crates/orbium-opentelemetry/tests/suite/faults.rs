// SPDX-License-Identifier: MIT OR Apache-2.0
//! An SDK that fails costs spans, and no call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use crate::Tested;
use crate::fixture::{provider, seen_by, served, traced_orb};

/// Panics when it is to export.
#[derive(Debug)]
struct Panicking(Arc<AtomicUsize>);

impl SpanExporter for Panicking {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("as the test asks")
    }
}

#[test]
fn an_exporter_that_panics_harms_no_call() -> Tested {
    let panics = Arc::<AtomicUsize>::default();
    let orb = traced_orb(&provider(Panicking(Arc::clone(&panics))));
    let server = served(traced_orb(&provider(Panicking(Arc::clone(&panics)))));
    let target = seen_by(&orb, &server);
    for number in 0..3 {
        assert_eq!(target.echo_long(number)?, number);
        assert!(target.refuse(number).is_err());
        target.post(number)?;
    }
    assert!(panics.load(Ordering::SeqCst) >= 2);
    Ok(())
}
