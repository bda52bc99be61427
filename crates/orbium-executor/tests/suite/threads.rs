// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that come, go and migrate.

use orbium_executor::{ContextBuilder, Policy, SchedulerContext, TaskQos, ThreadError};
use orbium_sys::{RealTimeError, Scheduling, processors_of_this_thread};
use orbium_testkit::{eventually, give_up_real_time, in_own_process};

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

fn at_a_native_priority() -> ContextBuilder {
    let builder = SchedulerContext::builder("urgent").threads(2);
    builder.scheduling(Scheduling::fifo(2))
}

/// Conformance: RT 6 - soft mode says which queues run without their native priority - a scheduler context
#[test]
fn a_soft_context_runs_its_tasks_and_says_what_the_host_refuses() {
    in_own_process!(|| {
        give_up_real_time();
        let refused = at_a_native_priority().build().unwrap_err();
        assert!(matches!(
            refused,
            ThreadError::Scheduling(RealTimeError::PriorityNotPermitted(_))
        ));
        let context = at_a_native_priority().soft(true).build().unwrap();
        assert!(matches!(
            context.refused(),
            Some(RealTimeError::PriorityNotPermitted(_))
        ));
        let counts = context.counts();
        assert_eq!((counts.threads, counts.refused_schedulings), (2, 2));
        let task = context.spawn(TaskQos::default(), async { 4 }).unwrap();
        assert_eq!(task.wait(), Ok(4));
    });
}

#[test]
fn a_thread_that_migrates_says_what_the_host_refuses() {
    in_own_process!(|| {
        give_up_real_time();
        let from = context(Policy::Fifo);
        from.add_thread().unwrap();
        let to = at_a_native_priority().threads(0).build().unwrap();
        from.migrate_thread(&to).unwrap();
        let task = to.spawn(TaskQos::default(), async { 5 }).unwrap();
        assert_eq!(task.wait(), Ok(5));
        assert!(to.refused().is_some() && from.refused().is_none());
        assert_eq!(to.counts().refused_schedulings, 1);
    });
}

#[test]
fn threads_run_on_the_processors_of_their_context() {
    let allowed = processors_of_this_thread().unwrap();
    let one = vec![*allowed.last().unwrap()];
    let bound = |processors: &[usize]| {
        let builder = SchedulerContext::builder("bound").threads(1);
        builder.processors(processors)
    };
    let run = |context: &SchedulerContext| {
        let task = async { processors_of_this_thread().unwrap() };
        let task = context.spawn(TaskQos::default(), task).unwrap();
        task.wait().unwrap()
    };
    let context = bound(&one).build().unwrap();
    assert_eq!(run(&context), one);
    assert!(context.refused().is_none());
    let refused = bound(&[1_000_000]).build();
    assert!(matches!(refused, Err(ThreadError::Scheduling(_))));
    let context = bound(&[1_000_000]).soft(true).build().unwrap();
    assert_eq!(run(&context), allowed);
    assert!(matches!(
        context.refused(),
        Some(RealTimeError::NoSuchProcessor(_))
    ));
}
