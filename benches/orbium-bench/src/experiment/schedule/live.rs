// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines missed by threads of this host: the queues of a schedule as threads of a dispatcher,
//! all on one processor.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use orbium::lane::Scheduling;
use orbium_cli::Failure;
use orbium_cli::stage::pin;
use orbium_sched::overload::{DeadlineCounts, Misses, random_tasks};
use orbium_sched::{Options, Schedule, Strategy, Table};
use orbium_scheduler::{Dispatcher, Job, PeriodicTask, SchedulerError};

use super::results::{Findings, refused};
use crate::stage::real_time::{become_real_time, can_be_real_time, throttling};
use crate::stage::work::burn;

/// Native priorities: of the most urgent queue, of the releases, of the thread that ends a run.
const URGENT: i32 = 80;
const RELEASE: i32 = 90;
const END: i32 = 95;

/// Maximum number of runs that wait in a queue: more than occur in a cell.
const BOUND: usize = 4096;

/// The time from the last release of a run to its end: the longest period of a task.
const LAST: Duration = Duration::from_millis(200);

/// Measures one random task set for each utilization and strategy; returns also the limits of the
/// figures.
pub(super) fn measure(
    utilizations: &[f64],
    seed: u64,
    time: Duration,
) -> Result<(Findings, Vec<String>), Failure> {
    can_be_real_time(END).map_err(Failure::because)?;
    let measure = |strategy, utilization| {
        // Its processor and priority end with the thread.
        let measured = thread::spawn(move || cell(strategy, utilization, seed, time)).join();
        measured.unwrap_or_else(|_| Err(Failure::because("a thread of the experiment panicked")))
    };
    let found = Findings::measure("live", utilizations, measure)?;
    let mut notes = vec![
        "live: a run is not preempted by another one of its queue, so that edf, mlf and muf miss \
         deadlines that a preemptive processor keeps."
            .to_owned(),
    ];
    notes.extend(throttling().map(|rule| {
        format!(
            "live: {rule} Above that utilization the threads of a run do, and what is due \
             meanwhile can miss its deadline under every strategy."
        )
    }));
    Ok((found, notes))
}

/// The outcomes of one operation's runs.
#[derive(Debug, Default)]
struct Runs {
    released: AtomicU64,
    in_time: AtomicU64,
}

fn cell(
    strategy: Strategy,
    utilization: f64,
    seed: u64,
    time: Duration,
) -> Result<Misses, Failure> {
    if let Some(processor) = pin::choose() {
        pin::thread_to(processor)?;
    }
    become_real_time(END).map_err(Failure::because)?;
    let repository = random_tasks(utilization, seed).map_err(|it| refused(&it))?;
    let options = Options {
        max_priority: URGENT,
        ..Options::new(strategy)
    };
    let schedule = Schedule::compute(&repository, &options).map_err(|it| refused(&it))?;
    let table = Table::leak(&repository, &schedule).map_err(|it| refused(&it))?;
    let runs = run(table, time).map_err(|error| Failure::because(error.to_string()))?;
    let mut counts = DeadlineCounts::default();
    for (info, runs) in repository.infos().iter().zip(runs) {
        let (released, in_time) = (
            runs.released.load(Ordering::Acquire),
            runs.in_time.load(Ordering::Acquire),
        );
        for number in 0..released {
            counts.add(info.timing.criticality, number >= in_time);
        }
    }
    Ok(counts.shares())
}

/// Releases all operations of a table periodically for some time, and waits for the deadlines of
/// the last releases.
fn run(table: &'static Table, time: Duration) -> Result<Vec<Arc<Runs>>, SchedulerError> {
    let dispatcher = Arc::new(Dispatcher::builder(table).bound(BOUND).start()?);
    let mut tasks = Vec::new();
    let mut all = Vec::new();
    for (operation, entry) in table.entries.iter().enumerate() {
        let (runs, work) = (Arc::new(Runs::default()), entry.worst_case.as_duration());
        all.push(Arc::clone(&runs));
        let dispatcher = Arc::clone(&dispatcher);
        let release = move |_: &Job<'_>| {
            runs.released.fetch_add(1, Ordering::AcqRel);
            let of_run = Arc::clone(&runs);
            // If the queue is full and refuses, the run has missed its deadline.
            let _ = dispatcher.submit(operation, move |job| {
                burn(work);
                let is_in_time = u64::from(!job.is_late());
                of_run.in_time.fetch_add(is_in_time, Ordering::AcqRel);
            });
        };
        let task = PeriodicTask::every(entry.name, entry.period.as_duration());
        let task = task.scheduling(Scheduling::fifo(RELEASE)).start(release);
        tasks.push(task?);
    }
    thread::sleep(time);
    for task in tasks {
        task.stop()?;
    }
    thread::sleep(LAST);
    dispatcher.stop();
    Ok(all)
}
