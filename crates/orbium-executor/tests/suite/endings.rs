// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of tasks and contexts: panics, cancellation and destruction.

use std::sync::Arc;

use orbium_executor::{Policy, SchedulerContext, SpawnError, TaskError, TaskQos, ThreadError};
use orbium_testkit::eventually;

use crate::common::{Gate, context};

fn running(threads: usize) -> SchedulerContext {
    let builder = SchedulerContext::builder("test").threads(threads);
    builder.build().unwrap()
}

/// Whether its one thread has run the first task until that waits.
fn waits(context: &SchedulerContext) -> bool {
    let counts = context.counts();
    (counts.switches, counts.idle_threads) == (1, 1)
}

#[test]
fn a_task_that_panics_harms_no_other() {
    let context = running(1);
    let panics = context.spawn(TaskQos::default(), async { panic!("as it should") });
    assert_eq!(panics.unwrap().wait(), Err::<(), _>(TaskError::Panicked));
    let other = context.spawn(TaskQos::default(), async { 1 }).unwrap();
    assert_eq!(other.wait(), Ok(1));
    assert_eq!(context.counts().panics, 1);
    eventually("none remains", || context.counts().tasks == 0);
}

/// A destructor is the user's code as much as the future is.
#[test]
fn a_future_that_panics_when_it_is_dropped_harms_no_other() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("as it should");
        }
    }
    let context = running(1);
    let gate = Gate::default();
    let bomb = context.spawn(TaskQos::default(), {
        let gate = gate.clone();
        async move {
            let _bomb = Bomb;
            gate.pass().await;
        }
    });
    let bomb = bomb.unwrap();
    eventually("it waits", || waits(&context));
    assert!(bomb.cancel());
    assert!(bomb.wait().is_err());
    assert_eq!(context.counts().panics, 1);
    let other = context.spawn(TaskQos::default(), async { 1 }).unwrap();
    assert_eq!(other.wait(), Ok(1));
}

#[test]
fn a_cancelled_task_drops_its_future_and_has_no_result() {
    for threads in [0, 1] {
        let context = running(threads);
        let held = Arc::new(());
        let (gate, holding) = (Gate::default(), Arc::clone(&held));
        let work = async move {
            gate.pass().await;
            drop(holding);
        };
        let task = context.spawn(TaskQos::default(), work).unwrap();
        if threads == 1 {
            eventually("it waits", || waits(&context));
        }
        assert!(task.cancel());
        assert_eq!(Arc::strong_count(&held), 1);
        assert_eq!(task.wait(), Err(TaskError::Cancelled));
    }
}

#[test]
fn a_task_awaits_another() {
    let context = running(1);
    let inner = context.spawn(TaskQos::default(), async { 20 }).unwrap();
    let outer = context.spawn(TaskQos::default(), async { inner.await.unwrap() + 1 });
    assert_eq!(outer.unwrap().wait(), Ok(21));
}

#[test]
fn tasks_are_bounded() {
    let context = SchedulerContext::builder("test")
        .max_tasks(2)
        .build()
        .unwrap();
    let held = Arc::new(());
    let tasks = [0, 1].map(|_| context.spawn(TaskQos::default(), async {}).unwrap());
    let holding = Arc::clone(&held);
    let refused = context.spawn(TaskQos::default(), async move { drop(holding) });
    assert_eq!(refused.unwrap_err(), SpawnError::Full);
    assert_eq!(Arc::strong_count(&held), 1);
    context.add_thread().unwrap();
    for task in tasks {
        task.wait().unwrap();
    }
    eventually("there is a place", || context.counts().tasks == 0);
    let task = context.spawn(TaskQos::default(), async { 3 }).unwrap();
    assert_eq!(task.wait(), Ok(3));
}

#[test]
fn a_destroyed_context_cancels_its_tasks_and_takes_no_more() {
    let context = running(2);
    let handle = context.handle();
    let gate = Gate::default();
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            handle
                .spawn(TaskQos::default(), gate.clone().pass())
                .unwrap()
        })
        .collect();
    drop(context);
    for task in tasks {
        assert_eq!(task.wait(), Err(TaskError::Cancelled));
    }
    let refused = handle.spawn(TaskQos::default(), async {});
    assert_eq!(refused.unwrap_err(), SpawnError::Destroyed);
    assert!(matches!(handle.add_thread(), Err(ThreadError::Destroyed)));
    assert!(matches!(
        handle.remove_thread(),
        Err(ThreadError::Destroyed)
    ));
    let counts = handle.counts();
    assert_eq!((counts.tasks, counts.ready, counts.threads), (0, 0, 0));
    // Wakers outlive contexts.
    gate.open();
}

#[test]
fn a_task_may_destroy_its_own_context() {
    let context = running(1);
    let handle = context.handle();
    let task = handle.spawn(TaskQos::default(), async move { drop(context) });
    assert!(task.is_ok());
    eventually("its thread has ended", || handle.counts().threads == 0);
}

#[test]
fn a_context_without_threads_keeps_its_tasks() {
    let context = context(Policy::Fifo);
    let task = context.spawn(TaskQos::default(), async { 5 }).unwrap();
    assert_eq!(context.counts().ready, 1);
    assert!(!task.has_ended());
    context.add_thread().unwrap();
    assert_eq!(task.wait(), Ok(5));
}
