// SPDX-License-Identifier: MIT OR Apache-2.0
//! Log-linear histograms of durations: four buckets per power of two.
//!
//! A recording is one relaxed addition to a bucket, one to the sum, and one load for
//! the maximum; the count is the sum of the buckets. Crates of HDR histograms record
//! through `&mut` or a channel to one writer, which a call path without locks cannot
//! use, and take some 100 KiB where this takes one.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The first power of two with separate buckets: durations below 128 ns share one.
const FIRST: u32 = 7;

/// The power of two from which all durations share one bucket: 68.7 s.
const LAST: u32 = 36;

/// Buckets of a histogram.
const BUCKETS: usize = 2 + 4 * (LAST - FIRST) as usize;

/// The bucket of a duration.
#[inline]
fn bucket_of(nanos: u64) -> usize {
    if nanos < 1 << FIRST {
        return 0;
    }
    let power = u64::BITS - 1 - nanos.leading_zeros();
    if power >= LAST {
        return BUCKETS - 1;
    }
    let quarter = (nanos >> (power - 2)) & 3;
    1 + 4 * (power - FIRST) as usize + quarter as usize
}

/// The end of a bucket, in nanoseconds; the last is unbounded.
fn end_of(bucket: usize) -> u64 {
    match bucket {
        0 => 1 << FIRST,
        last if last >= BUCKETS - 1 => u64::MAX,
        bucket => {
            let power = FIRST + (bucket as u32 - 1) / 4;
            let quarter = (bucket as u64 - 1) % 4;
            (5 + quarter) << (power - 2)
        }
    }
}

/// A duration that represents those of a bucket.
fn middle_of(bucket: usize) -> u64 {
    match bucket {
        0 => 1 << (FIRST - 1),
        last if last >= BUCKETS - 1 => 1 << LAST,
        bucket => end_of(bucket - 1).midpoint(end_of(bucket)),
    }
}

/// A histogram into which any thread records.
#[derive(Debug)]
pub(crate) struct Recorder {
    counts: [AtomicU64; BUCKETS],
    sum: AtomicU64,
    max: AtomicU64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; BUCKETS],
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
        }
    }
}

impl Recorder {
    #[inline]
    pub(crate) fn record(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket_of(nanos)].fetch_add(1, Relaxed);
        self.sum.fetch_add(nanos, Relaxed);
        if nanos > self.max.load(Relaxed) {
            self.max.fetch_max(nanos, Relaxed);
        }
    }

    /// Adds the recorded durations to a histogram.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        histogram.counts.resize(BUCKETS, 0);
        for (sum, own) in histogram.counts.iter_mut().zip(&self.counts) {
            *sum += own.load(Relaxed);
        }
        histogram.sum = histogram.sum.wrapping_add(self.sum.load(Relaxed));
        histogram.max = histogram.max.max(self.max.load(Relaxed));
    }
}

/// A snapshot of a histogram of durations: the count of each of 118 buckets,
/// four per power of two from 128 ns to 68.7 s. A quantile is off by 25 % at most.
///
/// Quantiles over a time are those of the difference of two snapshots:
///
/// ```
/// # fn f(before: &orbium_metrics::Histogram, after: &orbium_metrics::Histogram) {
/// let lately = after.since(before);
/// println!("{} calls, 99 % within {:?}", lately.count(), lately.quantile(0.99));
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Empty, or one for each bucket.
    counts: Vec<u64>,
    sum: u64,
    max: u64,
}

impl Histogram {
    /// A histogram with these buckets, as returned by [`buckets`](Self::buckets), with the sum and
    /// the maximum in nanoseconds. Buckets beyond the last are dropped.
    #[must_use]
    pub fn from_buckets(buckets: &[u64], sum_nanos: u64, max_nanos: u64) -> Self {
        let mut counts = buckets.to_vec();
        counts.resize(BUCKETS, 0);
        Self {
            counts,
            sum: sum_nanos,
            max: max_nanos,
        }
    }

    /// The number of durations in each bucket, without the empty ones at the end.
    #[must_use]
    pub fn buckets(&self) -> &[u64] {
        let end = self.counts.iter().rposition(|count| *count > 0);
        &self.counts[..end.map_or(0, |last| last + 1)]
    }

    /// The number of durations recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of the durations.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum)
    }

    /// The longest duration.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// The mean of the durations; zero if there are none.
    #[must_use]
    pub fn mean(&self) -> Duration {
        Duration::from_nanos(self.sum.checked_div(self.count()).unwrap_or(0))
    }

    /// The duration not exceeded by that part of all, from 0 to 1; zero if there are none. It is
    /// the end of its bucket, at most 25 % too long, and never above the maximum.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Duration {
        let total = self.count();
        let rank = ((total as f64 * part.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut below = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            below += count;
            if below >= rank {
                return Duration::from_nanos(end_of(bucket).min(self.max));
            }
        }
        Duration::ZERO
    }

    /// The number of durations at or below a bound, with each bucket counted by its middle.
    #[must_use]
    pub fn count_within(&self, bound: Duration) -> u64 {
        let bound = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        let buckets = self.counts.iter().enumerate();
        let within = buckets.take_while(|(bucket, _)| middle_of(*bucket) <= bound);
        within.map(|(_, count)| count).sum()
    }

    /// The durations recorded since an earlier snapshot of the same histogram. The maximum is that
    /// of its bucket, unless it is the overall maximum.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |bucket: usize| earlier.counts.get(bucket).copied().unwrap_or(0);
        let counts: Vec<u64> = self
            .counts
            .iter()
            .enumerate()
            .map(|(bucket, count)| count.saturating_sub(before(bucket)))
            .collect();
        let highest = counts.iter().rposition(|count| *count > 0);
        Self {
            max: highest.map_or(0, |bucket| end_of(bucket).min(self.max)),
            sum: self.sum.saturating_sub(earlier.sum),
            counts,
        }
    }

    /// Adds the durations of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .resize(self.counts.len().max(other.counts.len()), 0);
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        self.sum = self.sum.wrapping_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// The middle of each non-empty bucket, with its count.
    pub fn samples(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let counts = self.counts.iter().copied().enumerate();
        counts
            .filter(|(_, count)| *count > 0)
            .map(|(bucket, count)| (Duration::from_nanos(middle_of(bucket)), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_in_the_bucket_that_ends_above_it() {
        let mut nanos = 1_u64;
        while nanos < 1 << 40 {
            for nanos in [nanos - 1, nanos, nanos + 1] {
                let bucket = bucket_of(nanos);
                assert!(nanos < end_of(bucket), "{nanos} in {bucket}");
                assert!(
                    bucket == 0 || nanos >= end_of(bucket - 1),
                    "{nanos} in {bucket}"
                );
            }
            nanos += 1 + nanos / 3;
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_off_by_a_quarter_at_most_and_never_above_the_maximum() {
        let recorder = Recorder::default();
        for micros in 1..=1000 {
            recorder.record(Duration::from_micros(micros));
        }
        let mut histogram = Histogram::default();
        recorder.add_to(&mut histogram);
        assert_eq!(histogram.count(), 1000);
        assert_eq!(histogram.max(), Duration::from_millis(1));
        assert_eq!(histogram.sum(), Duration::from_micros(500_500));
        for (part, exact) in [(0.5, 500), (0.9, 900), (0.99, 990), (1.0, 1000)] {
            let exact = Duration::from_micros(exact);
            let found = histogram.quantile(part);
            assert!(
                found >= exact && found <= exact * 5 / 4,
                "{part}: {found:?}"
            );
            assert!(found <= histogram.max());
        }
        assert_eq!(Histogram::default().quantile(0.99), Duration::ZERO);
    }

    #[test]
    fn a_difference_has_what_came_between_and_survives_the_way_through_buckets() {
        let recorder = Recorder::default();
        let looked = || {
            let mut histogram = Histogram::default();
            recorder.add_to(&mut histogram);
            histogram
        };
        recorder.record(Duration::from_secs(1));
        let before = looked();
        recorder.record(Duration::from_micros(10));
        let after = looked();
        let lately = after.since(&before);
        assert_eq!(lately.count(), 1);
        assert!(lately.quantile(0.99) < Duration::from_micros(13));
        assert!(lately.max() < Duration::from_micros(13));
        let again = Histogram::from_buckets(after.buckets(), after.sum, after.max);
        assert_eq!(again, after);
        assert_eq!(after.count_within(Duration::from_micros(25)), 1);
        assert_eq!(after.count_within(Duration::from_secs(5)), 2);
    }
}
