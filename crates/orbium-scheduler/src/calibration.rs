// SPDX-License-Identifier: MIT OR Apache-2.0
//! Execution times of operations, measured until they are stable.

use std::fmt;
use std::time::Duration;

use orbium_sched::{Time, Timing};

use crate::clock::Clock;
use crate::periodic::statistics::Distribution;

mod context_switch;
pub(crate) mod cost;

/// Method of measuring execution times. A round is a number of runs; the times are stable when a
/// further round changes worst case and median of all runs so far by no more than the tolerance.
///
/// ```
/// use orbium_scheduler::Calibration;
///
/// let found = Calibration::default().measure(|| {
///     std::hint::black_box((0..1_000).sum::<u64>());
/// })?;
/// assert!(found.worst_case >= found.typical);
/// # Ok::<(), orbium_scheduler::CalibrationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Runs of a round; 100 by default, at least 1.
    pub runs: u32,
    /// Maximum number of rounds until the times are stable; 100 by default, at least 2.
    pub rounds: u32,
    /// The share by which a round may change the times; 0.05 by default.
    pub tolerance: f64,
    /// The factor of the worst measured time; 1.2 by default, at least 1.
    pub margin: f64,
    /// The maximum time of a run: a longer one is caused by a clock jump, and does not count. 10 s
    /// by default.
    pub longest: Duration,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            runs: 100,
            rounds: 100,
            tolerance: 0.05,
            margin: 1.2,
            longest: Duration::from_secs(10),
        }
    }
}

/// The execution times of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionTimes {
    /// The worst measured time with the margin, rounded up.
    pub worst_case: Time,
    /// The median of all measured times.
    pub typical: Time,
    /// The number of measured runs.
    pub runs: u64,
    /// The number of runs that do not count because the clock jumped.
    pub jumps: u64,
}

impl ExecutionTimes {
    /// The timing of an RT_Info with these times.
    #[must_use]
    pub fn in_timing(&self, timing: Timing) -> Timing {
        Timing {
            worst_case_execution_time: self.worst_case,
            typical_execution_time: self.typical,
            ..timing
        }
    }
}

/// Error of measuring execution times.
#[derive(Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum CalibrationError {
    /// They are not stable after so many runs.
    NotSettled {
        /// The number of measured runs.
        runs: u64,
        /// The share by which the last round changed them.
        difference: f64,
    },
    /// The clock jumped in every run of a round.
    Clock,
    /// A thread of the measurement could not be started.
    Thread(std::io::ErrorKind),
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSettled { runs, difference } => write!(
                f,
                "execution times have not settled after {runs} runs: the last round changed them by {:.0} %",
                difference * 100.0
            ),
            Self::Clock => f.write_str("the clock jumped in every run of a round"),
            Self::Thread(reason) => write!(f, "cannot start a thread: {reason}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CalibrationError {}

/// Worst case and median of the times so far.
type Extremes = (Duration, Duration);

impl Calibration {
    /// Runs `work` until its execution times are stable. They are processor times of the calling
    /// thread, if the host has such a clock.
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn measure(&self, work: impl FnMut()) -> Result<ExecutionTimes, CalibrationError> {
        self.measure_by(&ThreadClock::default(), work)
    }

    /// As [`Self::measure`], by that clock.
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn measure_by(
        &self,
        clock: &dyn Clock,
        work: impl FnMut(),
    ) -> Result<ExecutionTimes, CalibrationError> {
        let (_, times) = self.distribution_by(clock, work)?;
        Ok(times)
    }

    /// As [`Self::measure_by`], with the distribution of all measured times.
    ///
    /// # Errors
    /// [`CalibrationError`].
    ///
    /// ```
    /// use orbium_scheduler::{Calibration, MonotonicClock};
    ///
    /// let calibration = Calibration { tolerance: f64::INFINITY, ..Calibration::default() };
    /// let (all, times) = calibration.distribution_by(&MonotonicClock::default(), || {
    ///     std::hint::black_box((0..1_000).sum::<u64>());
    /// })?;
    /// assert!(all.min() <= all.quantile(0.99) && all.count() == times.runs);
    /// # Ok::<(), orbium_scheduler::CalibrationError>(())
    /// ```
    pub fn distribution_by(
        &self,
        clock: &dyn Clock,
        mut work: impl FnMut(),
    ) -> Result<(Distribution, ExecutionTimes), CalibrationError> {
        let mut all = Distribution::default();
        let mut jumps = 0;
        let mut before: Option<Extremes> = None;
        let mut difference = 1.0;
        for _ in 0..self.rounds.max(2) {
            let measured = all.count();
            for _ in 0..self.runs.max(1) {
                match self.run(clock, &mut work) {
                    Some(time) => all.record(time),
                    None => jumps += 1,
                }
            }
            if all.count() == measured {
                return Err(CalibrationError::Clock);
            }
            let now = (all.max(), all.quantile(0.5));
            if let Some(before) = before.replace(now) {
                difference = greatest_difference(before, now);
                if difference <= self.tolerance {
                    let times = self.settled(&all, jumps);
                    return Ok((all, times));
                }
            }
        }
        Err(CalibrationError::NotSettled {
            runs: all.count(),
            difference,
        })
    }

    /// The time of a run; none if the clock jumped.
    fn run(&self, clock: &dyn Clock, work: &mut impl FnMut()) -> Option<Duration> {
        let begin = clock.now();
        work();
        let time = clock.now().checked_sub(begin)?;
        (time <= self.longest).then_some(time)
    }

    fn settled(&self, all: &Distribution, jumps: u64) -> ExecutionTimes {
        let worst_case = all.max().as_secs_f64() * self.margin.max(1.0);
        ExecutionTimes {
            worst_case: time(worst_case),
            typical: time(all.quantile(0.5).as_secs_f64()),
            runs: all.count(),
            jumps,
        }
    }
}

/// The greater of the shares by which worst case and median differ.
fn greatest_difference(before: Extremes, now: Extremes) -> f64 {
    let share = |before: Duration, now: Duration| {
        let least = before.min(now).as_secs_f64().max(1e-9);
        (before.max(now).as_secs_f64() - least) / least
    };
    share(before.0, now.0).max(share(before.1, now.1))
}

/// Whole units of 100 ns, rounded up.
fn time(seconds: f64) -> Time {
    Time::from_ticks((seconds * 1e7).ceil() as u64)
}

/// The processor time of the calling thread, or else the monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadClock(crate::clock::MonotonicClock);

impl Clock for ThreadClock {
    #[cfg(target_os = "linux")]
    fn now(&self) -> Duration {
        processor_time(rustix::time::ClockId::ThreadCPUTime)
    }

    #[cfg(not(target_os = "linux"))]
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn park(&self, length: Duration) {
        self.0.park(length);
    }
}

#[cfg(target_os = "linux")]
fn processor_time(clock: rustix::time::ClockId) -> Duration {
    let now = rustix::time::clock_gettime(clock);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}
