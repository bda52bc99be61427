// SPDX-License-Identifier: MIT OR Apache-2.0
//! What many latencies come to.

use std::time::Duration;

use serde_json::{Value, json};

/// Latencies of calls, as they are measured. All room is taken, and touched,
/// before the first.
#[derive(Debug)]
pub(crate) struct Samples {
    nanoseconds: Vec<u64>,
}

impl Samples {
    /// Room for that many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        // Written, so that the pages are there and no fault lands in a sample.
        let mut nanoseconds = vec![1; count];
        nanoseconds.clear();
        Self { nanoseconds }
    }

    #[inline]
    pub(crate) fn push(&mut self, nanoseconds: u64) {
        self.nanoseconds.push(nanoseconds);
    }

    pub(crate) fn extend(&mut self, others: &Self) {
        self.nanoseconds.extend_from_slice(&others.nanoseconds);
    }

    /// The latency that a fraction of the calls did not exceed.
    pub(crate) fn percentile(&mut self, fraction: f64) -> u64 {
        let last = self.nanoseconds.len().saturating_sub(1);
        if self.nanoseconds.is_empty() {
            return 0;
        }
        let index = (last as f64 * fraction).round() as usize;
        *self.nanoseconds.select_nth_unstable(index.min(last)).1
    }
}

/// The figures of one peer for one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    /// Median latency in nanoseconds.
    pub(crate) median: u64,
    /// Latency that 99 of 100 calls did not exceed, in nanoseconds.
    pub(crate) p99: u64,
    /// Calls per second of the whole loop.
    pub(crate) rate: f64,
}

impl Timing {
    pub(crate) fn new(samples: &mut Samples, calls: u64, elapsed: Duration) -> Self {
        Self {
            median: samples.percentile(0.5),
            p99: samples.percentile(0.99),
            rate: rate(calls, elapsed),
        }
    }

    pub(crate) fn to_json(self) -> Value {
        json!({ "median_ns": self.median, "p99_ns": self.p99, "calls_per_second": self.rate })
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            median: value["median_ns"].as_u64()?,
            p99: value["p99_ns"].as_u64()?,
            rate: value["calls_per_second"].as_f64()?,
        })
    }
}

/// Calls per second.
pub(crate) fn rate(calls: u64, elapsed: Duration) -> f64 {
    calls as f64 / elapsed.as_secs_f64().max(1e-9)
}

/// The middle of some numbers; of an even number of them, the mean of the two
/// in the middle. Zero for none.
pub(crate) fn median(numbers: &[f64]) -> f64 {
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
pub(crate) fn latency(nanoseconds: u64) -> String {
    let value = nanoseconds as f64;
    match nanoseconds {
        0..=999 => format!("{nanoseconds} ns"),
        1_000..=999_999 => format!("{:.1} µs", value / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// A whole number with its thousands apart.
pub(crate) fn thousands(number: f64) -> String {
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
        let mut samples = Samples::with_capacity(0);
        assert_eq!(samples.percentile(0.5), 0);
        (1..=101).rev().for_each(|n| samples.push(n));
        assert_eq!(samples.percentile(0.0), 1);
        assert_eq!(samples.percentile(0.5), 51);
        assert_eq!(samples.percentile(0.99), 100);
        assert_eq!(samples.percentile(1.0), 101);
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
