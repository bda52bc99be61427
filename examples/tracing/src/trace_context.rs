// SPDX-License-Identifier: MIT OR Apache-2.0
//! The value of a `traceparent` header (W3C Trace Context, clause 3.2).

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

/// Trace to which a request belongs, and the span that has caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Of the whole trace; not zero.
    pub trace_id: u128,
    /// Of the span that causes the request; not zero.
    pub span_id: u64,
    /// Whether the caller records the trace.
    pub is_sampled: bool,
}

/// It is no `traceparent` of version 00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTraceParent;

impl TraceContext {
    /// The first span of a new trace.
    #[must_use]
    pub fn root() -> Self {
        Self {
            trace_id: u128::from(random()) << 64 | u128::from(random()),
            span_id: random(),
            is_sampled: true,
        }
    }

    /// Another span of the trace.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            span_id: random(),
            ..*self
        }
    }
}

/// A random number that is not zero.
fn random() -> u64 {
    RandomState::new().hash_one(()).max(1)
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.is_sampled);
        let (trace_id, span_id) = (self.trace_id, self.span_id);
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

impl FromStr for TraceContext {
    type Err = InvalidTraceParent;

    fn from_str(text: &str) -> Result<Self, InvalidTraceParent> {
        let mut fields = text.split('-');
        let mut field = |digits: usize| {
            let is_hex = |it: &&str| {
                let hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                it.len() == digits && it.as_bytes().iter().all(hex)
            };
            fields.next().filter(is_hex).ok_or(InvalidTraceParent)
        };
        let (version, trace_id, span_id, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let number = |_| InvalidTraceParent;
        let parsed = Self {
            trace_id: u128::from_str_radix(trace_id, 16).map_err(number)?,
            span_id: u64::from_str_radix(span_id, 16).map_err(number)?,
            is_sampled: u8::from_str_radix(flags, 16).map_err(number)? & 1 != 0,
        };
        let is_valid = version == "00" && parsed.trace_id != 0 && parsed.span_id != 0;
        if is_valid && fields.next().is_none() {
            Ok(parsed)
        } else {
            Err(InvalidTraceParent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_and_written() {
        let context: TraceContext = EXAMPLE.parse().unwrap();
        assert_eq!(context.span_id, 0x00f0_67aa_0ba9_02b7);
        assert!(context.is_sampled);
        assert_eq!(context.to_string(), EXAMPLE);
        let child = context.child();
        assert_eq!(child.trace_id, context.trace_id);
        assert_eq!(child.to_string().parse(), Ok(child));
    }

    #[test]
    fn rejects_what_is_no_traceparent() {
        let zero_trace = EXAMPLE.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32));
        let wrong = [
            "",
            "00",
            &EXAMPLE[..54],
            &EXAMPLE.to_uppercase(),
            &EXAMPLE.replace("00-4", "01-4"),
            &EXAMPLE.replace("00f067aa0ba902b7", "0000000000000000"),
            &EXAMPLE.replace("00f067aa0ba902b7", "+0f067aa0ba902b7"),
            &zero_trace,
            &format!("{EXAMPLE}-00"),
        ];
        for text in wrong {
            assert_eq!(
                text.parse::<TraceContext>(),
                Err(InvalidTraceParent),
                "{text}"
            );
        }
    }
}
