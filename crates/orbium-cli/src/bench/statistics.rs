// SPDX-License-Identifier: MIT OR Apache-2.0
//! What many measured values come to.

use serde_json::{Value, json};

/// Latencies of many calls, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// How many there are.
    pub(crate) count: usize,
    /// What the paper calls latency.
    pub(crate) mean: f64,
    /// What the paper calls jitter: the standard deviation.
    pub(crate) deviation: f64,
    pub(crate) median: f64,
    /// What 99 of 100 did not exceed.
    pub(crate) p99: f64,
    pub(crate) greatest: f64,
}

impl Summary {
    /// That of these values, all zero for none.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (Some(last), count) = (sorted.last().copied(), sorted.len()) else {
            return Self::default();
        };
        let mean = sorted.iter().sum::<f64>() / count as f64;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            count,
            mean,
            deviation: (squares / count as f64).sqrt(),
            median: percentile(&sorted, 0.5),
            p99: percentile(&sorted, 0.99),
            greatest: last,
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

/// The value of a sorted list that a fraction of them does not exceed.
fn percentile(sorted: &[f64], fraction: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * fraction).round() as usize;
    sorted.get(index.min(last)).copied().unwrap_or(0.0)
}

/// One value over another; `None` if there is nothing to compare with.
pub(crate) fn ratio(of: f64, over: f64) -> Option<f64> {
    let ratio = of / over;
    (over > 0.0 && ratio.is_finite()).then_some(ratio)
}

/// How often a value is greater than the one before it, in a list that should
/// fall: what comes too late.
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
    fn what_comes_too_late_is_counted() {
        assert_eq!(out_of_order(&[3, 3, 2, 1, 1]), 0);
        assert_eq!(out_of_order(&[3, 1, 2, 1, 3]), 2);
        assert_eq!(out_of_order(&[]), 0);
    }
}
