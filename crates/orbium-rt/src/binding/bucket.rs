// SPDX-License-Identifier: MIT OR Apache-2.0
//! Enforcement of a rate: the generic cell rate algorithm, which is a token bucket that does not
//! need to be filled. Time is an argument.

use std::time::Duration;

use super::Rate;

/// Nanoseconds and their fractions, so that no rate is rounded.
const FRACTIONS: u128 = 1 << 32;

#[derive(Debug)]
pub(super) struct Bucket {
    /// The time between requests.
    interval: u128,
    /// The time by which a request may arrive before its expected time.
    tolerance: u128,
    /// The expected time of the next request.
    expected: u128,
}

impl Bucket {
    pub(super) fn new(rate: Rate) -> Self {
        let (interval, tolerance) = interval_and_tolerance(rate);
        Self {
            interval,
            tolerance,
            expected: 0,
        }
    }

    /// Changes the rate. Requests taken at the old one count as before.
    pub(super) fn set(&mut self, rate: Rate) {
        (self.interval, self.tolerance) = interval_and_tolerance(rate);
    }

    /// Changes the rate by a new agreement: the number of requests taken ahead of the rate is kept,
    /// and they pass at the new rate.
    pub(super) fn agree(&mut self, now: Duration, rate: Rate) {
        let now = now.as_nanos() * FRACTIONS;
        let ahead = self.expected.saturating_sub(now);
        let requests = ahead.div_ceil(self.interval.max(1));
        self.set(rate);
        let ahead = requests.saturating_mul(self.interval);
        self.expected = now.saturating_add(ahead);
    }

    /// Takes one request at a time relative to a fixed origin; otherwise returns how long it has to
    /// wait.
    pub(super) fn take(&mut self, now: Duration) -> Result<(), Duration> {
        let now = now.as_nanos() * FRACTIONS;
        let earliest = self.expected.saturating_sub(self.tolerance);
        if now < earliest {
            let wait = (earliest - now).div_ceil(FRACTIONS);
            return Err(Duration::from_nanos(
                u64::try_from(wait).unwrap_or(u64::MAX),
            ));
        }
        self.expected = self.expected.max(now).saturating_add(self.interval);
        Ok(())
    }
}

fn interval_and_tolerance(rate: Rate) -> (u128, u128) {
    let interval = rate.period.as_nanos() * FRACTIONS / u128::from(rate.requests.max(1));
    // An admission may have created the terms, with any period.
    let tolerance = interval.saturating_mul(u128::from(rate.burst.max(1) - 1));
    (interval, tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn bucket(requests: u32, period: Duration, burst: u32) -> Bucket {
        Bucket::new(Rate {
            requests,
            period,
            burst,
        })
    }

    /// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
    #[test]
    fn a_burst_passes_and_no_more() {
        let mut bucket = bucket(100, Duration::from_secs(1), 3);
        let start = 500 * MS;
        for _ in 0..3 {
            assert_eq!(bucket.take(start), Ok(()));
        }
        assert_eq!(bucket.take(start), Err(10 * MS));
        assert_eq!(bucket.take(start + 4 * MS), Err(6 * MS));
        assert_eq!(bucket.take(start + 10 * MS), Ok(()));
        assert_eq!(bucket.take(start + 10 * MS), Err(10 * MS));
        // After a pause there is one burst again, not two.
        let later = start + 1000 * MS;
        let passed = (0..10).filter(|_| bucket.take(later).is_ok()).count();
        assert_eq!(passed, 3);
    }

    /// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
    #[test]
    fn the_rate_is_kept_over_a_long_time() {
        let mut bucket = bucket(3, Duration::from_secs(1), 1);
        let passed = (0..10_000_u32).filter(|n| bucket.take(*n * MS).is_ok());
        assert_eq!(passed.count(), 30);
    }

    /// Conformance: RT GOPI 5.2 - bindings: rate, buffer, delay: kept by the server
    #[test]
    fn extremes_do_no_harm() {
        let day = Duration::from_secs(86_400);
        let mut slow = bucket(1, day, u32::MAX);
        assert_eq!(slow.take(Duration::ZERO), Ok(()));
        let mut slowest = bucket(1, Duration::MAX, u32::MAX);
        assert!((0..10).all(|_| slowest.take(Duration::MAX).is_ok()));
        let mut fast = bucket(u32::MAX, Duration::from_micros(1), 1);
        assert_eq!(fast.take(Duration::MAX), Ok(()));
        let mut one = bucket(1, day, 1);
        assert_eq!(one.take(Duration::ZERO), Ok(()));
        assert_eq!(one.take(Duration::ZERO), Err(day));
    }

    #[test]
    fn accepted_requests_pass_at_the_rate_agreed_on_anew() {
        let day = Duration::from_secs(86_400);
        let mut bucket = bucket(3, day, 3);
        for _ in 0..3 {
            assert_eq!(bucket.take(MS), Ok(()));
        }
        let fast = Rate {
            burst: 3,
            ..Rate::per_second(1000)
        };
        bucket.agree(MS, fast);
        // Neither an extra burst, nor a wait of a day.
        assert_eq!(bucket.take(MS), Err(MS));
        assert_eq!(bucket.take(2 * MS), Ok(()));
        bucket.agree(10 * MS, Rate::per_second(1));
        assert_eq!(bucket.take(10 * MS), Ok(()));
    }

    #[test]
    fn another_rate_is_kept_from_then_on() {
        let rate = Rate::per_second(100);
        let mut bucket = Bucket::new(rate);
        let start = 500 * MS;
        assert_eq!(bucket.take(start), Ok(()));
        bucket.set(Rate::per_second(50));
        assert_eq!(bucket.take(start), Err(10 * MS));
        assert_eq!(bucket.take(start + 10 * MS), Ok(()));
        assert_eq!(bucket.take(start + 20 * MS), Err(10 * MS));
        bucket.set(rate);
        assert_eq!(bucket.take(start + 30 * MS), Ok(()));
        assert_eq!(bucket.take(start + 40 * MS), Ok(()));
    }
}
