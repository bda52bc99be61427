// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latencies and rates.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// The longest latency that is distinguished, in nanoseconds: an hour.
const MAX_LATENCY_NANOS: u64 = 3_600_000_000_000;

/// Decimal digits of a latency that the histogram keeps.
const DIGITS: u8 = 3;

/// Latencies of calls in nanoseconds, to three digits, in a histogram of fixed size.
#[derive(Debug)]
pub struct Samples {
    latencies: Histogram<u64>,
}

impl Default for Samples {
    fn default() -> Self {
        let latencies = Histogram::new_with_bounds(1, MAX_LATENCY_NANOS, DIGITS);
        Self {
            latencies: latencies.expect("the bounds are in order"),
        }
    }
}

impl Samples {
    /// Records the latency of a call, in nanoseconds.
    #[inline]
    pub fn push(&mut self, nanoseconds: u64) {
        self.latencies.saturating_record(nanoseconds);
    }

    /// Adds the latencies of others.
    pub fn extend(&mut self, others: &Self) {
        // Both have the same bounds, so that this cannot fail.
        let _ = self.latencies.add(&others.latencies);
    }

    /// The latency that this fraction of the calls did not exceed, in nanoseconds;
    /// 0 without calls.
    #[must_use]
    pub fn percentile(&self, fraction: f64) -> u64 {
        self.latencies.value_at_quantile(fraction)
    }
}

/// The figures of one peer for one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Median latency in nanoseconds.
    pub median: u64,
    /// Latency that 99 of 100 calls did not exceed, in nanoseconds.
    pub p99: u64,
    /// Calls per second of the whole loop.
    pub rate: f64,
}

impl Timing {
    /// The figures of a loop of so many calls.
    #[must_use]
    pub fn new(samples: &Samples, calls: u64, elapsed: Duration) -> Self {
        Self {
            median: samples.percentile(0.5),
            p99: samples.percentile(0.99),
            rate: rate(calls, elapsed),
        }
    }

    /// The figures as JSON.
    #[must_use]
    pub fn to_json(self) -> Value {
        json!({ "median_ns": self.median, "p99_ns": self.p99, "calls_per_second": self.rate })
    }

    /// Reads the JSON of [`Self::to_json`]; `None` for anything else.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            median: value["median_ns"].as_u64()?,
            p99: value["p99_ns"].as_u64()?,
            rate: value["calls_per_second"].as_f64()?,
        })
    }
}

/// Calls per second.
pub fn rate(calls: u64, elapsed: Duration) -> f64 {
    calls as f64 / elapsed.as_secs_f64().max(1e-9)
}

/// The median of some numbers; of an even number of them, the mean of the two in the middle. Zero
/// for none.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Nanoseconds for people: three or four digits and a unit.
pub fn latency(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..=999 => format!("{nanoseconds} ns"),
        1_000..=999_999 => format!("{:.1} µs", value / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// A whole number with separated thousands.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_latencies_that_occurred() {
        let mut samples = Samples::default();
        assert_eq!(samples.percentile(0.5), 0);
        (1..=101).rev().for_each(|n| samples.push(n));
        assert_eq!(samples.percentile(0.0), 1);
        assert_eq!(samples.percentile(0.5), 51);
        assert_eq!(samples.percentile(0.99), 100);
        assert_eq!(samples.percentile(1.0), 101);
    }

    #[test]
    fn latencies_keep_three_digits_and_the_longest_saturates() {
        for nanoseconds in [16_041, 1_234_567, 987_654_321] {
            let mut samples = Samples::default();
            samples.push(nanoseconds);
            let error = samples.percentile(0.5).abs_diff(nanoseconds);
            assert!(error * 1000 <= nanoseconds, "{nanoseconds} by {error}");
        }
        let mut samples = Samples::default();
        samples.push(u64::MAX);
        assert!(samples.percentile(0.5) >= MAX_LATENCY_NANOS);
    }

    #[test]
    fn samples_are_added() {
        let (mut one, mut other) = (Samples::default(), Samples::default());
        one.push(10);
        other.push(30);
        other.push(20);
        one.extend(&other);
        assert_eq!(one.percentile(0.5), 20);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!(latency(999), "999 ns");
        assert_eq!(latency(12_340), "12.3 µs");
        assert_eq!(latency(1_250_000), "1.2 ms");
        assert_eq!(thousands(0.0), "0");
        assert_eq!(thousands(999.6), "1,000");
        assert_eq!(thousands(1_234_567.0), "1,234,567");
    }
}
