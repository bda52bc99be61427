// SPDX-License-Identifier: MIT OR Apache-2.0
//! Budget of processor time per period, and the scheduling beyond it.

use std::fmt;
use std::time::Duration;

use orbium_sys::Scheduling;

/// The minimum time of a budget, and the minimum interval of checks of the clocks of threads.
pub(crate) const MIN_BUDGET: Duration = Duration::from_micros(100);

/// The minimum period: the watching thread wakes up at least once per period.
const MIN_PERIOD: Duration = Duration::from_millis(1);

/// Processor time that threads may consume together in each period, and their scheduling after that
/// until the period ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Processor time of all threads together; at least 100 µs.
    pub time: Duration,
    /// The interval of replenishments; at least 1 ms.
    pub period: Duration,
    /// The scheduling of threads after the budget is exhausted. Default: [`Scheduling::OTHER`].
    pub background: Scheduling,
}

impl Budget {
    /// A budget of that time in each period, with ordinary scheduling beyond it.
    #[must_use]
    pub const fn new(time: Duration, period: Duration) -> Self {
        Self {
            time,
            period,
            background: Scheduling::OTHER,
        }
    }

    /// The same budget with another background.
    #[must_use]
    pub const fn background(self, background: Scheduling) -> Self {
        Self { background, ..self }
    }

    /// Checks that the budget is applicable to threads of that scheduling: they must be above the
    /// background, and there must be a native priority above theirs, for the watching thread.
    ///
    /// ```
    /// use std::time::Duration;
    /// use orbium_budget::Budget;
    /// use orbium_sys::Scheduling;
    ///
    /// let budget = Budget::new(Duration::from_millis(2), Duration::from_millis(10));
    /// assert_eq!(budget.check(Some(Scheduling::fifo(80))), Ok(()));
    /// assert!(budget.check(None).unwrap_err().contains("needs a native priority"));
    /// ```
    ///
    /// # Errors
    /// A sentence with the reason.
    pub fn check(&self, scheduling: Option<Scheduling>) -> Result<(), &'static str> {
        if self.time < MIN_BUDGET || self.period < MIN_PERIOD {
            return Err("a budget has at least 100 µs, in a period of at least 1 ms");
        }
        let Some(own) = scheduling.filter(|it| it.priority > self.background.priority) else {
            return Err(
                "a lane with a budget needs a native priority above that of the budget's background: set scheduling",
            );
        };
        if own.priority < *own.class.range().end() {
            Ok(())
        } else {
            Err(
                "no native priority is left above that of a lane with a budget, for the thread that watches it",
            )
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} per {:?}", self.time, self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conformance: RT 6 - budgets of lanes: those that cannot be kept are refused by name
    #[test]
    fn a_budget_that_cannot_be_kept_is_refused() {
        let ms = Duration::from_millis;
        let budget = Budget::new(ms(2), ms(10));
        let none = "at least 100 µs";
        for (budget, scheduling, reason) in [
            (Budget::new(ms(0), ms(10)), Some(Scheduling::fifo(5)), none),
            (Budget::new(ms(1), ms(0)), Some(Scheduling::fifo(5)), none),
            (budget, None, "above that of the budget's background"),
            (budget, Some(Scheduling::OTHER), "set scheduling"),
            (
                budget.background(Scheduling::fifo(5)),
                Some(Scheduling::fifo(5)),
                "set scheduling",
            ),
            (budget, Some(Scheduling::fifo(99)), "that watches it"),
        ] {
            let refused = budget.check(scheduling).unwrap_err();
            assert!(refused.contains(reason), "{budget}: {refused}");
        }
        let above = budget.background(Scheduling::fifo(4));
        assert_eq!(above.check(Some(Scheduling::fifo(5))), Ok(()));
        assert_eq!(budget.check(Some(Scheduling::round_robin(98))), Ok(()));
    }
}
