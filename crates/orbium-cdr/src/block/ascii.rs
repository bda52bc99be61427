// SPDX-License-Identifier: MIT OR Apache-2.0
//! Texts that are checked by words.

const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The result of a scan of octets.
#[derive(Clone, Copy)]
pub(crate) struct Scanned<'a> {
    /// Whether the octets contain a NUL.
    pub(crate) has_nul: bool,
    /// The text, if all octets are ASCII.
    pub(crate) ascii: Option<&'a str>,
}

/// Searches for NULs and for octets beyond ASCII word by word: most texts have two words, which the
/// standard library scans octet by octet.
#[inline]
pub(crate) fn scan(octets: &[u8]) -> Scanned<'_> {
    let mut nuls = 0;
    let mut all = 0;
    let mut add = |word: u64| {
        nuls |= word.wrapping_sub(LOWEST) & !word;
        all |= word;
    };
    let (words, rest) = octets.as_chunks();
    words.iter().for_each(|word| add(u64::from_ne_bytes(*word)));
    match (rest, octets.last_chunk()) {
        ([], _) => {}
        // The last eight octets, some of them a second time.
        (_, Some(last)) => add(u64::from_ne_bytes(*last)),
        (few, None) => {
            // Missing octets count as neither NUL nor beyond ASCII.
            let mut word = [1; 8];
            few.iter()
                .zip(&mut word)
                .for_each(|(octet, it)| *it = *octet);
            add(u64::from_ne_bytes(word));
        }
    }
    let is_ascii = all & HIGH_BITS == 0;
    Scanned {
        has_nul: nuls & HIGH_BITS != 0,
        // SAFETY: every octet is in `all`, so none has its highest bit: ASCII is UTF-8.
        ascii: is_ascii.then(|| unsafe { core::str::from_utf8_unchecked(octets) }),
    }
}

#[cfg(test)]
mod tests {
    use super::scan;

    #[test]
    fn a_nul_is_found_wherever_it_is() {
        for length in 0..40 {
            // Octets that a borrow within a word could mistake for NUL.
            for other in [1, 0x7f, 0x80, 0x81, 0xff] {
                let mut octets = vec![other; length];
                assert!(!scan(&octets).has_nul, "{octets:?}");
                for place in 0..length {
                    octets[place] = 0;
                    assert!(scan(&octets).has_nul, "{octets:?}");
                    octets[place] = other;
                }
            }
        }
    }

    #[test]
    fn ascii_is_what_has_no_octet_beyond_it() {
        for length in 0..40 {
            let mut octets = vec![b'a'; length];
            assert_eq!(scan(&octets).ascii, core::str::from_utf8(&octets).ok());
            for place in 0..length {
                for beyond in [0x80, 0xc3, 0xff] {
                    octets[place] = beyond;
                    assert_eq!(scan(&octets).ascii, None, "{octets:?}");
                }
                octets[place] = 0x7f;
                assert_eq!(scan(&octets).ascii.map(str::len), Some(length));
                octets[place] = b'a';
            }
        }
    }
}
