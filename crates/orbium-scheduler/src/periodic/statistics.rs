// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statistics of periodic tasks.

use std::fmt;
use std::time::Duration;

use orbium::lock::Mutex;

use hdrhistogram::Histogram;

/// Maximum recorded time, to which longer ones are truncated: histograms have a bounded size.
const MAX_RECORDED_TIME: Duration = Duration::from_secs(100);

/// Significant decimal digits of times.
const DIGITS: u8 = 2;

/// A distribution of times, to two significant digits and up to 100 s.
#[derive(Clone)]
pub struct Distribution(Histogram<u64>);

impl Default for Distribution {
    fn default() -> Self {
        let bounds = Histogram::new_with_bounds(1, nanoseconds(MAX_RECORDED_TIME), DIGITS);
        Self(bounds.expect("the constants are within the bounds that the histogram has"))
    }
}

impl Distribution {
    pub(crate) fn record(&mut self, time: Duration) {
        self.0
            .saturating_record(nanoseconds(time.min(MAX_RECORDED_TIME)).max(1));
    }

    /// The number of recorded times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time that a share of all times, such as 0.99, does not exceed; zero without any.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(share))
    }

    /// The shortest time; zero without any.
    #[must_use]
    pub fn min(&self) -> Duration {
        Duration::from_nanos(self.0.min())
    }

    /// The longest time.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.0.max())
    }
}

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Distribution")
            .field("count", &self.count())
            .field("median", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .field("max", &self.max())
            .finish()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Statistics of a periodic task.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Runs that ended.
    pub runs: u64,
    /// Runs that ended after their deadline and were not cancelled: overruns.
    pub late: u64,
    /// Releases for which the task did not run.
    pub skipped: u64,
    /// Runs that returned because they were cancelled.
    pub cancelled: u64,
    /// The number of times that the clock went back, or forward by more periods than a task is ever
    /// late.
    pub clock_jumps: u64,
    /// The time from releases to the start of their runs.
    pub jitter: Distribution,
    /// The time from releases to the end of their runs.
    pub response: Distribution,
}

/// The outcome of a run.
#[derive(Clone, Copy)]
pub(crate) enum End {
    InTime,
    Late,
    Cancelled,
}

/// A measurement of a task.
pub(crate) enum Measured {
    ClockWentBack,
    Run {
        skipped: u64,
        jumped: bool,
        jitter: Duration,
        response: Duration,
        end: End,
    },
}

impl Statistics {
    fn add(&mut self, measured: &Measured) {
        let Measured::Run {
            skipped,
            jumped,
            jitter,
            response,
            end,
        } = *measured
        else {
            self.clock_jumps += 1;
            return;
        };
        self.runs += 1;
        self.skipped = self.skipped.saturating_add(skipped);
        self.clock_jumps += u64::from(jumped);
        match end {
            End::InTime => {}
            End::Late => self.late += 1,
            End::Cancelled => self.cancelled += 1,
        }
        self.jitter.record(jitter);
        self.response.record(response);
    }
}

/// Adds to statistics that other threads read, without waiting for a reader of lower priority:
/// measurements while a reader copies them are added later.
pub(crate) struct Recorder<'s> {
    shared: &'s Mutex<Statistics>,
    pending: Vec<Measured>,
}

impl<'s> Recorder<'s> {
    /// Number of pending runs beyond which it waits for the reader.
    const MAX_PENDING: usize = 64;

    pub(crate) fn new(shared: &'s Mutex<Statistics>) -> Self {
        Self {
            shared,
            pending: Vec::with_capacity(Self::MAX_PENDING),
        }
    }

    pub(crate) fn record(&mut self, measured: Measured) {
        self.pending.push(measured);
        let mut statistics = match self.shared.try_lock() {
            Some(statistics) => statistics,
            None if self.pending.len() < Self::MAX_PENDING => return,
            None => self.shared.lock(),
        };
        for measured in self.pending.drain(..) {
            statistics.add(&measured);
        }
    }
}

/// Adds pending measurements at the end of a task.
impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        let mut statistics = self.shared.lock();
        for measured in self.pending.drain(..) {
            statistics.add(&measured);
        }
    }
}
