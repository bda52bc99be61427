// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contents of a Gantt chart: the simulated schedule by threads.

use std::collections::BTreeMap;

use crate::repository::Repository;
use crate::schedule::Schedule;
use crate::simulator::{Trace, hyperperiod_of, simulate, tasks_of};
use crate::time::Time;

/// The schedule over its hyperperiod, from the simulator: all threads are released together at the
/// beginning, and each run takes its worst-case execution time.
///
/// ```
/// use orbium_sched::gantt::Chart;
/// use orbium_sched::{Options, Repository, Time, Timing};
///
/// let mut repository = Repository::new();
/// for (name, period, time) in [("Rudder::steer", 50, 20), ("Log::write", 100, 30)] {
///     repository.register(name, Timing {
///         period: Time::from_millis(period),
///         worst_case_execution_time: Time::from_millis(time),
///         ..Timing::default()
///     })?;
/// }
/// let schedule = repository.compute_scheduling(&Options::default())?;
/// let chart = Chart::new(&repository, &schedule, Chart::MAX_STEPS);
/// assert_eq!(chart.end, Time::from_millis(100));
/// assert!(chart.to_text(40).contains("Rudder::steer"));
/// # Ok::<(), orbium_sched::SchedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The threads, those of the most urgent queue first.
    pub rows: Vec<Row>,
    /// The end of the shown part of the schedule, from 0.
    pub end: Time,
    /// Whether that is the hyperperiod, after which the schedule repeats.
    pub is_complete: bool,
}

/// A thread of a [`Chart`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of its entry point.
    pub name: String,
    /// The number of its queue.
    pub queue: usize,
    /// The intervals in which it runs.
    pub runs: Vec<Bar>,
    /// The intervals in which it has a ready or running job.
    pub ready: Vec<Bar>,
    /// The deadlines that it misses.
    pub misses: Vec<Time>,
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
}

impl Chart {
    /// Sufficient for some thousand jobs.
    pub const MAX_STEPS: usize = 20_000;

    /// The chart of a schedule, which ends early after `max_steps` steps of the simulator.
    /// Background threads, which have no rate, are not in it.
    #[must_use]
    pub fn new(repository: &Repository, schedule: &Schedule, max_steps: usize) -> Self {
        let (tasks, dispatching) = tasks_of(schedule);
        let simulated: Vec<_> = tasks.iter().map(|(_, task)| *task).collect();
        let whole = if simulated.is_empty() {
            Some(Time::ZERO)
        } else {
            hyperperiod_of(schedule)
        };
        let until = whole.unwrap_or(Time::MAX);
        let trace = simulate(
            &simulated,
            &dispatching,
            schedule.preemption,
            until,
            max_steps,
        );
        let mut rows = Vec::new();
        let mut row_of_thread = BTreeMap::new();
        let mut row_of_task = Vec::with_capacity(tasks.len());
        for (thread, task) in &tasks {
            let row = *row_of_thread.entry(*thread).or_insert_with(|| {
                let entry = schedule.threads[*thread].entry;
                rows.push(Row::new(repository.name(entry), task.queue));
                rows.len() - 1
            });
            row_of_task.push(row);
        }
        fill(&mut rows, &row_of_task, &trace);
        Chart {
            rows,
            end: trace.end,
            is_complete: whole == Some(trace.end),
        }
    }
}

impl Row {
    fn new(name: &str, queue: usize) -> Self {
        Row {
            name: name.to_owned(),
            queue,
            runs: Vec::new(),
            ready: Vec::new(),
            misses: Vec::new(),
        }
    }
}

fn fill(rows: &mut [Row], row_of_task: &[usize], trace: &Trace) {
    for slice in &trace.slices {
        rows[row_of_task[slice.task]].runs.push(Bar {
            start: slice.start,
            end: slice.end,
        });
    }
    // The simulator releases jobs at its end too.
    for job in trace.jobs.iter().filter(|it| it.release < trace.end) {
        rows[row_of_task[job.task]].ready.push(Bar {
            start: job.release,
            end: job.finish.unwrap_or(trace.end),
        });
    }
    for job in trace.misses() {
        rows[row_of_task[job.task]].misses.push(job.deadline);
    }
}
