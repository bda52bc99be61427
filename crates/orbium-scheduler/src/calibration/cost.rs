// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of one call or context switch, measured until it is stable.

use std::fmt;
use std::time::Duration;

use orbium_sched::{Overhead, Time};

use super::{Calibration, CalibrationError};
use crate::clock::{Clock, MonotonicClock};

/// Measured times of one cost. They are processor times of all threads of the process, without
/// those of other processes: on one processor, where the threads alternate, the time of an exchange
/// between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The number of measured runs.
    pub runs: u64,
    /// The number of times that each run has the cost: the times are those of a run, divided by
    /// this number.
    pub times: u32,
    /// The shortest time.
    pub minimum: Duration,
    /// The median.
    pub median: Duration,
    /// The time that 99 of 100 runs did not exceed.
    pub p99: Duration,
    /// The longest time.
    pub worst: Duration,
    /// The time for the analysis: the longest one with the margin, rounded up.
    pub value: Time,
}

impl Cost {
    /// Runs `work`, which has the cost so many times (at least once), until its times are stable.
    ///
    /// ```
    /// use orbium_scheduler::{Calibration, Cost};
    ///
    /// let calibration = Calibration { tolerance: f64::INFINITY, ..Calibration::default() };
    /// let cost = Cost::measure(&calibration, 10, || {
    ///     for _ in 0..10 {
    ///         std::hint::black_box((0..100).sum::<u64>());
    ///     }
    /// })?;
    /// assert!(cost.minimum <= cost.worst && cost.worst <= cost.value.as_duration());
    /// # Ok::<(), orbium_scheduler::CalibrationError>(())
    /// ```
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn measure(
        calibration: &Calibration,
        times: u32,
        work: impl FnMut(),
    ) -> Result<Self, CalibrationError> {
        let (all, of_run) = calibration.distribution_by(&ProcessClock::default(), work)?;
        let times = times.max(1);
        let each = |time: Duration| (time / times).max(Duration::from_nanos(1));
        let value = of_run.worst_case.ticks().div_ceil(u64::from(times));
        Ok(Self {
            runs: of_run.runs,
            times,
            minimum: each(all.min()),
            median: each(all.quantile(0.5)),
            p99: each(all.quantile(0.99)),
            worst: each(all.max()),
            value: Time::from_ticks(value),
        })
    }
}

/// The costs of a host that the analysis adds. `Display` writes the text from which [`Overhead`] is parsed, with the measured
/// times as comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredOverhead {
    /// A call in the ORB.
    pub call: Cost,
    /// A context switch.
    pub context_switch: Cost,
}

impl MeasuredOverhead {
    /// The times for the analysis. Blocking is not included: no clock outside the ORB measures how
    /// long its locks are held.
    #[must_use]
    pub fn overhead(&self) -> Overhead {
        Overhead {
            call: self.call.value,
            context_switch: self.context_switch.value,
            ..Overhead::default()
        }
    }
}

impl fmt::Display for MeasuredOverhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, it) in [
            ("call", &self.call),
            ("context switch", &self.context_switch),
        ] {
            let (median, worst) = (it.median.as_nanos(), it.worst.as_nanos());
            writeln!(
                f,
                "# {name}: {} runs, median {median} ns, worst {worst} ns",
                it.runs
            )?;
        }
        writeln!(f, "# blocking is not measured\n{}", self.overhead())
    }
}

/// The processor time of all threads of this process, or else the monotonic clock.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessClock(MonotonicClock);

impl Clock for ProcessClock {
    #[cfg(target_os = "linux")]
    fn now(&self) -> Duration {
        super::processor_time(rustix::time::ClockId::ProcessCPUTime)
    }

    #[cfg(not(target_os = "linux"))]
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn park(&self, length: Duration) {
        self.0.park(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each run of ten calls is reported as one of them, and the time for the analysis is not
    /// rounded down to zero.
    #[test]
    fn a_cost_is_one_of_the_times_that_a_run_has_it() {
        let calibration = Calibration {
            runs: 20,
            rounds: 2,
            tolerance: f64::INFINITY,
            ..Calibration::default()
        };
        let work = || {
            std::hint::black_box((0..1_000).sum::<u64>());
        };
        let cost = Cost::measure(&calibration, 10, work).unwrap();
        assert_eq!((cost.runs, cost.times), (40, 10));
        let times = [cost.minimum, cost.median, cost.p99, cost.worst];
        assert!(times.is_sorted() && !times[0].is_zero(), "{cost:?}");
        let tenfold = Time::from_ticks(cost.value.ticks() * 10);
        assert!(tenfold.as_duration() >= cost.worst * 10, "{cost:?}");
    }

    #[test]
    fn a_measured_overhead_is_parsed_from_its_text() {
        let cost = |value| Cost {
            runs: 1,
            times: 1,
            minimum: Duration::ZERO,
            median: Duration::ZERO,
            p99: Duration::ZERO,
            worst: Duration::ZERO,
            value: Time::from_ticks(value),
        };
        let measured = MeasuredOverhead {
            call: cost(351),
            context_switch: cost(25),
        };
        let text = measured.to_string();
        assert!(
            text.ends_with("\ncall=\"35.1 us\" context-switch=\"2.5 us\"\n"),
            "{text}"
        );
        assert_eq!(text.parse(), Ok(measured.overhead()));
    }
}
