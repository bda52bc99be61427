// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets as text.

/// Octets as hexadecimal digits.
pub(super) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Octets as text: printable ASCII unchanged, a point for every other octet.
pub(super) fn printable(octets: &[u8]) -> String {
    octets
        .iter()
        .map(|octet| match octet {
            0x20..=0x7e => char::from(*octet),
            _ => '.',
        })
        .collect()
}
