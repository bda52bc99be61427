// SPDX-License-Identifier: MIT OR Apache-2.0
//! Releases of a periodic task. Without a clock: the time is an argument.

use std::time::Duration;

use crate::dispatching::job::Overload;

/// Maximum number of late periods for which a task runs: with more the clock has jumped, or the
/// machine was suspended.
const MAX_BACKLOG: u128 = 16;

/// The releases of a periodic task: absolute times, so that no delay of one shifts the next.
#[derive(Debug)]
pub(crate) struct Releases {
    period: Duration,
    overload: Overload,
    next: Duration,
    number: u64,
    /// No release is further away than this unless the clock went back.
    horizon: Duration,
}

/// The next action of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Poll {
    /// Wait that long.
    Wait(Duration),
    /// Wait for the next release of a new phase: the clock went back.
    ClockWentBack,
    /// Run.
    Run(Release),
}

/// A release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) number: u64,
    pub(crate) due: Duration,
    /// Releases before it for which the task does not run.
    pub(crate) skipped: u64,
    /// Whether more releases were due at once than the maximum.
    pub(crate) jumped: bool,
}

impl Releases {
    /// The first release is at `first`, which is not before `now`.
    pub(crate) fn new(
        period: Duration,
        overload: Overload,
        (now, first): (Duration, Duration),
    ) -> Self {
        Self {
            period,
            overload,
            next: first,
            number: 0,
            horizon: first.saturating_sub(now).max(period),
        }
    }

    pub(crate) fn poll(&mut self, now: Duration) -> Poll {
        if now < self.next {
            let length = self.next - now;
            if length <= self.horizon {
                return Poll::Wait(length);
            }
            self.next = now.saturating_add(self.period);
            self.horizon = self.period;
            return Poll::ClockWentBack;
        }
        let behind = (now - self.next).as_nanos() / self.period.as_nanos().max(1);
        let jumped = behind > MAX_BACKLOG;
        let skipped = match self.overload {
            Overload::RunLate if !jumped => 0,
            _ => u64::try_from(behind).unwrap_or(u64::MAX),
        };
        let due = self.next.saturating_add(times(self.period, skipped));
        let number = self.number.saturating_add(skipped);
        self.number = number.saturating_add(1);
        self.next = due.saturating_add(self.period);
        self.horizon = self.period;
        Poll::Run(Release {
            number,
            due,
            skipped,
            jumped,
        })
    }
}

/// The product, saturating.
fn times(period: Duration, count: u64) -> Duration {
    let nanoseconds = period.as_nanos().saturating_mul(count.into());
    u64::try_from(nanoseconds).map_or(Duration::MAX, Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn releases(overload: Overload) -> Releases {
        Releases::new(10 * MS, overload, (Duration::ZERO, Duration::ZERO))
    }

    fn release(number: u64, due: u32, skipped: u64) -> Poll {
        Poll::Run(Release {
            number,
            due: due * MS,
            skipped,
            jumped: false,
        })
    }

    #[test]
    fn releases_keep_their_phase_however_late_each_runs() {
        let mut releases = releases(Overload::RunLate);
        assert_eq!(releases.poll(3 * MS), release(0, 0, 0));
        assert_eq!(releases.poll(4 * MS), Poll::Wait(6 * MS));
        assert_eq!(releases.poll(19 * MS), release(1, 10, 0));
        assert_eq!(releases.poll(19 * MS), Poll::Wait(MS));
        assert_eq!(releases.poll(20 * MS), release(2, 20, 0));
    }

    #[test]
    fn late_tasks_run_for_each_release() {
        let mut releases = releases(Overload::RunLate);
        for number in 0..4 {
            assert_eq!(
                releases.poll(35 * MS),
                release(number, 10 * number as u32, 0)
            );
        }
        assert_eq!(releases.poll(35 * MS), Poll::Wait(5 * MS));
    }

    #[test]
    fn skipped_releases_keep_number_and_phase() {
        for overload in [Overload::Skip, Overload::Cancel] {
            let mut releases = releases(overload);
            assert_eq!(releases.poll(35 * MS), release(3, 30, 3));
            assert_eq!(releases.poll(35 * MS), Poll::Wait(5 * MS));
            assert_eq!(releases.poll(40 * MS), release(4, 40, 0));
        }
    }

    #[test]
    fn a_clock_that_jumps_forward_starts_no_backlog() {
        let mut releases = releases(Overload::RunLate);
        let Poll::Run(release) = releases.poll(3600 * 1000 * MS + 4 * MS) else {
            panic!("it is due");
        };
        assert!(release.jumped);
        assert_eq!((release.skipped, release.due), (360_000, 3600 * 1000 * MS));
        assert_eq!(releases.poll(3600 * 1000 * MS + 4 * MS), Poll::Wait(6 * MS));
    }

    #[test]
    fn a_clock_that_goes_back_begins_a_new_phase() {
        let mut releases = Releases::new(10 * MS, Overload::Skip, (500 * MS, 500 * MS));
        assert!(matches!(releases.poll(500 * MS), Poll::Run(_)));
        assert_eq!(releases.poll(3 * MS), Poll::ClockWentBack);
        assert_eq!(releases.poll(3 * MS), Poll::Wait(10 * MS));
        assert_eq!(releases.poll(13 * MS), release(1, 13, 0));
    }

    #[test]
    fn a_first_release_far_away_is_awaited() {
        let mut releases = Releases::new(10 * MS, Overload::Skip, (5 * MS, 905 * MS));
        assert_eq!(releases.poll(5 * MS), Poll::Wait(900 * MS));
        assert_eq!(releases.poll(905 * MS), release(0, 905, 0));
        let mut end = Releases::new(Duration::MAX, Overload::Skip, (Duration::ZERO, MS));
        assert_eq!(end.poll(MS), release(0, 1, 0));
        assert!(matches!(end.poll(MS), Poll::Wait(_)), "no overflow");
    }
}
