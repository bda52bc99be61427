// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value that is replaced while others read it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lock::Mutex;

/// Each bucket has twice the slots of the one before.
const BUCKETS: usize = 16;

/// The maximum version number.
const MAX_NUMBER: usize = (1 << BUCKETS) - 1;

/// A value that is replaced while others read it. Reading takes no lock and returns a plain
/// reference, as each version is kept until the whole is dropped: for values that are replaced a
/// few times in the life of a program, at most 65,535 times.
///
/// ```
/// use orbium_sync::Versions;
///
/// let limit = Versions::new(10);
/// let before = limit.current();
/// limit.replace(20).unwrap();
/// assert_eq!((*before, *limit.current()), (10, 20));
/// ```
#[derive(Debug)]
pub struct Versions<T> {
    first: T,
    later: [OnceLock<Box<[OnceLock<T>]>>; BUCKETS],
    /// 0 for the first.
    newest: AtomicUsize,
    replacing: Mutex<()>,
}

impl<T> Versions<T> {
    /// The first version.
    pub const fn new(first: T) -> Self {
        Self {
            first,
            later: [const { OnceLock::new() }; BUCKETS],
            newest: AtomicUsize::new(0),
            replacing: Mutex::new(()),
        }
    }

    /// The newest version.
    #[must_use]
    #[inline]
    pub fn current(&self) -> &T {
        // Acquire: synchronizes with the store in `replace`, which follows the setting of
        // the slot.
        match self.newest.load(Ordering::Acquire) {
            0 => &self.first,
            number => self.later(number).unwrap_or(&self.first),
        }
    }

    fn later(&self, number: usize) -> Option<&T> {
        let (bucket, place) = slot(number);
        self.later.get(bucket)?.get()?.get(place)?.get()
    }

    /// Whether it can no longer be replaced.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.newest.load(Ordering::Acquire) == MAX_NUMBER
    }

    /// Replaces the value for subsequent readers.
    ///
    /// # Errors
    /// It was replaced too often: the given value is returned.
    pub fn replace(&self, value: T) -> Result<(), T> {
        let _alone = self.replacing.lock();
        let number = self.newest.load(Ordering::Relaxed) + 1;
        let (bucket, place) = slot(number);
        let Some(bucket_slots) = self.later.get(bucket) else {
            return Err(value);
        };
        let empty = || (0..1_usize << bucket).map(|_| OnceLock::new()).collect();
        bucket_slots.get_or_init(empty)[place].set(value)?;
        // Release: the value happens-before a reader that loads its number.
        self.newest.store(number, Ordering::Release);
        Ok(())
    }
}

/// The bucket of a version after the first, and its position there.
const fn slot(number: usize) -> (usize, usize) {
    let bucket = number.ilog2();
    (bucket as usize, number - (1 << bucket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_is_read_until_the_next_and_stays() {
        let versions = Versions::new(0);
        let mut seen = vec![versions.current()];
        for number in 1..100 {
            versions.replace(number).unwrap();
            seen.push(versions.current());
        }
        let seen: Vec<i32> = seen.into_iter().copied().collect();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn values_replaced_too_often_are_given_back() {
        let versions = Versions::new(0);
        for number in 1..=MAX_NUMBER {
            assert!(!versions.is_final());
            versions.replace(number).unwrap();
        }
        assert!(versions.is_final());
        assert_eq!(versions.replace(7), Err(7));
        assert_eq!(*versions.current(), MAX_NUMBER);
    }

    #[test]
    fn readers_see_versions_in_order_while_they_are_replaced() {
        let versions = Versions::new(0_usize);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=1000 {
                    versions.replace(number).unwrap();
                }
            });
            let mut last = 0;
            while last < 1000 {
                let now = *versions.current();
                assert!(now >= last);
                last = now;
            }
        });
    }
}
