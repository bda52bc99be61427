// SPDX-License-Identifier: MIT OR Apache-2.0
//! Suppliers that wait for space in the queue of a consumer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use orbium_event::{
    Channel, ChannelConfig, ConsumerOptions, DiscardPolicy, Dispatching, Pattern, QueueLimits,
    Retention, SharedEvent, Subscription, new_event,
};
use orbium_testkit::{PATIENCE, spawn_blocked, within};

use crate::scheduled::SCHEDULE;

/// Longer than a test may take.
const LONG: Duration = Duration::from_secs(3600);

fn channel(dispatching: Dispatching) -> Channel {
    channel_with(dispatching, 2, LONG)
}

/// Each consumer has a queue for so many sets, and suppliers wait for so long.
fn channel_with(dispatching: Dispatching, sets: usize, time: Duration) -> Channel {
    Channel::new(ChannelConfig {
        dispatching,
        soft: true,
        queue: QueueLimits {
            sets,
            discard: DiscardPolicy::Block(time),
            ..QueueLimits::default()
        },
        retention: Retention {
            events: 8,
            ..Retention::default()
        },
        ..ChannelConfig::default()
    })
}

/// A consumer that takes an event for each permission, and then reports its source.
fn consumer(channel: &Channel) -> (Subscription, mpsc::Sender<()>, mpsc::Receiver<i32>) {
    let (permit, permitted) = mpsc::channel::<()>();
    let (send, received) = mpsc::channel();
    let permitted = Mutex::new(permitted);
    let sink = move |events: &[SharedEvent]| {
        let _ = permitted.lock().unwrap().recv();
        let _ = send.send(events[0].header.source);
    };
    let subscription = channel.subscribe(&Pattern::Null, sink).unwrap();
    (subscription, permit, received)
}

/// Conformance: events - suppliers wait for space for a bounded time - a channel
#[test]
fn a_supplier_waits_until_the_consumer_has_taken_an_event() {
    for dispatching in [Dispatching::PerConsumer, Dispatching::Scheduled(&SCHEDULE)] {
        let channel = channel(dispatching);
        let (subscription, permit, received) = consumer(&channel);
        let supplier = channel.connect_supplier(&[]).unwrap();
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let pushing = spawn_blocked(move || {
            for source in 1..=20 {
                supplier.push(&[new_event(16, source)]);
            }
            done.store(true, Ordering::Release);
        });
        // One is with the consumer, two are in its queue.
        assert!(!is_done.load(Ordering::Acquire));
        for source in 1..=20 {
            permit.send(()).unwrap();
            assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
        }
        within("the supplier", move || pushing.join().unwrap());
        assert_eq!(subscription.statistics().discarded, 0);
        drop(permit);
    }
}

/// Several suppliers wait for the same space; each event finds some.
#[test]
fn events_of_several_suppliers_are_in_the_order_of_each() {
    let channel = channel(Dispatching::PerConsumer);
    let (subscription, permit, received) = consumer(&channel);
    let suppliers = [1, 2, 3].map(|r#type| {
        let supplier = channel.connect_supplier(&[]).unwrap();
        spawn_blocked(move || {
            for number in 0..50 {
                supplier.push(&[new_event(16, number * 10 + r#type)]);
            }
        })
    });
    let mut last = [-1; 4];
    for _ in 0..150 {
        permit.send(()).unwrap();
        let source = received.recv_timeout(PATIENCE).unwrap();
        let (number, supplier) = (source / 10, source % 10);
        let last = &mut last[usize::try_from(supplier).unwrap()];
        assert_eq!(number, *last + 1);
        *last = number;
    }
    for supplier in suppliers {
        within("a supplier", move || supplier.join().unwrap());
    }
    assert_eq!(subscription.statistics().discarded, 0);
    drop(permit);
}

/// The time at which they would go on does not exist, and they did not wait at all.
#[test]
fn suppliers_may_wait_without_a_bound() {
    let channel = channel_with(Dispatching::PerConsumer, 1, Duration::MAX);
    let (subscription, permit, received) = consumer(&channel);
    let supplier = channel.connect_supplier(&[]).unwrap();
    let pushing = spawn_blocked(move || {
        for source in 1..=3 {
            supplier.push(&[new_event(16, source)]);
        }
    });
    for source in 1..=3 {
        permit.send(()).unwrap();
        assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
    }
    within("the supplier", move || pushing.join().unwrap());
    assert_eq!(subscription.statistics().discarded, 0);
    drop(permit);
}

/// The first thread pushes for all. It had pushed the second event and left, and the third waited for a further one.
#[test]
fn an_event_that_has_waited_for_space_is_pushed_by_the_thread_that_pushes() {
    let channel = channel_with(Dispatching::Reactive, 1, LONG);
    let (subscription, permit, received) = consumer(&channel);
    let push = |source| {
        let supplier = channel.connect_supplier(&[]).unwrap();
        move || supplier.push(&[new_event(16, source)])
    };
    let pushing = spawn_blocked(push(1));
    push(2)();
    let waiting = spawn_blocked(push(3));
    permit.send(()).unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(1));
    within("the supplier that waits", move || waiting.join().unwrap());
    for source in [2, 3] {
        permit.send(()).unwrap();
        assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
    }
    within("the supplier that pushes", move || pushing.join().unwrap());
    assert_eq!(subscription.statistics().discarded, 0);
    drop(permit);
}

#[test]
fn a_consumer_that_ends_or_is_suspended_lets_suppliers_go() {
    for ends in [true, false] {
        let channel = channel(Dispatching::PerConsumer);
        let (subscription, permit, _received) = consumer(&channel);
        let supplier = channel.connect_supplier(&[]).unwrap();
        let pushing = spawn_blocked(move || {
            for source in 1..=5 {
                supplier.push(&[new_event(16, source)]);
            }
        });
        if ends {
            assert!(subscription.disconnect());
        } else {
            subscription.suspend();
        }
        within("the supplier", move || pushing.join().unwrap());
        assert_eq!(subscription.statistics().discarded, 0);
        drop(permit);
    }
}

/// A deadlock for an hour otherwise: the consumer is paused as it gets them.
#[test]
fn the_last_events_do_not_wait_for_space() {
    let channel = channel(Dispatching::PerConsumer);
    let supplier = channel.connect_supplier(&[]).unwrap();
    for source in 1..=4 {
        supplier.push(&[new_event(16, source)]);
    }
    within("the connection", move || {
        let options = ConsumerOptions {
            replays: true,
            ..ConsumerOptions::default()
        };
        let (send, received) = mpsc::channel();
        let sink = move |events: &[SharedEvent]| {
            let _ = send.send(events[0].header.source);
        };
        let sink = Arc::new(sink);
        let subscription = channel.subscribe_with(&Pattern::Null, options, sink, || {});
        let subscription = subscription.unwrap();
        for source in [1, 2] {
            assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
        }
        assert_eq!(subscription.statistics().discarded, 2);
    });
}
