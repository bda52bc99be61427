// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines missed against utilization, by strategy and by criticality, in simulated random task
//! sets, as a table.

use orbium_sched::simulator::{simulate, tasks_of};
use orbium_sched::{
    Criticality, Options, Repository, SchedError, Schedule, Strategy, Time, Timing,
};

/// Periods in milliseconds; those of the critical set come first.
const PERIODS: [u64; 8] = [10, 20, 25, 40, 50, 100, 125, 200];
const CRITICAL: usize = 4;

/// What all periods divide, and how often it is simulated.
const HYPERPERIOD: u64 = 1_000;
const HYPERPERIODS: u64 = 2;

/// The share of deadlines that the critical set misses, and that of all other tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Misses {
    pub(crate) critical: f64,
    pub(crate) other: f64,
}

/// The misses of `sets` random task sets of that utilization, half of which is the critical set's.
pub(crate) fn misses(
    strategy: Strategy,
    utilization: f64,
    sets: u64,
) -> Result<Misses, SchedError> {
    let (mut missed, mut released) = ([0_u32; 2], [0_u32; 2]);
    for set in 0..sets {
        let repository = repository(utilization, set)?;
        let schedule = Schedule::compute(&repository, &Options::new(strategy))?;
        let (tasks, dispatching) = tasks_of(&schedule);
        let simulated: Vec<_> = tasks.iter().map(|(_, task)| *task).collect();
        let end = Time::from_millis(HYPERPERIOD * HYPERPERIODS);
        let trace = simulate(&simulated, &dispatching, end, usize::MAX);
        let class = |task: usize| {
            let thread = &schedule.threads[tasks[task].0];
            usize::from(thread.criticality < Criticality::High)
        };
        for job in trace.jobs.iter().filter(|it| it.deadline <= end) {
            released[class(job.task)] += 1;
        }
        for job in trace.misses() {
            missed[class(job.task)] += 1;
        }
    }
    let share = |class: usize| f64::from(missed[class]) / f64::from(released[class].max(1));
    Ok(Misses {
        critical: share(0),
        other: share(1),
    })
}

/// A set of that number and utilization: the same each time.
fn repository(utilization: f64, set: u64) -> Result<Repository, SchedError> {
    let mut state = set.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut weight = || {
        // Xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        1.0 + (state % 1_000) as f64 / 250.0
    };
    let weights = PERIODS.map(|_| weight());
    let mut repository = Repository::new();
    for (number, (period, weight)) in PERIODS.iter().zip(weights).enumerate() {
        let class = match number < CRITICAL {
            true => &weights[..CRITICAL],
            false => &weights[CRITICAL..],
        };
        let share = utilization / 2.0 * weight / class.iter().sum::<f64>();
        // In whole hundredths of a millisecond, rounded down: the bound is not exceeded.
        let time = Time::from_micros(10).saturating_mul((share * *period as f64 * 100.0) as u64);
        let timing = Timing {
            period: Time::from_millis(*period),
            worst_case_execution_time: time,
            criticality: match number < CRITICAL {
                true => Criticality::High,
                false => Criticality::Low,
            },
            ..Timing::default()
        };
        repository.register(&format!("task {number}"), timing)?;
    }
    Ok(repository)
}

#[allow(
    dead_code,
    reason = "the tests include this file for the experiment alone"
)]
fn main() -> Result<(), SchedError> {
    const SETS: u64 = 50;
    print!("{:<12}", "utilization");
    for strategy in Strategy::ALL {
        print!("  {:>16}", strategy.name());
    }
    println!(
        "\n{:<12}  share of deadlines missed in percent: critical set / others",
        ""
    );
    for tenths in 1..=13 {
        let utilization = f64::from(tenths) / 10.0;
        print!("{utilization:<12.1}");
        for strategy in Strategy::ALL {
            let misses = misses(strategy, utilization, SETS)?;
            let cell = format!(
                "{:.1} / {:.1}",
                misses.critical * 100.0,
                misses.other * 100.0
            );
            print!("  {cell:>16}");
        }
        println!();
    }
    Ok(())
}
