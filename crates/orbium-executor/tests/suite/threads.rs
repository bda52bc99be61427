// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that come, go and migrate.

use orbium_executor::{Policy, TaskQos, ThreadError};
use orbium_testkit::eventually;

use crate::common::context;

#[test]
fn threads_come_and_go() {
    let context = context(Policy::Fifo);
    assert!(matches!(
        context.remove_thread(),
        Err(ThreadError::NoThread)
    ));
    for _ in 0..3 {
        context.add_thread().unwrap();
    }
    assert_eq!(context.counts().threads, 3);
    for _ in 0..3 {
        context.remove_thread().unwrap();
    }
    assert!(matches!(
        context.remove_thread(),
        Err(ThreadError::NoThread | ThreadError::Destroyed)
    ));
    eventually("none remains", || context.counts().threads == 0);
    let task = context.spawn(TaskQos::default(), async { 1 }).unwrap();
    context.add_thread().unwrap();
    assert_eq!(task.wait(), Ok(1));
}

#[test]
fn a_thread_migrates_and_runs_the_tasks_of_its_destination() {
    let [from, to] = [Policy::Fifo, Policy::Muf].map(context);
    from.add_thread().unwrap();
    let task = to.spawn(TaskQos::default(), async { 2 }).unwrap();
    from.migrate_thread(&to).unwrap();
    assert_eq!(task.wait(), Ok(2));
    assert_eq!((from.counts().threads, to.counts().threads), (0, 1));
    drop(from);
    let task = to.spawn(TaskQos::default(), async { 3 }).unwrap();
    assert_eq!(task.wait(), Ok(3));
}

#[test]
fn no_thread_migrates_to_a_destroyed_context() {
    let from = context(Policy::Fifo);
    from.add_thread().unwrap();
    let destroyed = context(Policy::Fifo).handle();
    let refused = from.migrate_thread(&destroyed);
    assert!(matches!(refused, Err(ThreadError::Destroyed)));
    assert_eq!(from.counts().threads, 1);
}
