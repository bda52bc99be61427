// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of an operation, and its treatment under overload.

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use orbium_sched::{SchedError, Table};

use crate::clock::Clock;

/// Treatment of runs that cannot meet their deadlines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overload {
    /// They run late.
    #[default]
    RunLate,
    /// Runs that have not begun by their deadline are skipped.
    Skip,
    /// As [`Overload::Skip`]; and those that run at their deadline are requested to return, by
    /// [`Job::is_cancelled`].
    Cancel,
}

/// The treatment of each operation of a table, with individual settings.
///
/// # Errors
/// `UnknownTask` for an unknown operation.
pub(crate) fn overloads(
    table: &Table,
    chosen: Vec<(usize, Overload)>,
) -> Result<Vec<Overload>, SchedError> {
    let mut all = vec![Overload::default(); table.entries.len()];
    for (index, overload) in chosen {
        let unknown = || SchedError::UnknownTask(index.to_string());
        *all.get_mut(index).ok_or_else(unknown)? = overload;
    }
    Ok(all)
}

/// One run of an operation.
pub struct Job<'a> {
    number: u64,
    due: Duration,
    deadline: Option<Duration>,
    overload: Overload,
    clock: &'a dyn Clock,
    cancelled: Cell<bool>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        (number, due): (u64, Duration),
        deadline: Option<Duration>,
        overload: Overload,
        clock: &'a dyn Clock,
    ) -> Self {
        Self {
            number,
            due,
            deadline,
            overload,
            clock,
            cancelled: Cell::new(false),
        }
    }

    /// The number of the run, from 0. Skipped runs have numbers too.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its release time, on the clock of its task or dispatcher.
    #[must_use]
    pub fn due(&self) -> Duration {
        self.due
    }

    /// Its deadline; none if its operation has no period.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_late(&self) -> bool {
        let now = self.clock.now();
        self.deadline.is_some_and(|deadline| now > deadline)
    }

    /// Whether the deadline has passed and the operation's policy is [`Overload::Cancel`]: the work
    /// is to return. Long work calls this from time to time; a run for which it has returned `true`
    /// counts as cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        if self.overload == Overload::Cancel && self.is_late() {
            self.cancelled.set(true);
        }
        self.cancelled.get()
    }

    /// Whether [`Self::is_cancelled`] has returned `true`.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.cancelled.get()
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("number", &self.number)
            .field("due", &self.due)
            .field("deadline", &self.deadline)
            .field("overload", &self.overload)
            .finish_non_exhaustive()
    }
}
