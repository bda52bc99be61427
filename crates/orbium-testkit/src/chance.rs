// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pseudo-random numbers for tests.

/// A xorshift generator: the same numbers for the same seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// A generator with that seed; 0 is replaced by 1, as it would only generate itself.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// A number below the bound.
    ///
    /// # Panics
    /// The bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}
