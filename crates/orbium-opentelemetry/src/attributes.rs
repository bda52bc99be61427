// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and attributes of spans, by OpenTelemetry's semantic conventions for RPC. They are the
//! same as in the spans that the ORB creates for the crate `tracing`.

use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanRef, Status};
use orbium_invocation::spans::{Method, Scoped};

/// Maximum characters of a repository id of a peer.
const MAX_ID: usize = 256;

/// `Module::Interface/operation`; the operation alone if the interface is unknown.
pub(crate) fn method(interface: &str, operation: &str) -> String {
    let method = Method {
        interface: cut(interface),
        operation,
    };
    method.to_string()
}

/// The scoped IDL name of a repository id of a peer.
pub(crate) fn scoped(id: &str) -> String {
    Scoped(cut(id)).to_string()
}

fn cut(id: &str) -> &str {
    let end = id.char_indices().nth(MAX_ID).map_or(id.len(), |(at, _)| at);
    &id[..end]
}

/// The attribute of every span.
pub(crate) fn system() -> KeyValue {
    KeyValue::new("rpc.system.name", "corba")
}

/// Records the method of a call or request.
pub(crate) fn note_method(span: &SpanRef<'_>, method: String) {
    span.update_name(method.clone());
    span.set_attribute(KeyValue::new("rpc.method", method));
}

/// Records that a call or request has ended with an exception.
pub(crate) fn note_exception(span: &SpanRef<'_>, id: &str, is_system: bool) {
    let name = scoped(id);
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
