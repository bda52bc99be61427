// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatching by the threads of a scheduler context.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium_event::{
    Channel, ChannelConfig, ConnectError, Dispatching, Pattern, QueueLimits, SharedEvent,
    Subscription, new_event, qos_by_schedule,
};
use orbium_executor::{Policy, SchedulerContext, SpawnError, TaskQos};
use orbium_sched::{Entry, Table};
use orbium_testkit::eventually;

/// Seconds, so that the order does not depend on when each event comes: a priority, a deadline and an execution time.
fn qos(rt_info: i32) -> TaskQos {
    let (priority, deadline, worst_case) = match rt_info {
        1 => (1, 20, 0),
        2 => (3, 30, 25),
        _ => (2, 40, 0),
    };
    TaskQos::default()
        .priority(priority)
        .deadline(Duration::from_secs(deadline))
        .worst_case(Duration::from_secs(worst_case))
}

fn context(threads: usize) -> SchedulerContext {
    let builder = SchedulerContext::builder("events").threads(threads);
    builder.build().unwrap()
}

fn ignore(_: &[SharedEvent]) {}

/// Waits until all tasks of a context wait for events, and takes its thread away.
fn halt(context: &SchedulerContext) {
    eventually("the consumers wait", || {
        let counts = context.counts();
        counts.ready == 0 && counts.idle_threads == counts.threads
    });
    context.remove_thread().unwrap();
    eventually("the thread has gone", || context.counts().threads == 0);
}

/// Conformance: RT GOPI 3.2.1 - event channels on scheduler contexts: pushes in the order of the policy
#[test]
fn consumers_are_served_in_the_order_of_the_policy() {
    for (policy, expected) in [
        (Policy::Fifo, [3, 1, 2]),
        (Policy::Priority, [2, 3, 1]),
        (Policy::Edf, [1, 2, 3]),
        (Policy::Llf, [2, 1, 3]),
    ] {
        let context = context(1);
        context.set_policy(policy);
        let channel = Channel::on_context(ChannelConfig::default(), &context, qos);
        let order = Arc::new(Mutex::new(Vec::new()));
        let subscribe = |consumer: i32| {
            let order = Arc::clone(&order);
            let sink = move |_: &[SharedEvent]| order.lock().unwrap().push(consumer);
            let pattern = Pattern::of(consumer, 0);
            channel
                .subscribe_scheduled(&pattern, consumer, sink)
                .unwrap()
        };
        let subscriptions = [1, 2, 3].map(subscribe);
        halt(&context);
        let supplier = channel.connect_supplier(&[(1, 7), (2, 7), (3, 7)]).unwrap();
        for r#type in [3, 1, 2] {
            supplier.push(&[new_event(r#type, 7)]);
        }
        context.add_thread().unwrap();
        eventually("all events", || order.lock().unwrap().len() == 3);
        assert_eq!(*order.lock().unwrap(), expected, "{policy}");
        drop(subscriptions);
        eventually("the tasks have ended", || context.counts().tasks == 0);
    }
}

/// The event after the first is a job of its own: once it began with the deadline of the first.
#[test]
fn each_set_of_events_has_a_deadline_of_its_own() {
    let context = context(1);
    context.set_policy(Policy::Edf);
    let channel = Channel::on_context(ChannelConfig::default(), &context, |_| {
        TaskQos::default().deadline(Duration::from_secs(10))
    });
    let order = Arc::new(Mutex::new(Vec::new()));
    let subscribe = |consumer: i32| {
        let order = Arc::clone(&order);
        let sink = move |_: &[SharedEvent]| order.lock().unwrap().push(consumer);
        channel.subscribe(&Pattern::of(consumer, 0), sink).unwrap()
    };
    let subscriptions = [1, 2].map(subscribe);
    halt(&context);
    let supplier = channel.connect_supplier(&[(1, 7), (2, 7)]).unwrap();
    for r#type in [1, 1, 2] {
        supplier.push(&[new_event(r#type, 7)]);
    }
    context.add_thread().unwrap();
    eventually("all events", || order.lock().unwrap().len() == 3);
    assert_eq!(*order.lock().unwrap(), [1, 2, 1]);
    drop(subscriptions);
}

/// Conformance: RT GOPI 3.2.1 - event channels on scheduler contexts: no event is lost while the policy changes
#[test]
fn no_event_is_lost_or_overtaken_while_the_policy_changes() {
    const EVENTS: u64 = 2000;
    let context = context(2);
    let config = ChannelConfig {
        queue: QueueLimits {
            sets: usize::try_from(EVENTS).unwrap(),
            ..QueueLimits::default()
        },
        ..ChannelConfig::default()
    };
    let channel = Channel::on_context(config, &context, qos);
    let subscribe = |rt_info: i32| {
        let last = AtomicU64::new(0);
        let sink = move |events: &[SharedEvent]| {
            for event in events {
                let number = event.header.creation_time;
                assert!(last.swap(number, Ordering::Relaxed) < number);
            }
        };
        channel
            .subscribe_scheduled(&Pattern::of(16, 0), rt_info, sink)
            .unwrap()
    };
    let subscriptions: Vec<Subscription> = (0..8).map(subscribe).collect();
    let supplier = channel.connect_supplier(&[(16, 7)]).unwrap();
    for (number, policy) in (1..=EVENTS).zip(Policy::ALL.into_iter().cycle()) {
        let mut event = new_event(16, 7);
        event.header.creation_time = number;
        supplier.push(&[event]);
        if number % 5 == 0 {
            context.set_policy(policy);
        }
    }
    eventually("all events", || {
        let all = subscriptions.iter().map(Subscription::statistics);
        let delivered = all.map(|it| it.delivered + it.lost + it.discarded);
        delivered.sum::<u64>() == 8 * EVENTS
    });
    for subscription in &subscriptions {
        assert_eq!(subscription.statistics().delivered, EVENTS);
    }
}

/// Conformance: RT GOPI 3.2.1 - event channels on scheduler contexts: consumers that it cannot serve are refused or disconnected
#[test]
fn a_context_that_takes_no_task_refuses_consumers() {
    let pattern = Pattern::of(16, 0);
    let refused = |channel: &Channel| channel.subscribe(&pattern, ignore).unwrap_err();
    let without = Channel::new(ChannelConfig {
        dispatching: Dispatching::Contexts,
        ..ChannelConfig::default()
    });
    let destroyed = ConnectError::Context(SpawnError::Destroyed);
    assert_eq!(refused(&without), destroyed);
    assert!(without.statistics().consumers.is_empty());

    let full = SchedulerContext::builder("full").threads(1).max_tasks(1);
    let full = full.build().unwrap();
    let channel = Channel::on_context(ChannelConfig::default(), &full, qos);
    let first = channel.subscribe(&pattern, ignore).unwrap();
    assert_eq!(refused(&channel), ConnectError::Context(SpawnError::Full));
    assert_eq!(channel.statistics().consumers.len(), 1);

    drop(full);
    eventually("the consumer is disconnected", || {
        channel.statistics().dropped_consumers == 1
    });
    assert!(!first.disconnect());
    assert_eq!(refused(&channel), destroyed);
}

#[test]
fn a_consumer_that_panics_is_disconnected_and_others_go_on() {
    let context = context(1);
    let channel = Channel::on_context(ChannelConfig::default(), &context, qos);
    let panics = |_: &[SharedEvent]| panic!("as a test");
    let failing = channel.subscribe(&Pattern::of(16, 0), panics).unwrap();
    let other = channel.subscribe(&Pattern::of(16, 0), ignore).unwrap();
    let supplier = channel.connect_supplier(&[(16, 7)]).unwrap();
    supplier.push(&[new_event(16, 7)]);
    eventually("one event, and one consumer", || {
        other.statistics().delivered == 1 && context.counts().tasks == 1
    });
    assert!(!failing.disconnect());
    drop(channel);
    eventually("the channel leaves no task", || context.counts().tasks == 0);
}

#[test]
fn the_schedule_has_the_qos_of_a_consumer() {
    static SCHEDULE: Table = Table {
        entries: &[Entry::new("Display::show", (0, 0, 20), 500_000, 10_000)],
        ..Table::EMPTY
    };
    let qos = qos_by_schedule(&SCHEDULE);
    let expected = TaskQos::default()
        .priority(20)
        .period(Duration::from_millis(50))
        .worst_case(Duration::from_millis(1));
    assert_eq!(qos(1), expected);
    for unknown in [0, 2, -1, i32::MIN, i32::MAX] {
        assert_eq!(qos(unknown), TaskQos::default().priority(i32::MIN));
    }
}
