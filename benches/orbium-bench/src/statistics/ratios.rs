// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics over repetitions.

/// The median, the mean of two in the middle; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[middle - 1], upper))
}

/// The median of the ratios of values of the same repetition.
pub(crate) fn median_ratio(of: &[f64], over: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = of.iter().zip(over).map(|(of, over)| of / over).collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::{median, median_ratio};

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn ratios_are_taken_within_a_repetition() {
        // The machine was ten times slower in the second repetition.
        let ratio = median_ratio(&[2.0, 20.0, 2.0], &[1.0, 10.0, 1.0]);
        assert_eq!(ratio, Some(2.0));
    }
}
