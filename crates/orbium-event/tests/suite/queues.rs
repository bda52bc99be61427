// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers with more than a pattern: a choice among events by their content, queues by rank, pauses, sets pushed together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Batches, Channel, ChannelConfig, ConsumerOptions, DiscardPolicy, Dispatching, Pattern,
    QueueLimits, QueueOrder, Rank, SharedEvent, Subscription, new_event,
};
use orbium_executor::{SchedulerContext, TaskQos};
use orbium_testkit::{PATIENCE, eventually};

use crate::scheduled::SCHEDULE;

/// Runs a test with channels of all dispatchings.
pub(crate) fn each_dispatching(test: impl Fn(&Channel)) {
    for dispatching in [
        Dispatching::PerConsumer,
        Dispatching::Reactive,
        Dispatching::Scheduled(&SCHEDULE),
    ] {
        test(&Channel::new(ChannelConfig {
            dispatching,
            soft: true,
            ..ChannelConfig::default()
        }));
    }
    let context = SchedulerContext::builder("queues").threads(2);
    let context = context.build().unwrap();
    let config = ChannelConfig::default();
    test(&Channel::on_context(config, &context, |_| {
        TaskQos::default()
    }));
}

/// An event with its rank as payload: a priority, and whether it has expired.
pub(crate) fn ranked(source: i32, priority: i8, has_expired: bool) -> Event {
    let mut event = new_event(16, source);
    event.data.payload = vec![priority.cast_unsigned(), has_expired.into()];
    event
}

/// Events with a payload.
fn select(event: &SharedEvent, now: Instant) -> Option<Rank> {
    let [priority, has_expired] = *event.data.payload.as_slice() else {
        return None;
    };
    Some(Rank {
        priority: priority.cast_signed().into(),
        expires: (has_expired != 0).then_some(now),
    })
}

pub(crate) fn options(queue: QueueLimits) -> ConsumerOptions {
    ConsumerOptions {
        selection: Some(Arc::new(select)),
        queue: Some(queue),
        ..ConsumerOptions::default()
    }
}

/// So many events are pushed together.
fn together(events: usize) -> Batches {
    Batches {
        events,
        ..Batches::default()
    }
}

/// A consumer that reports the sources of each set.
pub(crate) fn consumer(
    channel: &Channel,
    options: ConsumerOptions,
) -> (Subscription, Receiver<Vec<i32>>) {
    let (send, received) = mpsc::channel();
    let send = Mutex::new(send);
    let sink = move |events: &[SharedEvent]| {
        let sources = events.iter().map(|it| it.header.source).collect();
        let _ = send.lock().unwrap().send(sources);
    };
    let subscription = channel.subscribe_with(&Pattern::Null, options, Arc::new(sink), || {});
    (subscription.unwrap(), received)
}

pub(crate) fn next(received: &Receiver<Vec<i32>>) -> Vec<i32> {
    received.recv_timeout(PATIENCE).unwrap()
}

/// Conformance: events - queues by priority and deadline, lifetimes, a choice by content - with every dispatching
#[test]
fn events_that_wait_in_a_pause_are_delivered_by_their_rank() {
    each_dispatching(|channel| {
        let queue = QueueLimits {
            order: QueueOrder::Priority,
            ..QueueLimits::default()
        };
        let (subscription, received) = consumer(channel, options(queue));
        let supplier = channel.connect_supplier(&[]).unwrap();
        subscription.pause();
        let unwanted = new_event(16, 9);
        let set = [ranked(1, 0, false), unwanted, ranked(2, 5, false)];
        supplier.push(&set);
        supplier.push(&[ranked(3, 9, true), ranked(4, 5, false)]);
        assert_eq!(subscription.statistics().queued, 4);
        assert!(received.try_recv().is_err());
        subscription.unpause();
        assert_eq!([(); 3].map(|()| next(&received)), [[2], [4], [1]]);
        // It goes on as before.
        supplier.push(&[ranked(5, 0, false)]);
        assert_eq!(next(&received), [5]);
        let counts = subscription.statistics();
        assert_eq!((counts.expired, counts.discarded), (1, 0));
        eventually("the count", || subscription.statistics().delivered == 4);
    });
}

/// Conformance: events - queues by priority and deadline, lifetimes, a choice by content - with every dispatching
#[test]
fn a_consumer_s_queue_has_limits_of_its_own() {
    each_dispatching(|channel| {
        for (discard, expected) in [
            (DiscardPolicy::Oldest, [3, 4]),
            (DiscardPolicy::Newest, [1, 2]),
            (DiscardPolicy::Latest, [1, 4]),
            (DiscardPolicy::LowestPriority, [2, 4]),
        ] {
            let queue = QueueLimits {
                sets: 2,
                discard,
                ..QueueLimits::default()
            };
            let (subscription, received) = consumer(channel, options(queue));
            let supplier = channel.connect_supplier(&[]).unwrap();
            subscription.pause();
            for (source, priority) in [(1, 1), (2, 5), (3, -1), (4, 5)] {
                supplier.push(&[ranked(source, priority, false)]);
            }
            assert_eq!(subscription.statistics().discarded, 2);
            subscription.unpause();
            let delivered = [(); 2].map(|()| next(&received)[0]);
            assert_eq!(delivered, expected, "{discard:?}");
            subscription.disconnect();
        }
    });
}

/// Conformance: events - queues by priority and deadline, lifetimes, a choice by content - several sets pushed together
#[test]
fn events_that_wait_are_pushed_together() {
    each_dispatching(|channel| {
        let batch = ConsumerOptions {
            batches: together(3),
            ..ConsumerOptions::default()
        };
        let (subscription, received) = consumer(channel, batch);
        let supplier = channel.connect_supplier(&[]).unwrap();
        subscription.pause();
        (1..6).for_each(|source| supplier.push(&[new_event(16, source)]));
        subscription.unpause();
        assert_eq!(next(&received), [1, 2, 3]);
        assert_eq!(next(&received), [4, 5]);
        subscription.pause();
        (6..8).for_each(|source| supplier.push(&[new_event(16, source)]));
        let alone = subscription.set_queue(QueueLimits::default(), Batches::default());
        alone.unwrap();
        subscription.unpause();
        assert_eq!([(); 2].map(|()| next(&received)), [[6], [7]]);
    });
}

/// Conformance: events - queues by priority and deadline, lifetimes, a choice by content - the end is seen once
#[test]
fn the_end_of_a_connection_is_seen_once() {
    each_dispatching(|channel| {
        let ends = Arc::new(AtomicUsize::new(0));
        let connect = |queue| {
            let ends = Arc::clone(&ends);
            let options = ConsumerOptions {
                queue,
                ..ConsumerOptions::default()
            };
            let sink = Arc::new(|_: &[SharedEvent]| {});
            let on_end = move || {
                ends.fetch_add(1, Ordering::SeqCst);
            };
            let subscribed = channel.subscribe_with(&Pattern::Null, options, sink, on_end);
            subscribed.unwrap()
        };
        let first = connect(None);
        assert!(first.disconnect() && !first.disconnect());
        drop(first);
        assert_eq!(ends.load(Ordering::SeqCst), 1);
        let full = connect(Some(QueueLimits {
            sets: 1,
            discard: DiscardPolicy::Disconnect,
            ..QueueLimits::default()
        }));
        full.pause();
        let supplier = channel.connect_supplier(&[]).unwrap();
        supplier.push(&[new_event(16, 1)]);
        supplier.push(&[new_event(16, 2)]);
        assert_eq!(ends.load(Ordering::SeqCst), 2);
        assert_eq!(channel.statistics().dropped_consumers, 1);
        let _last = connect(None);
        channel.destroy();
        assert_eq!(ends.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn a_choice_that_panics_harms_neither_supplier_nor_other_consumers() {
    each_dispatching(|channel| {
        let select = |event: &SharedEvent, _: Instant| {
            assert_ne!(event.header.source, 2, "a defect of the program");
            Some(Rank::default())
        };
        let panicking = ConsumerOptions {
            selection: Some(Arc::new(select)),
            ..ConsumerOptions::default()
        };
        let (_choosing, chosen) = consumer(channel, panicking);
        let (_other, received) = consumer(channel, ConsumerOptions::default());
        let supplier = channel.connect_supplier(&[]).unwrap();
        (1..4).for_each(|source| supplier.push(&[new_event(16, source)]));
        assert_eq!([(); 2].map(|()| next(&chosen)), [[1], [3]]);
        assert_eq!([(); 3].map(|()| next(&received)), [[1], [2], [3]]);
    });
}

/// A supplier and pauses at once: nothing is lost, and nothing overtakes.
#[test]
fn events_keep_their_order_while_a_consumer_pauses_and_goes_on() {
    const EVENTS: i32 = 2_000;
    each_dispatching(|channel| {
        let queue = QueueLimits {
            sets: EVENTS as usize,
            ..QueueLimits::default()
        };
        let options = ConsumerOptions {
            queue: Some(queue),
            batches: together(4),
            ..ConsumerOptions::default()
        };
        let (subscription, received) = consumer(channel, options);
        let supplier = channel.connect_supplier(&[]).unwrap();
        std::thread::scope(|scope| {
            let pushing = scope.spawn(|| {
                (1..=EVENTS).for_each(|source| supplier.push(&[new_event(16, source)]));
            });
            while !pushing.is_finished() {
                subscription.pause();
                subscription.unpause();
            }
        });
        let mut sources = Vec::new();
        while sources.len() < EVENTS as usize {
            sources.extend(next(&received));
        }
        assert!(sources.is_sorted());
    });
}

/// Conjunctions have a bound of their own, that of the queue.
#[test]
fn events_that_conjunctions_collect_beyond_the_bytes_of_the_queue_are_counted() {
    let channel = Channel::new(ChannelConfig {
        queue: QueueLimits {
            bytes: 1000,
            ..QueueLimits::default()
        },
        ..ChannelConfig::default()
    });
    let pair = Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)]);
    let _subscription = channel.subscribe(&pair, |_: &[SharedEvent]| {}).unwrap();
    let supplier = channel.connect_supplier(&[]).unwrap();
    let mut event = new_event(16, 1);
    event.data.payload = vec![0; 2000];
    supplier.push(&[event]);
    assert_eq!(channel.statistics().consumers[0].discarded, 1);
}
