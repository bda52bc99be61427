// SPDX-License-Identifier: MIT OR Apache-2.0
//! A hash for addresses of this process, which no peer chooses.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;

/// A map by address.
pub(crate) type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<AddressHasher>>;

/// Multiplies by an odd number and folds the halves of the product, so that high bits and low
/// ones depend on all bits of the address.
#[derive(Debug, Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        let product = u128::from(self.0 ^ address as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// A table uses the low bits for its buckets: equal distances must not leave most of them
    /// empty.
    #[test]
    fn addresses_at_equal_distances_spread_over_the_buckets() {
        for distance in [16, 48, 64, 80, 4096] {
            let bucket = |n: usize| {
                let mut hasher = AddressHasher::default();
                hasher.write_usize(0x7f12_3456_7000 + n * distance);
                hasher.finish() % 1024
            };
            let used: HashSet<_> = (0..1024).map(bucket).collect();
            assert!(used.len() > 512, "{distance}: {} buckets", used.len());
        }
    }
}
