// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurements of an operation, and their exchange between processes.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use orbium_scheduler::Statistics;

/// Longer responses count as this, in microseconds.
const MAX_RESPONSE: u64 = 100_000_000;

/// Runs of an operation that end by a deadline, or do not.
#[derive(Debug)]
pub(crate) struct Measured {
    deadline: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    late: u64,
    /// From the release to the end, in microseconds.
    response: Histogram<u64>,
}

impl Measured {
    pub(crate) fn new(deadline: Duration) -> Self {
        let response = Histogram::new_with_bounds(1, MAX_RESPONSE, 2);
        let response = response.expect("the constants are within the histogram's bounds");
        Self {
            deadline,
            state: Mutex::new(State { late: 0, response }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a run that ended so long after its release.
    pub(crate) fn add(&self, response: Duration) {
        let mut state = self.lock();
        state.late += u64::from(response > self.deadline);
        state.response.saturating_record(micros(response));
    }

    /// What was measured so far.
    pub(crate) fn row(&self, name: &str) -> Row {
        let state = self.lock();
        Row {
            name: name.to_owned(),
            runs: state.response.len(),
            late: state.late,
            skipped: 0,
            failed: 0,
            median: state.response.value_at_quantile(0.5),
            p99: state.response.value_at_quantile(0.99),
            longest: state.response.max(),
        }
    }
}

/// A row of the table; times in microseconds from the release to the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) runs: u64,
    pub(crate) late: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
    pub(crate) median: u64,
    pub(crate) p99: u64,
    pub(crate) longest: u64,
}

impl Row {
    /// What a periodic task has measured.
    pub(crate) fn of_task(name: &str, statistics: &Statistics, failed: u64) -> Self {
        Self {
            name: name.to_owned(),
            runs: statistics.runs,
            late: statistics.late,
            skipped: statistics.skipped,
            failed,
            median: micros(statistics.response.quantile(0.5)),
            p99: micros(statistics.response.quantile(0.99)),
            longest: micros(statistics.response.max()),
        }
    }

    /// Releases that did not end by their deadline, or failed.
    pub(crate) fn misses(&self) -> u64 {
        self.late + self.skipped + self.failed
    }

    /// What heads the rows.
    pub(crate) fn heading() -> String {
        format!(
            "{:<10}{:>8}{:>7}{:>9}{:>8}{:>10}{:>10}{:>10}",
            "", "runs", "late", "skipped", "failed", "p50 us", "p99 us", "max us"
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<10}{:>8}{:>7}{:>9}{:>8}{:>10}{:>10}{:>10}",
            self.name,
            self.runs,
            self.late,
            self.skipped,
            self.failed,
            self.median,
            self.p99,
            self.longest
        )
    }
}

/// As [`Display`](fmt::Display) writes it.
impl FromStr for Row {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let unexpected = || format!("`{line}` is no row");
        let mut words = line.split_whitespace();
        let name = words.next().ok_or_else(unexpected)?.to_owned();
        let numbers: Result<Vec<u64>, _> = words.map(str::parse).collect();
        match numbers.map_err(|_| unexpected())?[..] {
            [runs, late, skipped, failed, median, p99, longest] => Ok(Self {
                name,
                runs,
                late,
                skipped,
                failed,
                median,
                p99,
                longest,
            }),
            _ => Err(unexpected()),
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
