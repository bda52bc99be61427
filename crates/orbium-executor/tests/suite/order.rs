// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order in which tasks run.

use std::time::Duration;

use orbium_executor::{Policy, SchedulerContext, TaskQos, yield_now};
use orbium_sched::Criticality;
use orbium_testkit::eventually;

use crate::common::{Record, context};

fn seconds(deadline: u64) -> TaskQos {
    TaskQos::default().deadline(Duration::from_secs(deadline))
}

fn tasks() -> [TaskQos; 4] {
    let second = Duration::from_secs(1);
    [
        seconds(9000).priority(-5).period(second),
        seconds(5000).priority(3).period(3 * second),
        seconds(6000)
            .priority(9)
            .period(2 * second)
            .worst_case(5500 * second),
        TaskQos::default().criticality(Criticality::High),
    ]
}

/// The numbers of the tasks in the order in which one thread runs them, all being ready.
fn run(context: &SchedulerContext, tasks: &[TaskQos]) -> Record<usize> {
    let record = Record::default();
    for (number, qos) in tasks.iter().enumerate() {
        let record = record.clone();
        let spawned = context.spawn(*qos, async move { record.add(number) });
        drop(spawned.unwrap());
    }
    record
}

fn finish(context: &SchedulerContext, record: &Record<usize>, count: usize) -> Vec<usize> {
    context.add_thread().unwrap();
    eventually("all have run", || record.len() == count);
    record.all()
}

/// Conformance: RT GOPI 3.2.1 - scheduler contexts: tasks by FIFO, priority, RMS, EDF, LLF, MUF - on one thread
#[test]
fn each_policy_runs_tasks_in_its_order() {
    for (policy, order) in [
        (Policy::Fifo, [0, 1, 2, 3]),
        (Policy::Priority, [2, 1, 3, 0]),
        (Policy::Rms, [0, 2, 1, 3]),
        (Policy::Edf, [1, 2, 0, 3]),
        (Policy::Llf, [2, 1, 0, 3]),
        (Policy::Muf, [3, 2, 1, 0]),
    ] {
        let context = context(policy);
        let record = run(&context, &tasks());
        assert_eq!(finish(&context, &record, 4), order, "{policy}");
    }
}

#[test]
fn a_changed_policy_orders_the_tasks_that_are_ready() {
    let context = context(Policy::Fifo);
    let record = run(&context, &tasks());
    for policy in [Policy::Muf, Policy::Rms, Policy::Fifo, Policy::Edf] {
        context.set_policy(policy);
        assert_eq!((context.policy(), context.counts().ready), (policy, 4));
    }
    assert_eq!(finish(&context, &record, 4), [1, 2, 0, 3]);
}

#[test]
fn a_changed_qos_gives_a_ready_task_its_new_place() {
    let context = context(Policy::Priority);
    let record = Record::default();
    let [first, _second] = [1, 2].map(|number| {
        let record = record.clone();
        let qos = TaskQos::default().priority(number);
        let number = usize::try_from(number).unwrap();
        context
            .spawn(qos, async move { record.add(number) })
            .unwrap()
    });
    first.set_qos(TaskQos::default().priority(3));
    assert_eq!(finish(&context, &record, 2), [1, 2]);
}

#[test]
fn a_task_that_yields_lets_more_urgent_ones_run() {
    let context = context(Policy::Priority);
    let record = Record::default();
    let (urgent, handle) = (record.clone(), context.handle());
    let low = record.clone();
    let work = async move {
        low.add(0);
        let qos = TaskQos::default().priority(1);
        drop(handle.spawn(qos, async move { urgent.add(1) }).unwrap());
        low.add(2);
        yield_now().await;
        low.add(3);
    };
    drop(context.spawn(TaskQos::default(), work).unwrap());
    assert_eq!(finish(&context, &record, 4), [0, 2, 1, 3]);
}

/// A job that yields has to meet the deadline that it had, so it goes before one released later.
#[test]
fn a_task_that_yields_keeps_its_deadline() {
    let context = context(Policy::Edf);
    let record = Record::default();
    let (later, handle, first) = (record.clone(), context.handle(), record.clone());
    let work = async move {
        drop(
            handle
                .spawn(seconds(1000), async move { later.add(1) })
                .unwrap(),
        );
        yield_now().await;
        first.add(0);
    };
    drop(context.spawn(seconds(1000), work).unwrap());
    assert_eq!(finish(&context, &record, 2), [0, 1]);
}
