// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same work at the same rates and priorities, in threads without an ORB.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbium_scheduler::{Overload, PeriodicTask};

use crate::Failure;
use crate::arguments::Settings;
use crate::measured::Row;
use crate::schedule::SCHEDULE;
use crate::work::{OPERATIONS, Work};

/// Runs them, and prints what was measured.
pub(crate) fn run(settings: &Settings) -> Result<(), Failure> {
    orbium_sys::bind_this_thread(&[settings.processor])?;
    let work = Work::of(settings.utilization);
    let is_over = Arc::new(AtomicBool::new(false));
    if let Some(load) = settings.load {
        let is_over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            load.apply();
            while !is_over.load(Ordering::Relaxed) {}
        });
    }
    let mut tasks = Vec::new();
    for operation in OPERATIONS {
        let priority = SCHEDULE.entries[operation.index].assignment.priority;
        let task = PeriodicTask::every(operation.name, operation.period)
            .scheduling(orbium::lane::Scheduling::fifo(priority))
            .soft(true)
            .overload(Overload::Skip)
            .start(move |_| work.run(operation.index))?;
        tasks.push((operation.name, task));
    }
    std::thread::sleep(Duration::from_secs(settings.seconds));
    for (name, task) in tasks {
        println!("{}", Row::of_task(name, &task.stop()?, 0));
    }
    is_over.store(true, Ordering::Relaxed);
    Ok(())
}
