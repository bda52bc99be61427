// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and attributes of spans, by OpenTelemetry's semantic conventions for RPC. They are the
//! same as in the spans that the ORB creates for the crate `tracing`.

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanRef, Status};
use orbium_invocation::spans::Scoped;

/// `Module::Interface/operation`; the operation alone if the interface is unknown.
pub(crate) fn method(interface: &str, operation: &str) -> String {
    match interface {
        "" => operation.to_owned(),
        id => format!("{}/{operation}", Scoped(id)),
    }
}

/// Attributes of every span.
pub(crate) fn common(method: &str) -> Vec<KeyValue> {
    vec![
        KeyValue::new("rpc.system.name", "corba"),
        KeyValue::new("rpc.method", method.to_owned()),
    ]
}

/// Records that a call or request has ended with an exception.
pub(crate) fn note_exception(span: &SpanRef<'_>, id: &str, is_system: bool) {
    let name = Scoped(id).to_string();
    let status = if is_system {
        "SYSTEM_EXCEPTION"
    } else {
        "USER_EXCEPTION"
    };
    span.set_attribute(KeyValue::new("rpc.status_code", status));
    span.set_attribute(KeyValue::new("error.type", name.clone()));
    if is_system {
        // A user exception is an answer that the interface declares.
        span.set_status(Status::error(name));
    }
}

/// Records that a call or request has ended in another way.
pub(crate) fn note_status(span: &SpanRef<'_>, status: &'static str) {
    span.set_attribute(KeyValue::new("rpc.status_code", status));
}
