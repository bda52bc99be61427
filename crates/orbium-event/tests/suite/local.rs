// SPDX-License-Identifier: MIT OR Apache-2.0
//! A channel within a process: consumers and suppliers without ORB.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium_event::{
    Channel, ChannelConfig, ConnectError, ConsumerOptions, DEADLINE_TIMEOUT, DiscardPolicy,
    Dispatching, Filter, FilterErrorKind, INTERVAL_TIMEOUT, Pattern, QueueLimits, SharedEvent,
    Subscription, TIMEOUT, new_event,
};
use orbium_executor::{SchedulerContext, TaskQos};
use orbium_testkit::{PATIENCE, eventually};

use crate::scheduled::SCHEDULE;

const ALL: [Dispatching; 3] = [
    Dispatching::PerConsumer,
    Dispatching::Reactive,
    Dispatching::Scheduled(&SCHEDULE),
];

fn channel(dispatching: Dispatching) -> Channel {
    Channel::new(ChannelConfig {
        dispatching,
        soft: true,
        ..ChannelConfig::default()
    })
}

/// A consumer that reports the types of each set.
fn consumer(channel: &Channel, pattern: &Pattern) -> (Subscription, Receiver<Vec<i32>>) {
    let (send, received) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        let types = events.iter().map(|it| it.header.r#type).collect();
        let _ = send.send(types);
    };
    (channel.subscribe(pattern, sink).unwrap(), received)
}

fn next(received: &Receiver<Vec<i32>>) -> Vec<i32> {
    received.recv_timeout(PATIENCE).unwrap()
}

#[test]
fn events_reach_the_consumers_that_subscribe_to_them_in_order() {
    for dispatching in ALL {
        let channel = channel(dispatching);
        let (_one, received) = consumer(&channel, &Pattern::of(0, 1));
        let (_other, never) = consumer(&channel, &Pattern::of(0, 2));
        let supplier = channel.connect_supplier(&[]).unwrap();
        for r#type in 16..116 {
            supplier.push(&[new_event(r#type, 1)]);
        }
        for r#type in 16..116 {
            assert_eq!(next(&received), [r#type]);
        }
        assert!(never.try_recv().is_err());
        assert_eq!(channel.statistics().received, 100);
    }
}

/// Conformance: events - one-shot, interval and deadline timeouts - a channel
#[test]
fn timers_deliver_their_events() {
    let ms = Duration::from_millis(1);
    for dispatching in ALL {
        let channel = channel(dispatching);
        let (_a, once) = consumer(&channel, &Pattern::Timeout(5 * ms));
        let (_b, interval) = consumer(&channel, &Pattern::Interval(5 * ms));
        let (_c, deadline) = consumer(&channel, &Pattern::Deadline(5 * ms));
        assert_eq!(next(&once), [TIMEOUT]);
        for _ in 0..3 {
            assert_eq!(next(&interval), [INTERVAL_TIMEOUT]);
            assert_eq!(next(&deadline), [DEADLINE_TIMEOUT]);
        }
        assert!(once.try_recv().is_err());
    }
}

/// Conformance: events - suspension drops events and clears conjunctions - a channel
#[test]
fn a_suspended_consumer_gets_nothing_and_begins_anew() {
    for dispatching in ALL {
        let channel = channel(dispatching);
        let pair = Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)]);
        let (subscription, received) = consumer(&channel, &pair);
        let supplier = channel.connect_supplier(&[]).unwrap();
        subscription.suspend();
        supplier.push(&[new_event(16, 1)]);
        supplier.push(&[new_event(17, 1)]);
        assert_eq!(subscription.statistics().suspended, 2);
        subscription.resume();
        supplier.push(&[new_event(17, 2)]);
        assert!(received.try_recv().is_err());
        supplier.push(&[new_event(16, 2)]);
        assert_eq!(next(&received), [17, 16]);
    }
}

#[test]
fn a_consumer_may_disconnect_itself_while_it_is_pushed_to() {
    for dispatching in ALL {
        let channel = channel(dispatching);
        let own: Arc<Mutex<Option<Subscription>>> = Arc::default();
        let (subscription, pushed) = (Arc::clone(&own), Arc::new(Mutex::new(0)));
        let count = Arc::clone(&pushed);
        let sink = move |_: &[SharedEvent]| {
            *count.lock().unwrap() += 1;
            if let Some(subscription) = &*subscription.lock().unwrap() {
                subscription.disconnect();
            }
        };
        let made = channel.subscribe(&Pattern::Null, sink).unwrap();
        *own.lock().unwrap() = Some(made);
        let supplier = channel.connect_supplier(&[]).unwrap();
        supplier.push(&[new_event(16, 1)]);
        eventually("the disconnection", || {
            channel.statistics().consumers.is_empty()
        });
        supplier.push(&[new_event(16, 1)]);
        assert_eq!(*pushed.lock().unwrap(), 1);
    }
}

#[test]
fn a_consumer_that_panics_is_disconnected() {
    for dispatching in ALL {
        let channel = channel(dispatching);
        let sink = |_: &[SharedEvent]| panic!("on purpose");
        let _bad = channel.subscribe(&Pattern::Null, sink).unwrap();
        let (_good, received) = consumer(&channel, &Pattern::Null);
        let supplier = channel.connect_supplier(&[]).unwrap();
        supplier.push(&[new_event(16, 1)]);
        assert_eq!(next(&received), [16]);
        eventually("the disconnection", || {
            channel.statistics().dropped_consumers == 1
        });
        supplier.push(&[new_event(17, 1)]);
        assert_eq!(next(&received), [17]);
    }
}

/// A channel with queues of two sets, and a consumer that has taken one event and blocks.
pub(crate) fn stalled(
    discard: DiscardPolicy,
) -> (Channel, Subscription, mpsc::Sender<()>, Receiver<i32>) {
    let channel = Channel::new(ChannelConfig {
        queue: QueueLimits {
            sets: 2,
            discard,
            ..QueueLimits::default()
        },
        ..ChannelConfig::default()
    });
    let (go_on, blocked) = mpsc::channel::<()>();
    let (send, received) = mpsc::channel();
    let blocked = Mutex::new(blocked);
    let sink = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].header.source);
        let _ = blocked.lock().unwrap().recv();
    };
    let subscription = channel.subscribe(&Pattern::Null, sink).unwrap();
    let supplier = channel.connect_supplier(&[]).unwrap();
    supplier.push(&[new_event(16, 1)]);
    assert_eq!(received.recv_timeout(PATIENCE), Ok(1));
    for source in 2..=5 {
        supplier.push(&[new_event(16, source)]);
    }
    (channel, subscription, go_on, received)
}

/// Conformance: events - bounded queues with four policies - a channel
#[test]
fn a_consumer_that_stalls_loses_events_by_the_policy() {
    for (policy, kept, discarded) in [
        (DiscardPolicy::Oldest, vec![4, 5], 2),
        (DiscardPolicy::Newest, vec![2, 3], 2),
        (
            DiscardPolicy::Block(Duration::from_millis(1)),
            vec![2, 3],
            2,
        ),
        (DiscardPolicy::Coalesce, vec![4, 5], 2),
    ] {
        let (_channel, subscription, go_on, received) = stalled(policy);
        assert_eq!(subscription.statistics().discarded, discarded, "{policy:?}");
        assert_eq!(subscription.statistics().queued, 2);
        drop(go_on);
        let delivered: Vec<_> = (0..2)
            .map(|_| received.recv_timeout(PATIENCE).unwrap())
            .collect();
        assert_eq!(delivered, kept, "{policy:?}");
    }
    let (channel, _subscription, go_on, _) = stalled(DiscardPolicy::Disconnect);
    assert_eq!(channel.statistics().dropped_consumers, 1);
    drop(go_on);
}

#[test]
fn a_consumer_that_stalls_delays_no_other_one() {
    let channel = channel(Dispatching::PerConsumer);
    let (go_on, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let stalled = move |_: &[SharedEvent]| {
        let _ = blocked.lock().unwrap().recv();
    };
    let _stalled = channel.subscribe(&Pattern::Null, stalled).unwrap();
    let (_good, received) = consumer(&channel, &Pattern::Null);
    let supplier = channel.connect_supplier(&[]).unwrap();
    for r#type in 16..26 {
        supplier.push(&[new_event(r#type, 1)]);
        assert_eq!(next(&received), [r#type]);
    }
    drop(go_on);
}

/// Conformance: events - forged sources are refused and counted, if asked for - a channel
#[test]
fn events_that_were_not_published_are_refused_if_asked_for() {
    let channel = Channel::new(ChannelConfig {
        strict_publications: true,
        ..ChannelConfig::default()
    });
    let (_consumer, received) = consumer(&channel, &Pattern::Null);
    let supplier = channel.connect_supplier(&[(16, 1), (0, 2)]).unwrap();
    supplier.push(&[new_event(16, 7)]);
    supplier.push(&[new_event(16, 1), new_event(17, 1), new_event(17, 2)]);
    assert_eq!(next(&received), [16, 17]);
    assert_eq!(channel.statistics().refused, 2);
}

#[test]
fn limits_of_a_channel_are_errors() {
    let channel = Channel::new(ChannelConfig {
        consumers: 1,
        suppliers: 1,
        publications: 2,
        observers: 0,
        ..ChannelConfig::default()
    });
    let (consumer, _) = consumer(&channel, &Pattern::Null);
    let sink = |_: &[SharedEvent]| {};
    let refused = channel.subscribe(&Pattern::Null, sink).unwrap_err();
    assert_eq!(refused, ConnectError::TooMany);
    drop(consumer);
    assert!(channel.subscribe(&Pattern::Null, sink).is_ok());
    let published = [(16, 1); 3];
    let refused = channel.connect_supplier(&published).unwrap_err();
    assert_eq!(refused, ConnectError::TooMany);
    let _supplier = channel.connect_supplier(&published[..2]).unwrap();
    let refused = channel.connect_supplier(&[]).unwrap_err();
    assert_eq!(refused, ConnectError::TooMany);
    let observer = |_: &orbium_event::Sums| {};
    assert_eq!(
        channel.append_observer(observer),
        Err(ConnectError::TooMany)
    );
    let many = Pattern::Disjunction(vec![Pattern::Null; 10_000]);
    match channel.subscribe(&many, sink).unwrap_err() {
        ConnectError::Filter(error) => assert_eq!(error.kind, FilterErrorKind::TooLong),
        error => panic!("{error}"),
    }
    drop(Filter::new(&many));
}

/// It is never due, and the thread that connects panicked.
#[test]
fn a_period_of_pings_may_be_the_longest_duration() {
    let channel = Channel::new(ChannelConfig {
        ping_period: Some(Duration::MAX),
        ..ChannelConfig::default()
    });
    let (_consumer, received) = consumer(&channel, &Pattern::Null);
    let supplier = channel.connect_supplier(&[]).unwrap();
    supplier.push(&[new_event(16, 1)]);
    assert_eq!(next(&received), [16]);
}

#[test]
fn a_destroyed_channel_refuses_all() {
    let channel = channel(Dispatching::PerConsumer);
    let (consumer, _received) = consumer(&channel, &Pattern::Null);
    let supplier = channel.connect_supplier(&[]).unwrap();
    channel.destroy();
    supplier.push(&[new_event(16, 1)]);
    assert!(!consumer.disconnect());
    assert!(channel.statistics().consumers.is_empty());
    assert_eq!(channel.statistics().received, 0);
    let sink = |_: &[SharedEvent]| {};
    let refused = channel.subscribe(&Pattern::Null, sink).unwrap_err();
    assert_eq!(refused, ConnectError::Destroyed);
}

#[test]
fn a_channel_that_is_dropped_ends_the_connections_of_its_consumers() {
    let channel = channel(Dispatching::PerConsumer);
    let (send, ended) = mpsc::channel();
    let on_end = move || {
        let _ = send.send(());
    };
    let (options, sink) = (ConsumerOptions::default(), |_: &[SharedEvent]| {});
    let subscription = channel.subscribe_with(&Pattern::Null, options, Arc::new(sink), on_end);
    let subscription = subscription.unwrap();
    drop(channel);
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(()));
    assert!(!subscription.disconnect());
}

/// Conformance: events - suppliers that push at once: every event arrives, in the order of each supplier
#[test]
fn events_of_suppliers_at_once_arrive_in_the_order_of_each() {
    const EVENTS: i32 = 3_000;
    let config = |dispatching| ChannelConfig {
        dispatching,
        soft: true,
        queue: QueueLimits {
            sets: 100_000,
            bytes: 1 << 30,
            ..QueueLimits::default()
        },
        ..ChannelConfig::default()
    };
    let context = SchedulerContext::builder("events").threads(2);
    let context = context.build().unwrap();
    let channels = [
        Channel::new(config(Dispatching::PerConsumer)),
        Channel::new(config(Dispatching::Reactive)),
        Channel::new(config(Dispatching::Scheduled(&SCHEDULE))),
        Channel::on_context(config(Dispatching::Contexts), &context, |_| {
            TaskQos::default()
        }),
    ];
    for channel in channels {
        let received = Arc::new(Mutex::new(vec![Vec::new(); 4]));
        let log = Arc::clone(&received);
        let sink = move |events: &[SharedEvent]| {
            let mut log = log.lock().unwrap();
            for event in events {
                let source = usize::try_from(event.header.source).unwrap();
                log[source - 1].push(event.data.pad1);
            }
        };
        let _subscription = channel.subscribe(&Pattern::of(16, 0), sink).unwrap();
        thread::scope(|scope| {
            for source in 1..=4 {
                let supplier = channel.connect_supplier(&[(16, source)]).unwrap();
                scope.spawn(move || {
                    for number in 0..EVENTS {
                        let mut event = new_event(16, source);
                        event.data.pad1 = number;
                        supplier.push(&[event]);
                    }
                });
            }
        });
        let expected: Vec<_> = (0..EVENTS).collect();
        eventually("all arrive", || {
            let received = received.lock().unwrap();
            received.iter().all(|it| it.len() == expected.len())
        });
        let received = received.lock().unwrap();
        assert!(received.iter().all(|it| *it == expected), "{channel:?}");
    }
}
