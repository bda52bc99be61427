// SPDX-License-Identifier: MIT OR Apache-2.0
//! Summary of measured latencies.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// The longest latency that is distinguished, in nanoseconds: a minute.
const MAX_LATENCY_NANOS: u64 = 60_000_000_000;

/// Decimal digits of a latency that the histogram keeps.
const DIGITS: u8 = 4;

/// Latencies of many calls, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// The number of latencies.
    pub(crate) count: usize,
    /// The mean: the latency of the paper.
    pub(crate) mean: f64,
    /// The standard deviation: the jitter of the paper.
    pub(crate) deviation: f64,
    pub(crate) median: f64,
    /// The 99th percentile.
    pub(crate) p99: f64,
    pub(crate) greatest: f64,
}

impl Summary {
    /// The summary of these latencies, percentiles to four digits; all zero for none.
    pub(crate) fn of(values: &[f64]) -> Self {
        let histogram = Histogram::<u64>::new_with_bounds(1, MAX_LATENCY_NANOS, DIGITS);
        let mut latencies = histogram.expect("the bounds are in order");
        for value in values {
            latencies.saturating_record(value.round() as u64);
        }
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let at = |fraction| latencies.value_at_quantile(fraction) as f64;
        Self {
            count: values.len(),
            mean,
            deviation: (squares / count).sqrt(),
            median: at(0.5),
            p99: at(0.99),
            greatest: latencies.max() as f64,
        }
    }

    pub(crate) fn to_json(self) -> Value {
        json!({
            "calls": self.count,
            "mean_ns": self.mean,
            "deviation_ns": self.deviation,
            "median_ns": self.median,
            "p99_ns": self.p99,
            "greatest_ns": self.greatest,
        })
    }
}

/// The numbers in an array of a reply; empty without an array.
pub(crate) fn numbers(of: &Value) -> Vec<f64> {
    let all = of.as_array().into_iter().flatten();
    all.filter_map(Value::as_f64).collect()
}

/// The ratio of two values; `None` without a finite one.
pub(crate) fn ratio(of: f64, over: f64) -> Option<f64> {
    let ratio = of / over;
    (over > 0.0 && ratio.is_finite()).then_some(ratio)
}

/// The number of values that are greater than their predecessor, in a list that should decrease:
/// late completions.
pub(crate) fn out_of_order(values: &[i64]) -> usize {
    values.windows(2).filter(|pair| pair[1] > pair[0]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_mean_and_standard_deviation() {
        let summary = Summary::of(&[9.0, 2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0]);
        assert_eq!(
            (summary.count, summary.mean, summary.deviation),
            (8, 5.0, 2.0)
        );
        assert_eq!((summary.greatest, summary.p99), (9.0, 9.0));
        assert_eq!(Summary::of(&[3.0]).deviation, 0.0);
        assert_eq!(Summary::of(&[3.0]).median, 3.0);
        assert_eq!(Summary::of(&[]), Summary::default());
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let all: Vec<f64> = (1..=101).map(f64::from).collect();
        let summary = Summary::of(&all);
        assert_eq!((summary.median, summary.p99), (51.0, 100.0));
    }

    #[test]
    fn nothing_is_compared_with_nothing() {
        assert_eq!(ratio(3.0, 2.0), Some(1.5));
        assert_eq!(ratio(3.0, 0.0), None);
        assert_eq!(ratio(f64::NAN, 1.0), None);
    }

    #[test]
    fn late_completions_are_counted() {
        assert_eq!(out_of_order(&[3, 3, 2, 1, 1]), 0);
        assert_eq!(out_of_order(&[3, 1, 2, 1, 3]), 2);
        assert_eq!(out_of_order(&[]), 0);
    }
}
