// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers without names that get events of before.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use orbium::Orb;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{Pattern, Replay, connect_consumer, new_event};
use orbium_event_jetstream::{
    Delivery, PersistentConsumer, PersistentSupplier, connect_replaying_consumer, connect_supplier,
};
use orbium_testkit::{NatsServer, PATIENCE};

use crate::stage::{Served, client, config, nats, with_client};

type Received = Receiver<(i32, Delivery)>;

fn connect(orb: &Orb, channel: &EventChannel, replay: Replay) -> (PersistentConsumer, Received) {
    connect_with(orb, channel, (replay, &Pattern::of(16, 0)))
}

fn connect_with(
    orb: &Orb,
    channel: &EventChannel,
    subscription: (Replay, &Pattern),
) -> (PersistentConsumer, Received) {
    let (send, received) = mpsc::channel();
    let consumer = connect_replaying_consumer(orb, channel, subscription, move |event| {
        let _ = send.send((event.data.pad1, Delivery::of(event)));
        Ok(())
    });
    (consumer.unwrap(), received)
}

fn push(supplier: &PersistentSupplier, source: i32, number: i32) {
    let mut event = new_event(16, source);
    event.data.pad1 = number;
    supplier.push(&[event]).unwrap();
}

/// Numbers and whether they are replayed.
fn next(received: &Received, count: usize) -> Vec<(i32, bool)> {
    let events = (0..count).map(|_| {
        let (number, delivery) = received.recv_timeout(PATIENCE).unwrap();
        (number, delivery.is_replayed)
    });
    events.collect()
}

/// Conformance: events - replay - of a stream: the last of each type and source, from a sequence, from a time
#[test]
fn a_consumer_gets_events_of_before() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    for (source, number) in [(1, 0), (2, 1), (1, 2), (3, 3)] {
        push(&supplier, source, number);
    }
    let an_hour = Duration::from_secs(3600);
    let cases = [
        (Replay::Last, vec![1, 2, 3]),
        (Replay::Sequence(2), vec![1, 2, 3]),
        (Replay::Sequence(0), vec![0, 1, 2, 3]),
        (Replay::Sequence(5), vec![]),
        (Replay::Time(SystemTime::now() - an_hour), vec![0, 1, 2, 3]),
        (Replay::Time(SystemTime::UNIX_EPOCH), vec![0, 1, 2, 3]),
        (Replay::Time(SystemTime::now() + an_hour), vec![]),
    ];
    let connected = cases.map(|(replay, expected)| {
        let (consumer, received) = connect(&orb, &channel, replay);
        let expected: Vec<_> = expected.into_iter().map(|it| (it, true)).collect();
        assert_eq!(next(&received, expected.len()), expected, "{replay:?}");
        (replay, consumer, received)
    });
    push(&supplier, 1, 4);
    for (replay, consumer, received) in connected {
        assert_eq!(next(&received, 1), [(4, false)], "{replay:?}");
        consumer.disconnect().unwrap();
        assert!(received.try_recv().is_err());
    }
}

/// It had got all of them once more, and what was stored while it was suspended not at all without a replay.
#[test]
fn a_consumer_without_a_name_goes_on_where_it_was_suspended() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    for number in 0..10 {
        push(&supplier, 1, number);
    }
    let (replaying, received) = connect(&orb, &channel, Replay::Sequence(1));
    assert_eq!(next(&received, 10).last(), Some(&(9, true)));
    let (send, numbers) = mpsc::channel();
    let plain = connect_consumer(&orb, &channel, &Pattern::of(16, 0), move |events| {
        let _ = send.send(events[0].data.pad1);
    });
    let plain = plain.unwrap();
    replaying.suspend().unwrap();
    plain.suspend().unwrap();
    push(&supplier, 1, 10);
    replaying.resume().unwrap();
    plain.resume().unwrap();
    assert_eq!(numbers.recv_timeout(PATIENCE), Ok(10));
    // The last set may come again, from which the consumer had not returned. The first one had one event.
    let again = std::iter::from_fn(|| next(&received, 1).pop());
    let again: Vec<_> = again.take_while(|it| *it != (10, false)).collect();
    let is_of_last_set = |it: &(i32, bool)| (1..10).contains(&it.0) && it.1;
    assert!(again.iter().all(is_of_last_set), "{again:?}");
}

/// Conformance: events - replay - of a stream: a consumer without a name goes on where it was when the NATS server is killed
#[test]
fn a_replay_goes_on_when_the_server_is_killed() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    for number in 0..10 {
        push(&supplier, 1, number);
    }
    let (_consumer, received) = connect(&orb, &channel, Replay::Sequence(1));
    let mut seen = BTreeMap::new();
    for kill in 0..=2 {
        if kill > 0 {
            nats.kill();
            nats.start_again();
            for number in 10 * kill..10 * kill + 10 {
                push(&supplier, 1, number);
            }
        }
        // One that was not acknowledged may come again.
        while !seen.contains_key(&(10 * kill + 9)) {
            seen.extend(next(&received, 1));
        }
    }
    assert!(seen.keys().copied().eq(0..30), "{seen:?}");
    assert!(seen.iter().all(|it| *it.1 == (*it.0 < 10)), "{seen:?}");
}

fn delete_consumers(nats: &NatsServer) {
    with_client(nats, |context| async move {
        let stream = context.get_stream("NAV").await.unwrap();
        let names: Vec<_> = stream.consumer_names().try_collect().await.unwrap();
        for name in names {
            stream.delete_consumer(&name).await.unwrap();
        }
    });
}

/// It began anew, with sets that its consumer had got, after any error of the server's.
#[test]
fn a_conjunction_of_a_replay_goes_on_when_the_server_has_forgotten_its_consumer() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let push_pair = |number| {
        let mut pair = [new_event(16, 1), new_event(17, 1)];
        pair[0].data.pad1 = number;
        pair[1].data.pad1 = number + 1;
        supplier.push(&pair).unwrap();
    };
    push_pair(1);
    let pair = Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)]);
    let (_consumer, received) = connect_with(&orb, &channel, (Replay::Sequence(1), &pair));
    assert_eq!(next(&received, 2), [(1, true), (2, true)]);
    delete_consumers(&nats);
    push_pair(3);
    assert_eq!(next(&received, 2), [(3, false), (4, false)]);
}
