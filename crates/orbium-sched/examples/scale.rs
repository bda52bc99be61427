// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the analysis of 10,000 operations takes, each strategy, with 20 periods and with as many
//! as there are threads.

use std::time::Instant;

use orbium_sched::{
    Criticality, DependencyKind, Options, Repository, Schedule, Strategy, Time, Timing,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for periods in [20, 5_000] {
        let repository = repository(10_000, periods)?;
        for strategy in Strategy::ALL {
            let options = Options {
                min_priority: 1,
                max_priority: 10_000,
                ..Options::new(strategy)
            };
            let start = Instant::now();
            let schedule = Schedule::compute(&repository, &options)?;
            println!(
                "{} operations, {periods} periods, {strategy}: {:.1} ms, {} queues, utilization {:.3}, feasible: {}",
                repository.infos().len(),
                start.elapsed().as_secs_f64() * 1e3,
                schedule.levels.len(),
                schedule.utilization,
                schedule.is_feasible(),
            );
        }
    }
    Ok(())
}

/// Half of the operations are periodic, and each of those calls two of the others.
fn repository(count: u64, periods: u64) -> Result<Repository, Box<dyn std::error::Error>> {
    let mut repository = Repository::new();
    let mut handles = Vec::new();
    for number in 0..count {
        let is_root = number < count / 2;
        handles.push(repository.register(
            &format!("operation {number}"),
            Timing {
                period: match is_root {
                    true => Time::from_millis(10 * (1 + number % periods)),
                    false => Time::ZERO,
                },
                worst_case_execution_time: Time::from_ticks(1 + number % 3),
                criticality: Criticality::ALL[(number % 5) as usize],
                ..Timing::default()
            },
        )?);
    }
    let half = (count / 2) as usize;
    for root in 0..half {
        for callee in [root, root * 7 + 1] {
            let on = handles[half + callee % half];
            repository.add_dependency(handles[root], on, 2, DependencyKind::TwoWayCall)?;
        }
    }
    Ok(repository)
}
