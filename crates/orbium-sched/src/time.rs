// SPDX-License-Identifier: MIT OR Apache-2.0
//! Durations in units of 100 ns, as `TimeBase::TimeT`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A duration in units of 100 ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// A duration of zero.
    pub const ZERO: Time = Time(0);
    /// The longest time; sums saturate here.
    pub const MAX: Time = Time(u64::MAX);

    /// From units of 100 ns.
    #[must_use]
    pub const fn from_ticks(ticks: u64) -> Self {
        Time(ticks)
    }

    /// From microseconds; saturates.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Time(micros.saturating_mul(10))
    }

    /// From milliseconds; saturates.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Time(millis.saturating_mul(10_000))
    }

    /// In units of 100 ns.
    #[must_use]
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// In milliseconds, rounded.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e4
    }

    /// As a duration of the standard library; saturates.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_nanos(self.0.saturating_mul(100))
    }

    /// Whether it is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or [`Time::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Time) -> Self {
        Time(self.0.saturating_add(other.0))
    }

    /// The product, or [`Time::MAX`].
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Time(self.0.saturating_mul(factor))
    }
}

impl fmt::Display for Time {
    /// The number in the largest unit in which it is whole: `50 ms`, `2500 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = match self.0 {
            0 => (0, "ms"),
            ticks if ticks % 10_000_000 == 0 => (ticks / 10_000_000, "s"),
            ticks if ticks % 10_000 == 0 => (ticks / 10_000, "ms"),
            ticks if ticks % 10 == 0 => (ticks / 10, "us"),
            ticks => return f.pad(&format!("{}.{} us", ticks / 10, ticks % 10)),
        };
        f.pad(&format!("{number} {unit}"))
    }
}

/// A text that is not a duration.
#[derive(Clone, PartialEq, Eq)]
pub struct TimeError {
    text: String,
    reason: &'static str,
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no length of time: {}", self.text, self.reason)
    }
}

impl fmt::Debug for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for TimeError {}

impl FromStr for Time {
    type Err = TimeError;

    /// Reads `50 ms`, `2.5ms`, `100 us`, `1 s`, `300 ns`.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let error = |reason| TimeError {
            text: text.chars().take(40).collect(),
            reason,
        };
        let trimmed = text.trim();
        let digits = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let nanoseconds = match unit.trim() {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return Err(error("the unit is one of ns, us, ms, s")),
        };
        let ns = scaled(number, nanoseconds)
            .ok_or_else(|| error("the number is missing, malformed or too large"))?;
        if ns % 100 != 0 {
            return Err(error("it is no multiple of 100 ns"));
        }
        Ok(Time(ns / 100))
    }
}

/// A decimal number times a unit, which is a power of ten; none if the product is not a whole
/// number.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut sum = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.chars() {
        let digit = u64::from(digit.to_digit(10)?);
        if !place.is_multiple_of(10) && digit != 0 {
            return None;
        }
        place /= 10;
        sum = sum.checked_add(digit * place)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        for (text, ticks, written) in [
            ("50 ms", 500_000, "50 ms"),
            ("2.5ms", 25_000, "2500 us"),
            ("1 s", 10_000_000, "1 s"),
            ("100 µs", 1_000, "100 us"),
            ("300 ns", 3, "0.3 us"),
            ("0 ms", 0, "0 ms"),
        ] {
            let time: Time = text.parse().unwrap();
            assert_eq!(time.ticks(), ticks, "{text}");
            assert_eq!(time.to_string(), written);
            assert_eq!(written.parse::<Time>().unwrap(), time);
        }
    }

    #[test]
    fn malformed_times_are_refused_with_their_reason() {
        for (text, reason) in [
            ("50", "the unit"),
            ("ms", "the number"),
            ("1.2.3 ms", "the number"),
            ("150 ns", "no multiple"),
            ("0.5 ns", "the number"),
            ("99999999999999999999 s", "too large"),
            ("-5 ms", "the unit"),
        ] {
            let error = text.parse::<Time>().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
