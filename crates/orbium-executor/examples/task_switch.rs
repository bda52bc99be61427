// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a switch between tasks costs: `cargo run --release -p orbium-executor --example task_switch`.
//!
//! 10,000 tasks yield in turn, on one thread and on two, under each policy.

use std::time::{Duration, Instant};

use orbium_executor::{Policy, SchedulerContext, TaskQos, yield_now};

const TASKS: u32 = 10_000;
const SWITCHES: u32 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:8} {:>8} {:>12} {:>12}",
        "policy", "tasks", "1 thread", "2 threads"
    );
    for policy in Policy::ALL {
        for tasks in [2, TASKS] {
            let [one, two] = [measure(policy, tasks, 1)?, measure(policy, tasks, 2)?];
            println!("{policy:8} {tasks:>8} {one:>9.0} ns {two:>9.0} ns");
        }
    }
    Ok(())
}

/// Nanoseconds for each switch.
fn measure(policy: Policy, tasks: u32, threads: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let context = SchedulerContext::builder("switch").policy(policy).build()?;
    let switches = SWITCHES * (TASKS / tasks);
    let handles = (0..tasks).map(|number| {
        let qos = TaskQos::default()
            .priority(i32::try_from(number % 7).unwrap_or(0))
            .period(Duration::from_millis(u64::from(number % 5) + 1))
            .deadline(Duration::from_millis(u64::from(number % 11) + 1));
        context.spawn(qos, async move {
            for _ in 0..switches {
                yield_now().await;
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
