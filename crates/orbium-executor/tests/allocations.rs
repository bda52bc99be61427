// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations of a task switch: a program of its own, in which no other test allocates.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orbium_executor::{Policy, SchedulerContext, TaskQos, next_job, yield_now};
use orbium_testkit::{CountingAllocator, eventually, fewest_allocations};

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;

/// Conformance: RT GOPI 3.2.1 - scheduler contexts: a switch between tasks allocates nothing - under each policy
#[test]
fn a_switch_between_tasks_allocates_nothing() {
    for policy in Policy::ALL {
        let builder = SchedulerContext::builder("test").policy(policy).threads(1);
        let context = builder.build().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let tasks: Vec<_> = (0..100)
            .map(|number| {
                let ended = Arc::clone(&ended);
                let work = async move {
                    while !ended.load(Ordering::Relaxed) {
                        yield_now().await;
                        next_job().await;
                    }
                };
                let deadline = Duration::from_millis(number % 7);
                let qos = TaskQos::default().deadline(deadline);
                context.spawn(qos, work).unwrap()
            })
            .collect();
        let counted = fewest_allocations(0, || {
            let goal = context.counts().switches + 10_000;
            eventually("they ran", || context.counts().switches > goal);
        });
        ended.store(true, Ordering::Relaxed);
        assert_eq!(counted.allocations, 0, "{policy}");
        for task in tasks {
            task.wait().unwrap();
        }
    }
}
