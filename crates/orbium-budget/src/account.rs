// SPDX-License-Identifier: MIT OR Apache-2.0
//! Account of a deferrable server: consumption and replenishment as pure functions of time.

use std::time::Duration;

/// The account of a deferrable server: full at the beginning of each period, whatever was left of
/// the previous one, less the excess that was consumed before a check. The times of replenishment
/// are multiples of the period after the first, even if a check is late.
#[derive(Debug)]
pub(crate) struct Account {
    time: Duration,
    period: Duration,
    /// The end of the period, by the monotonic clock.
    ends: Duration,
    spent: Duration,
    exhausted: bool,
    /// The number of exhaustions.
    exhaustions: u64,
}

impl Account {
    /// A full account, from `now` on.
    pub(crate) fn new(time: Duration, period: Duration, now: Duration) -> Self {
        Self {
            time,
            period,
            ends: now.saturating_add(period),
            spent: Duration::ZERO,
            exhausted: false,
            exhaustions: 0,
        }
    }

    /// Charges the consumption since the last charge, and replenishes the account at the end of its
    /// period. Consumption beyond the budget before the check is charged to the next period.
    pub(crate) fn charge(&mut self, now: Duration, consumed: Duration) {
        if !self.exhausted {
            self.spent = self.spent.saturating_add(consumed);
        }
        if now >= self.ends {
            self.replenish(now);
        }
        if self.spent >= self.time && !self.exhausted {
            self.exhausted = true;
            self.exhaustions += 1;
        }
    }

    fn replenish(&mut self, now: Duration) {
        let late = now - self.ends;
        let periods = late.as_nanos() / self.period.as_nanos();
        let skipped = u32::try_from(periods).unwrap_or(u32::MAX);
        let after = self.period.saturating_mul(skipped.saturating_add(1));
        self.ends = self.ends.saturating_add(after);
        let ended = skipped.saturating_add(1);
        self.spent = self.spent.saturating_sub(self.time.saturating_mul(ended));
        self.exhausted = false;
    }

    /// Whether the budget of this period is exhausted.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    pub(crate) fn exhaustions(&self) -> u64 {
        self.exhaustions
    }

    /// The remainder of this period, after the consumption since the last charge.
    pub(crate) fn remaining(&self, consumed: Duration) -> Duration {
        if self.exhausted {
            Duration::ZERO
        } else {
            self.time
                .saturating_sub(self.spent.saturating_add(consumed))
        }
    }

    /// The time until the period ends.
    pub(crate) fn until_replenished(&self, now: Duration) -> Duration {
        self.ends.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn it_is_exhausted_until_its_period_ends() {
        let mut account = Account::new(ms(2), ms(10), ms(100));
        account.charge(ms(104), ms(1));
        assert_eq!(account.remaining(Duration::ZERO), ms(1));
        account.charge(ms(105), ms(1));
        assert!(account.is_exhausted());
        assert_eq!(account.until_replenished(ms(105)), ms(5));
        // In the background.
        account.charge(ms(109), ms(3));
        assert_eq!(account.remaining(Duration::ZERO), ms(0));
        account.charge(ms(110), ms(1));
        assert!(!account.is_exhausted());
        assert_eq!(account.remaining(Duration::ZERO), ms(2));
        assert_eq!(account.exhaustions(), 1);
    }

    #[test]
    fn excess_is_charged_to_the_next_period() {
        let mut account = Account::new(ms(2), ms(10), ms(0));
        // Detected late.
        account.charge(ms(10), ms(5));
        assert!(account.is_exhausted(), "3 ms of the period that begins");
        account.charge(ms(20), ms(9));
        assert!(!account.is_exhausted());
        assert_eq!(account.remaining(Duration::ZERO), ms(1));
    }

    #[test]
    fn replenishments_do_not_drift_and_a_late_look_misses_none() {
        let mut account = Account::new(ms(2), ms(10), ms(0));
        account.charge(ms(13), ms(0));
        assert_eq!(account.until_replenished(ms(13)), ms(7));
        account.charge(ms(57), ms(5));
        assert_eq!(account.until_replenished(ms(57)), ms(3));
        assert!(!account.is_exhausted(), "four periods had room for it");
        // The clock is monotonic; a step back would have no effect.
        account.charge(ms(1), ms(0));
        assert_eq!(account.until_replenished(ms(1)), ms(59));
    }
}
