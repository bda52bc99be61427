// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets written together with their meaning, and a small generator of random numbers.

/// The octets of hexadecimal text; `#` starts a comment, white space is free.
pub(crate) fn octets(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .lines()
        .flat_map(|line| line.split('#').next().unwrap_or("").chars())
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).expect("a hexadecimal digit")).unwrap())
        .collect();
    assert_eq!(digits.len() % 2, 0, "whole octets");
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// A xorshift generator: the same numbers in every run.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// Changes, adds or takes away octets at a few places.
    pub(crate) fn mutate(&mut self, octets: &mut Vec<u8>) {
        const TELLING: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
        for _ in 0..=self.below(4) {
            let at = self.below(octets.len() + 1);
            match self.below(8) {
                0 => octets.truncate(at),
                1 => octets.insert(at, TELLING[self.below(6)]),
                2 if at < octets.len() => {
                    octets.remove(at);
                }
                3 | 4 if at < octets.len() => octets[at] = TELLING[self.below(6)],
                _ if at < octets.len() => octets[at] = self.below(256) as u8,
                _ => octets.push(self.below(256) as u8),
            }
        }
    }
}
