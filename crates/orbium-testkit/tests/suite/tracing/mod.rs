// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spans and events for subscribers of `tracing`.

mod events;
mod refusals;
mod spans;
mod unwanted;

use orbium_testkit::{RecordedSpan, Recorder};
use tracing::level_filters::LevelFilter;

/// Records spans of calls and requests, and all that is not for TRACE.
fn recording() -> Recorder {
    Recorder::install(LevelFilter::DEBUG)
}

/// The span of a method among others.
fn of<'s>(spans: &'s [RecordedSpan], method: &str) -> &'s RecordedSpan {
    let mut found = spans.iter().filter(|it| it.get("rpc.method") == method);
    let span = found.next().expect("the span of the method");
    assert!(found.next().is_none(), "several spans of {method}");
    span
}

/// The fields of a span as it has to have them; an empty value means none.
#[track_caller]
fn expect(span: &RecordedSpan, expected: &[(&str, &str)]) {
    for (field, value) in expected {
        assert_eq!(span.get(field), *value, "{field} of {span:#?}");
    }
}
