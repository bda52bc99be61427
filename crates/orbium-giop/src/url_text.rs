// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cutting the text of object URLs.

/// A text without the white space around it.
#[inline(never)]
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim()
}

/// Whether a text starts with a scheme, in any case.
#[inline(never)]
pub(crate) fn has_scheme(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// How many octets of a text stand before the first of some characters, all of
/// ASCII.
#[inline(never)]
pub(crate) fn before(text: &str, ends: &[u8]) -> usize {
    let octets = text.as_bytes();
    let mut len = 0;
    while len < octets.len() && !ends.contains(&octets[len]) {
        len += 1;
    }
    len
}

/// What stands before the first of a character, which is of ASCII, and after it.
#[inline(never)]
pub(crate) fn split_once(text: &str, mark: u8) -> Option<(&str, &str)> {
    let at = before(text, &[mark]);
    Some((text.get(..at)?, text.get(at + 1..)?))
}
