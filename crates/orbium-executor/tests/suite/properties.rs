// SPDX-License-Identifier: MIT OR Apache-2.0
//! No task is lost, whatever happens to its context.

use std::time::Duration;

use orbium_executor::{Policy, SchedulerContext, TaskError, TaskHandle, TaskQos, yield_now};
use proptest::prelude::*;

use crate::common::context;

/// What happens to contexts and their tasks.
#[derive(Clone, Debug)]
enum Step {
    Spawn { context: usize, priority: i32 },
    Migrate { task: usize, context: usize },
    SetPolicy { context: usize, policy: usize },
    SetPriority { task: usize, priority: i32 },
    AddThread { context: usize },
    MigrateThread { from: usize, to: usize },
    RemoveThread { context: usize },
    Cancel { task: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let context = || 0..3_usize;
    prop_oneof![
        4 => (context(), -3..3).prop_map(|(context, priority)| Step::Spawn { context, priority }),
        2 => (0..64_usize, context()).prop_map(|(task, context)| Step::Migrate { task, context }),
        2 => (context(), 0..6_usize).prop_map(|(context, policy)| Step::SetPolicy { context, policy }),
        1 => (0..64_usize, -3..3).prop_map(|(task, priority)| Step::SetPriority { task, priority }),
        1 => context().prop_map(|context| Step::AddThread { context }),
        1 => (context(), context()).prop_map(|(from, to)| Step::MigrateThread { from, to }),
        1 => context().prop_map(|context| Step::RemoveThread { context }),
        1 => (0..64_usize).prop_map(|task| Step::Cancel { task }),
    ]
}

fn qos(priority: i32) -> TaskQos {
    TaskQos::default()
        .priority(priority)
        .period(Duration::from_secs(1))
}

struct World {
    contexts: [SchedulerContext; 3],
    tasks: Vec<(TaskHandle<usize>, bool)>,
}

impl World {
    fn take(&mut self, step: &Step) {
        match *step {
            Step::Spawn { context, priority } => {
                let number = self.tasks.len();
                let work = async move {
                    for _ in 0..3 {
                        yield_now().await;
                    }
                    number
                };
                let task = self.contexts[context].spawn(qos(priority), work).unwrap();
                self.tasks.push((task, false));
            }
            Step::Migrate { task, context } => {
                if let Some((task, _)) = self.tasks.get(task) {
                    // It may have ended.
                    let _ = task.migrate(&self.contexts[context]);
                }
            }
            Step::SetPolicy { context, policy } => {
                self.contexts[context].set_policy(Policy::ALL[policy]);
            }
            Step::SetPriority { task, priority } => {
                if let Some((task, _)) = self.tasks.get(task) {
                    task.set_qos(qos(priority));
                }
            }
            Step::AddThread { context } => self.contexts[context].add_thread().unwrap(),
            Step::MigrateThread { from, to } => {
                // There may be none.
                let _ = self.contexts[from].migrate_thread(&self.contexts[to]);
            }
            Step::RemoveThread { context } => {
                let _ = self.contexts[context].remove_thread();
            }
            Step::Cancel { task } => {
                if let Some((task, cancelled)) = self.tasks.get_mut(task) {
                    *cancelled |= task.cancel();
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn each_task_ends_once_with_its_result(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = World {
            contexts: [Policy::Fifo, Policy::Edf, Policy::Muf].map(context),
            tasks: Vec::new(),
        };
        for step in &steps {
            world.take(step);
        }
        for context in &world.contexts {
            context.add_thread().unwrap();
        }
        for (number, (task, cancelled)) in world.tasks.into_iter().enumerate() {
            let result = task.wait();
            let may_be_cancelled = cancelled && result == Err(TaskError::Cancelled);
            prop_assert!(result == Ok(number) || may_be_cancelled, "{result:?}");
        }
    }
}
