// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of a task switch: `cargo run --release -p orbium-executor --example task_switch`.
//!
//! 10,000 tasks yield in turn, on one thread and on two, under each policy. Under EDF, LLF and MUF a task that yields keeps
//! its deadline and goes on; `jobs` are tasks that end a job each time, so that the next deadline is another task's.
//! The name of a policy as argument measures that one alone.

use std::env;
use std::time::{Duration, Instant};

use orbium_executor::{Policy, SchedulerContext, TaskQos, next_job, yield_now};

const TASKS: u32 = 10_000;
const SWITCHES: u32 = 100;

/// What the tasks do between two items of their work.
#[derive(Clone, Copy)]
enum Turn {
    Yield,
    EndJob,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let only = env::args().nth(1);
    println!(
        "{:8} {:>6} {:>8} {:>12} {:>12}",
        "policy", "turn", "tasks", "1 thread", "2 threads"
    );
    for policy in Policy::ALL {
        if only.as_deref().is_some_and(|it| it != policy.name()) {
            continue;
        }
        for (turn, name) in [(Turn::Yield, "yields"), (Turn::EndJob, "jobs")] {
            for tasks in [2, TASKS] {
                let one = measure(policy, turn, tasks, 1)?;
                let two = measure(policy, turn, tasks, 2)?;
                println!("{policy:8} {name:>6} {tasks:>8} {one:>9.0} ns {two:>9.0} ns");
            }
        }
    }
    Ok(())
}

/// Nanoseconds for each switch.
fn measure(
    policy: Policy,
    turn: Turn,
    tasks: u32,
    threads: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let context = SchedulerContext::builder("switch").policy(policy).build()?;
    let switches = SWITCHES * (TASKS / tasks);
    let handles = (0..tasks).map(|number| {
        let qos = TaskQos::default()
            .priority(i32::try_from(number % 7).unwrap_or(0))
            .period(Duration::from_millis(u64::from(number % 5) + 1))
            .deadline(Duration::from_millis(u64::from(number % 11) + 1));
        context.spawn(qos, async move {
            for _ in 0..switches {
                match turn {
                    Turn::Yield => yield_now().await,
                    Turn::EndJob => next_job().await,
                }
            }
        })
    });
    let handles: Vec<_> = handles.collect::<Result<_, _>>()?;
    let begun = Instant::now();
    for _ in 0..threads {
        context.add_thread()?;
    }
    for handle in handles {
        handle.wait()?;
    }
    let switches = context.counts().switches;
    Ok(begun.elapsed().as_secs_f64() * 1e9 / switches as f64)
}
