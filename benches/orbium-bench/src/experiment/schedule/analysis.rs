// SPDX-License-Identifier: MIT OR Apache-2.0
//! Run time of the schedulability analysis of 10,000 RT_Infos.

use std::time::Instant;

use orbium_cli::Failure;
use orbium_sched::{
    Criticality, DependencyKind, Options, Repository, SchedError, Schedule, Strategy, Time, Timing,
};

use super::results::refused;
use crate::report::bound::Bound;
use crate::report::results::Results;
use crate::report::row::Row;

/// Number of analysed RT_Infos.
const INFOS: u64 = 10_000;

/// Numbers of distinct periods: few, and one for each thread.
const PERIODS: [u64; 2] = [20, INFOS / 2];

/// Maximum run time in seconds.
const BOUND: Bound = Bound::AtMost(1.0);

pub(super) fn measure(all: &mut Results) -> Result<(), Failure> {
    for periods in PERIODS {
        let repository = repository(periods).map_err(|it| refused(&it))?;
        for strategy in Strategy::ALL {
            let options = Options {
                max_priority: i32::try_from(INFOS).unwrap_or(i32::MAX),
                ..Options::new(strategy)
            };
            let begin = Instant::now();
            let schedule = Schedule::compute(&repository, &options).map_err(|it| refused(&it))?;
            let seconds = begin.elapsed().as_secs_f64();
            drop(schedule);
            let figure = format!("seconds of the analysis of {INFOS} RT_Infos, {periods} periods");
            let row = Row::new(&figure, strategy.name(), Some(seconds));
            all.rows.push(row.bounded(BOUND));
        }
    }
    Ok(())
}

/// Half of the operations are periodic, and each of those calls two of the others.
fn repository(periods: u64) -> Result<Repository, SchedError> {
    let (mut repository, half) = (Repository::new(), INFOS / 2);
    let mut handles = Vec::new();
    for number in 0..INFOS {
        let period = if number < half {
            Time::from_millis(10 * (1 + number % periods))
        } else {
            Time::ZERO
        };
        let timing = Timing {
            period,
            worst_case_execution_time: Time::from_ticks(1 + number % 3),
            criticality: Criticality::ALL[number as usize % Criticality::ALL.len()],
            ..Timing::default()
        };
        handles.push(repository.register(&format!("operation {number}"), timing)?);
    }
    let (callers, callees) = handles.split_at(half as usize);
    for (number, caller) in callers.iter().enumerate() {
        for callee in [number, number * 7 + 1] {
            let on = callees[callee % callees.len()];
            repository.add_dependency(*caller, on, 2, DependencyKind::TwoWayCall)?;
        }
    }
    Ok(repository)
}
