// SPDX-License-Identifier: MIT OR Apache-2.0
//! W3C trace context in service contexts: the values of the headers `traceparent` and
//! `tracestate`, as they are.

use std::str::{FromStr, from_utf8};

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

/// The service context for the `traceparent`.
pub const TRACE_PARENT: u32 = 0x4F52_4257;

/// The service context for `tracestate`; requests without one do not have it.
pub const TRACE_STATE: u32 = 0x4F52_4258;

/// Maximum length of a `tracestate` that is forwarded: W3C requires at least 512 octets.
const MAX_STATE: usize = 8192;

/// The value of `traceparent` (W3C Trace Context, clause 3.2).
pub(crate) fn parent_of(span: &SpanContext) -> String {
    let (trace_id, span_id) = (span.trace_id(), span.span_id());
    let flags = span.trace_flags().to_u8() & TraceFlags::SAMPLED.to_u8();
    format!("00-{trace_id}-{span_id}-{flags:02x}")
}

/// The value of `tracestate`; may be empty.
pub(crate) fn state_of(span: &SpanContext) -> String {
    span.trace_state().header()
}

/// The span of a peer; `None` if its `traceparent` is invalid. A malformed `tracestate` is omitted.
pub(crate) fn read(parent: &[u8], state: Option<&[u8]>) -> Option<SpanContext> {
    let mut fields = from_utf8(parent).ok()?.split('-');
    let mut field = |digits: usize| {
        let is_hex = |it: &&str| {
            let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            it.len() == digits && it.bytes().all(hex)
        };
        fields.next().filter(is_hex)
    };
    let (version, trace_id, span_id, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
    // A later version may have more fields; 255 is invalid.
    if version == "ff" || (version == "00" && fields.next().is_some()) {
        return None;
    }
    let flags = u8::from_str_radix(flags, 16).ok()?;
    let state = state.filter(|it| it.len() <= MAX_STATE);
    let state = state.and_then(|it| TraceState::from_str(from_utf8(it).ok()?).ok());
    let span = SpanContext::new(
        TraceId::from_hex(trace_id).ok()?,
        SpanId::from_hex(span_id).ok()?,
        TraceFlags::new(flags) & TraceFlags::SAMPLED,
        true,
        state.unwrap_or_default(),
    );
    span.is_valid().then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_and_written() {
        let span = read(EXAMPLE.as_bytes(), Some(b"vendor=value")).unwrap();
        assert!(span.is_sampled() && span.is_remote());
        assert_eq!(parent_of(&span), EXAMPLE);
        assert_eq!(state_of(&span), "vendor=value");
        let later = format!("01{}-extra", &EXAMPLE[2..]);
        assert_eq!(parent_of(&read(later.as_bytes(), None).unwrap()), EXAMPLE);
    }

    #[test]
    fn malformed_traceparents_and_tracestates_are_ignored() {
        let zeros = EXAMPLE.replace("00f067aa0ba902b7", "0000000000000000");
        for wrong in ["", "00", &EXAMPLE[..54], &EXAMPLE.to_uppercase(), &zeros] {
            assert!(read(wrong.as_bytes(), None).is_none(), "{wrong}");
        }
        assert!(read(format!("{EXAMPLE}-00").as_bytes(), None).is_none());
        assert!(read(&[0xFF; 55], None).is_none());
        let huge = format!("vendor={}", "v".repeat(MAX_STATE));
        for state in [&b"\xFF"[..], b"vendor", huge.as_bytes()] {
            assert_eq!(
                state_of(&read(EXAMPLE.as_bytes(), Some(state)).unwrap()),
                ""
            );
        }
    }
}
