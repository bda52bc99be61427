// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tasks that migrate between contexts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use orbium_executor::{MigrateError, Policy, SchedulerContext, TaskQos, yield_now};
use orbium_testkit::eventually;

use crate::common::{Gate, context};

#[test]
fn a_ready_task_runs_where_it_migrates() {
    let [from, to] = [Policy::Edf, Policy::Fifo].map(context);
    let name = |_: &()| thread::current().name().map(str::to_owned);
    let task = from
        .spawn(TaskQos::default(), async move { name(&()) })
        .unwrap();
    task.migrate(&to).unwrap();
    assert_eq!((from.counts().tasks, to.counts().ready), (0, 1));
    from.add_thread().unwrap();
    to.add_thread().unwrap();
    assert_eq!(task.wait(), Ok(Some("test".to_owned())));
    assert_eq!((from.counts().switches, to.counts().switches), (0, 1));
}

#[test]
fn a_waiting_task_runs_where_it_migrates() {
    let [from, to] = [Policy::Fifo, Policy::Priority].map(context);
    from.add_thread().unwrap();
    to.add_thread().unwrap();
    let gate = Gate::default();
    let task = from.spawn(TaskQos::default(), gate.clone().pass()).unwrap();
    eventually("it waits", || {
        let counts = from.counts();
        counts.switches == 1 && counts.idle_threads == 1
    });
    task.migrate(&to).unwrap();
    drop(from);
    gate.open();
    assert_eq!(task.wait(), Ok(()));
    assert_eq!(to.counts().switches, 1);
}

#[test]
fn a_task_that_cannot_migrate_stays() {
    let from = context(Policy::Fifo);
    let full = SchedulerContext::builder("full")
        .max_tasks(0)
        .build()
        .unwrap();
    let destroyed = context(Policy::Fifo).handle();
    let task = from.spawn(TaskQos::default(), async { 7 }).unwrap();
    assert_eq!(task.migrate(&full), Err(MigrateError::Full));
    assert_eq!(task.migrate(&destroyed), Err(MigrateError::Destroyed));
    assert_eq!(task.migrate(&from), Ok(()));
    from.add_thread().unwrap();
    eventually("it ends", || task.has_ended());
    assert_eq!(task.migrate(&full), Err(MigrateError::Ended));
    assert_eq!(task.wait(), Ok(7));
}

/// Conformance: RT GOPI 3.2.1 - scheduler contexts: tasks and threads migrate, the policy changes while running - 10,000 tasks, two threads, none lost
#[test]
fn ten_thousand_tasks_lose_nothing_while_all_changes() {
    const TASKS: usize = 10_000;
    const TURNS: usize = 20;
    let contexts = [Policy::Fifo, Policy::Edf].map(context);
    let turns = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|number| {
            let turns = Arc::clone(&turns);
            let qos = TaskQos::default().priority(i32::try_from(number).unwrap() % 10);
            let work = async move {
                for _ in 0..TURNS {
                    turns.fetch_add(1, Ordering::Relaxed);
                    yield_now().await;
                }
            };
            contexts[number % 2].spawn(qos, work).unwrap()
        })
        .collect();
    for context in &contexts {
        context.add_thread().unwrap();
    }
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for policy in Policy::ALL.iter().cycle() {
                if ended.load(Ordering::Acquire) {
                    break;
                }
                contexts[0].set_policy(*policy);
                let _ = contexts[1].migrate_thread(&contexts[0]);
                let _ = contexts[0].migrate_thread(&contexts[1]);
            }
        });
        for (number, task) in tasks.iter().enumerate().step_by(50) {
            let _ = task.migrate(&contexts[(number + 1) % 2]);
        }
        for task in tasks {
            assert_eq!(task.wait(), Ok(()));
        }
        ended.store(true, Ordering::Release);
    });
    assert_eq!(turns.load(Ordering::Relaxed), TASKS * TURNS);
    let threads = || contexts.iter().map(|it| it.counts().threads).sum::<usize>();
    eventually("both threads are there", || threads() == 2);
}
