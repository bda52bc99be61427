// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers that get the last events when they connect.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use orbium::{ExceptionKind, Orb};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{
    Channel, ChannelConfig, ConsumerOptions, Dispatching, Pattern, Peer, Publisher, RemoteError,
    Replay, Retention, SharedEvent, connect_replaying_consumer, new_event,
};
use orbium_testkit::{PATIENCE, eventually};

fn channel(dispatching: Dispatching, events: usize) -> Channel {
    Channel::new(ChannelConfig {
        dispatching,
        retention: Retention {
            events,
            ..Retention::default()
        },
        ..ChannelConfig::default()
    })
}

fn push(supplier: &Publisher, source: i32, number: i32) {
    let mut event = new_event(16, source);
    event.data.pad1 = number;
    supplier.push(&[event]);
}

fn replaying() -> ConsumerOptions {
    ConsumerOptions {
        replays: true,
        ..ConsumerOptions::default()
    }
}

type Received = mpsc::Receiver<(i32, i32)>;

fn sink() -> (impl Fn(&[SharedEvent]) + Send + Sync + 'static, Received) {
    let (send, received) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        for event in events {
            let _ = send.send((event.header.source, event.data.pad1));
        }
    };
    (sink, received)
}

fn next(received: &Received, count: usize) -> Vec<(i32, i32)> {
    let events = (0..count).map(|_| received.recv_timeout(PATIENCE).unwrap());
    events.collect()
}

/// Conformance: events - replay - the last event of each type and source on connecting, then what follows
#[test]
fn a_consumer_gets_the_last_event_of_each_source() {
    for dispatching in [Dispatching::PerConsumer, Dispatching::Reactive] {
        let channel = channel(dispatching, 3);
        let supplier = channel.connect_supplier(&[]).unwrap();
        for (source, number) in [(1, 0), (2, 0), (1, 1), (3, 0), (4, 0), (3, 1)] {
            push(&supplier, source, number);
        }
        let (all, received) = sink();
        let pattern = Pattern::of(16, 0);
        let consumer = channel.subscribe_with(&pattern, replaying(), Arc::new(all), || {});
        let (one, received_of_one) = sink();
        let pattern = Pattern::of(16, 3);
        let of_one = channel.subscribe_with(&pattern, replaying(), Arc::new(one), || {});
        let (none, received_of_none) = sink();
        let of_none = channel.subscribe(&Pattern::Null, none).unwrap();
        push(&supplier, 3, 2);
        // The last of source 2 has been forgotten.
        assert_eq!(next(&received, 4), [(1, 1), (4, 0), (3, 1), (3, 2)]);
        assert_eq!(next(&received_of_one, 2), [(3, 1), (3, 2)]);
        assert_eq!(next(&received_of_none, 1), [(3, 2)]);
        drop((consumer, of_one, of_none));
    }
}

/// Conformance: events - replay - while suppliers push, a consumer that connects misses nothing, sees nothing twice and in order
#[test]
fn nothing_is_missed_between_the_last_event_and_the_next() {
    const EVENTS: i32 = 3000;
    let channel = channel(Dispatching::PerConsumer, 8);
    let supplier = channel.connect_supplier(&[]).unwrap();
    push(&supplier, 1, 0);
    let logs: Vec<Arc<Mutex<Vec<i32>>>> = (0..20).map(|_| Arc::default()).collect();
    thread::scope(|scope| {
        scope.spawn(|| (1..=EVENTS).for_each(|number| push(&supplier, 1, number)));
        let consumers = logs.iter().map(|log| {
            let log = Arc::clone(log);
            let sink = move |events: &[SharedEvent]| {
                log.lock()
                    .unwrap()
                    .extend(events.iter().map(|it| it.data.pad1));
            };
            let pattern = Pattern::of(16, 0);
            let options = ConsumerOptions {
                queue: Some(orbium_event::QueueLimits {
                    sets: 10_000,
                    ..orbium_event::QueueLimits::default()
                }),
                ..replaying()
            };
            channel
                .subscribe_with(&pattern, options, Arc::new(sink), || {})
                .unwrap()
        });
        let consumers: Vec<_> = consumers.collect();
        eventually("the last event", || {
            logs.iter()
                .all(|it| it.lock().unwrap().last() == Some(&EVENTS))
        });
        drop(consumers);
    });
    for log in &logs {
        let log = log.lock().unwrap();
        assert!(log.is_sorted_by(|a, b| a + 1 == *b), "{log:?}");
    }
}

/// Conformance: events - replay - a consumer that pulls
#[test]
fn a_consumer_that_pulls_gets_the_last_events() {
    struct Display;
    impl Peer for Display {}
    let channel = channel(Dispatching::PerConsumer, 8);
    let supplier = channel.connect_supplier(&[]).unwrap();
    push(&supplier, 1, 7);
    let pattern = Pattern::of(16, 0);
    let display = channel.subscribe_pulled(&pattern, replaying(), Arc::new(Display), || {});
    let events = display
        .unwrap()
        .pull(10, Instant::now() + PATIENCE)
        .unwrap();
    assert_eq!(events[0].data.pad1, 7);
}

/// Conformance: events - replay - a consumer of another process; NO_IMPLEMENT of a channel without events
#[test]
fn a_consumer_of_another_process_gets_the_last_events() {
    let orb = || {
        let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        builder
            .call_timeout(Duration::from_secs(60))
            .build()
            .unwrap()
    };
    for dispatching in [Dispatching::PerConsumer, Dispatching::Reactive] {
        let (server, client) = (orb(), orb());
        let retaining = channel(dispatching, 8);
        let supplier = retaining.connect_supplier(&[]).unwrap();
        push(&supplier, 1, 7);
        let object = retaining.serve(&server, "EventService").unwrap();
        let remote: EventChannel = client.resolve(&server.object_to_string(&object)).unwrap();
        let (send, received) = mpsc::channel();
        let pattern = Pattern::of(16, 0);
        let on_events = move |events: &[orbium_event::rtec::rtec_event_comm::Event]| {
            for event in events {
                let _ = send.send((event.header.source, event.data.pad1));
            }
        };
        let last = (Replay::Last, &pattern);
        let consumer = connect_replaying_consumer(&client, &remote, last, on_events).unwrap();
        push(&supplier, 1, 8);
        assert_eq!(next(&received, 2), [(1, 7), (1, 8)]);
        consumer.disconnect().unwrap();
        let plain = Channel::new(ChannelConfig::default());
        let object = plain.serve(&server, "Plain").unwrap();
        let plain: EventChannel = client.resolve(&server.object_to_string(&object)).unwrap();
        for (channel, replay) in [(&remote, Replay::Sequence(1)), (&plain, Replay::Last)] {
            let refused = connect_replaying_consumer(&client, channel, (replay, &pattern), |_| {});
            let Err(RemoteError::System(refused)) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(refused.kind, ExceptionKind::NoImplement);
        }
        server.shutdown(true).unwrap();
    }
}
