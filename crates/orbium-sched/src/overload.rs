// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random task sets of a given utilization, and the deadline misses of a strategy in them.

use std::ops::Range;

use crate::error::SchedError;
use crate::info::{Criticality, Timing};
use crate::options::Options;
use crate::repository::Repository;
use crate::schedule::Schedule;
use crate::simulator::{simulate, tasks_of};
use crate::time::Time;

/// Periods in milliseconds; those of the critical set come first.
const PERIODS: [u64; 8] = [10, 20, 25, 40, 50, 100, 125, 200];
const CRITICAL: usize = 4;

/// In milliseconds: a multiple of all periods, and the simulated time of a set.
const HYPERPERIOD: u64 = 1_000;
const SIMULATED: u64 = 2 * HYPERPERIOD;

/// The shares of missed deadlines of the critical set, and of all other tasks; from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Misses {
    /// Of the tasks of [`Criticality::High`].
    pub critical: f64,
    /// Of all other tasks.
    pub other: f64,
}

/// Numbers of deadlines by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeadlineCounts {
    /// Of the critical set: missed, and all.
    pub critical: (u64, u64),
    /// Of all other tasks, likewise.
    pub other: (u64, u64),
}

impl DeadlineCounts {
    /// Counts a deadline of a task of that criticality.
    pub fn add(&mut self, criticality: Criticality, is_missed: bool) {
        let (missed, all) = if criticality >= Criticality::High {
            &mut self.critical
        } else {
            &mut self.other
        };
        *missed += u64::from(is_missed);
        *all += 1;
    }

    /// The shares of missed deadlines; 0 without deadlines.
    #[must_use]
    pub fn shares(&self) -> Misses {
        let share = |(missed, all): (u64, u64)| missed as f64 / all.max(1) as f64;
        Misses {
            critical: share(self.critical),
            other: share(self.other),
        }
    }
}

/// The deadlines missed in random task sets of that utilization, one set for each seed, each of
/// them simulated for 2 s on one processor.
///
/// # Errors
/// Errors of [`Schedule::compute`] for a task set.
///
/// ```
/// use orbium_sched::{Options, Strategy, overload};
///
/// let misses = overload::simulated_misses(&Options::new(Strategy::Rms), 1.2, 0..2)?;
/// assert_eq!(misses.critical, 0.0);
/// assert!(misses.other > 0.0);
/// # Ok::<(), orbium_sched::SchedError>(())
/// ```
pub fn simulated_misses(
    options: &Options,
    utilization: f64,
    seeds: Range<u64>,
) -> Result<Misses, SchedError> {
    let mut counts = DeadlineCounts::default();
    for seed in seeds {
        let repository = random_tasks(utilization, seed)?;
        let schedule = Schedule::compute(&repository, options)?;
        let (tasks, dispatching) = tasks_of(&schedule);
        let simulated: Vec<_> = tasks.iter().map(|(_, task)| *task).collect();
        let end = Time::from_millis(SIMULATED);
        let trace = simulate(
            &simulated,
            &dispatching,
            options.preemption,
            end,
            usize::MAX,
        );
        for job in trace.jobs.iter().filter(|it| it.deadline <= end) {
            let thread = &schedule.threads[tasks[job.task].0];
            let is_missed = job.finish.is_none_or(|finish| finish > job.deadline);
            counts.add(thread.criticality, is_missed);
        }
    }
    Ok(counts.shares())
}

/// Eight periodic operations of that utilization, with periods from 10 to 200 ms; the same for the
/// same seed. The four of the shortest periods have [`Criticality::High`] and half of the
/// utilization, all others [`Criticality::Low`]. Execution times are zero if the utilization is not
/// positive.
///
/// # Errors
/// Errors of [`Repository::register`].
pub fn random_tasks(utilization: f64, seed: u64) -> Result<Repository, SchedError> {
    let mut random = Xorshift::new(seed);
    let weights = PERIODS.map(|_| 1.0 + (random.next() % 1_000) as f64 / 250.0);
    let mut repository = Repository::new();
    for (number, (period, weight)) in PERIODS.iter().zip(weights).enumerate() {
        let (class, criticality) = if number < CRITICAL {
            (&weights[..CRITICAL], Criticality::High)
        } else {
            (&weights[CRITICAL..], Criticality::Low)
        };
        let share = utilization / 2.0 * weight / class.iter().sum::<f64>();
        // In whole hundredths of a millisecond, rounded down: the utilization is not exceeded.
        let time = Time::from_micros(10).saturating_mul((share * *period as f64 * 100.0) as u64);
        let timing = Timing {
            period: Time::from_millis(*period),
            worst_case_execution_time: time,
            criticality,
            ..Timing::default()
        };
        repository.register(&format!("task {number}"), timing)?;
    }
    Ok(repository)
}

/// Marsaglia's generator of pseudo-random numbers.
struct Xorshift(u64);

impl Xorshift {
    fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        // A state of zero would remain zero.
        Self(state.max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
