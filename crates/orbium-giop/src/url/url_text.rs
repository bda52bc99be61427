// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cutting the text of object URLs.

/// Whether a text starts with a scheme, in any case.
pub(crate) fn has_scheme(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// The number of octets of a text before the first of the given characters, all ASCII.
pub(crate) fn before(text: &str, ends: &[u8]) -> usize {
    let end = text.bytes().position(|octet| ends.contains(&octet));
    end.unwrap_or(text.len())
}
