// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers in one to five octets: seven bits each, low bits first, the highest
//! bit set in all but the last.

use super::MessagingError;

/// Octets that a number takes.
pub(super) const fn len(value: u32) -> usize {
    match value {
        0..=0x7F => 1,
        0x80..=0x3FFF => 2,
        0x4000..=0x1F_FFFF => 3,
        0x20_0000..=0xFFF_FFFF => 4,
        _ => 5,
    }
}

pub(super) fn write(mut value: u32, out: &mut Vec<u8>) {
    while value > 0x7F {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A number at the start of `octets` and what follows it; `None` if the octets
/// end within it. One that is beyond 32 bits or written too long is refused.
pub(super) fn read(octets: &[u8]) -> Result<Option<(u32, &[u8])>, MessagingError> {
    let mut value = 0;
    for (i, octet) in octets.iter().take(5).enumerate() {
        let bits = u32::from(octet & 0x7F);
        if (i == 4 && bits > 0xF) || (i > 0 && *octet == 0) {
            return Err(MessagingError::Refused(
                "a number is not written as it must",
            ));
        }
        value |= bits << (7 * i);
        if octet & 0x80 == 0 {
            return Ok(Some((value, &octets[i + 1..])));
        }
    }
    if octets.len() < 5 {
        return Ok(None);
    }
    Err(MessagingError::Refused(
        "a number is not written as it must",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_as_many_octets_as_said() {
        let edges = (0..32).flat_map(|bit| [(1_u32 << bit) - 1, 1 << bit]);
        for value in edges.chain([u32::MAX]) {
            let mut out = Vec::new();
            write(value, &mut out);
            assert_eq!(out.len(), len(value));
            assert_eq!(read(&out), Ok(Some((value, &[][..]))));
            assert_eq!(read(&out[..out.len() - 1]), Ok(None));
        }
    }

    #[test]
    fn other_ways_to_write_a_number_are_refused() {
        for octets in [
            &[0x80, 0][..],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0x10],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0x8F],
        ] {
            assert!(read(octets).is_err(), "{octets:02x?}");
        }
    }
}
