// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events through a stream, in good times.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use orbium::{ExceptionKind, Interface, SystemException};
use orbium_event::rtec::orbium_event::{DurableConsumerAdmin, MonitoredChannel};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{Pattern, RemoteError, connect_scheduled_consumer, new_event};
use orbium_event_jetstream::{JetStreamConfig, connect_consumer, connect_supplier};
use orbium_testkit::{PATIENCE, eventually};

use crate::stage::{Log, Served, client, config, connect, nats, numbered, store};

/// Conformance: events - persistence by a stream - a push that takes longer than half of ack_wait is counted, with a warning
#[test]
fn a_push_that_takes_long_is_counted() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (release, released) = mpsc::channel::<()>();
    let (released, started) = (Mutex::new(released), Arc::new(Mutex::new(None::<Instant>)));
    let first = Arc::clone(&started);
    let _consumer = connect(&orb, &channel, "display", move |_| {
        first.lock().unwrap().get_or_insert_with(Instant::now);
        // It fails when the test has ended.
        let _ = released.lock().unwrap().recv();
        Ok(())
    });
    let supplier = connect_supplier(&channel).unwrap();
    store(&supplier, 1);
    let half = config(&nats).ack_wait / 2;
    eventually("half of ack_wait passes", || {
        started
            .lock()
            .unwrap()
            .is_some_and(|it| it.elapsed() > half)
    });
    assert_eq!(served.channel.statistics().slow, 0);
    release.send(()).unwrap();
    eventually("it is counted", || served.channel.statistics().slow == 1);
}

/// The point of time at which it fails does not exist, and the thread that serves the push panicked.
#[test]
fn a_push_may_wait_without_a_bound() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        publish_timeout: Duration::MAX,
        ..config(&nats)
    };
    let (served, orb) = (Served::new(config), client());
    let supplier = connect_supplier(&served.seen_by(&orb)).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    assert_eq!(served.channel.statistics().stored, 1);
}

/// Conformance: events - persistence by a stream - stored before the push returns, delivered in order
#[test]
fn events_reach_their_consumers_in_order() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (send, received) = mpsc::channel();
    let _consumer = connect(&orb, &channel, "display", move |event: &Event| {
        let _ = send.send((event.data.pad1, event.data.payload.clone()));
        Ok(())
    });
    let supplier = connect_supplier(&channel).unwrap();
    for number in 0..100 {
        let mut event = numbered(number);
        event.data.payload = vec![7; number as usize];
        // Another consumer's.
        supplier.push(&[event, new_event(17, 1)]).unwrap();
    }
    for number in 0..100 {
        let (pad, payload) = received.recv_timeout(PATIENCE).unwrap();
        assert_eq!((pad, payload.len()), (number, number as usize));
    }
    assert_eq!(served.channel.statistics().stored, 200);
    let monitored: MonitoredChannel = channel.as_object().narrow().unwrap();
    let state = monitored.state().unwrap();
    assert_eq!(
        (state.received, state.suppliers, state.consumers.len()),
        (200, 1, 1)
    );
    assert_eq!(state.consumers[0].id, 1);
    // The last push is counted when it has returned.
    eventually("all are counted", || {
        monitored.state().unwrap().consumers[0].delivered == 100
    });
}

/// Conformance: events - persistence by a stream - a consumer goes on where the one of its name ended
#[test]
fn a_consumer_gets_what_was_stored_while_none_of_its_name_was_connected() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(0)]).unwrap();
    let consumer = log.connect(&orb, &channel, "display");
    eventually("the event before", || log.numbers() == [0]);
    consumer.disconnect().unwrap();
    supplier.push(&[numbered(1), numbered(2)]).unwrap();
    // Another channel, as on another host.
    let elsewhere = Served::new(config(&nats));
    let consumer = log.connect(&orb, &elsewhere.seen_by(&orb), "display");
    eventually("those without a consumer", || log.numbers() == [0, 1, 2]);
    // A consumer may disconnect before its last event is acknowledged: it comes again, and says so.
    log.assert_stored_once();
    consumer.disconnect().unwrap();

    let admin = channel.for_consumers().unwrap().unwrap();
    let admin: DurableConsumerAdmin = admin.as_object().narrow().unwrap();
    admin.forget("display").unwrap();
    admin.forget("display").unwrap();
    let anew = Log::default();
    let _consumer = anew.connect(&orb, &channel, "display");
    eventually("everything once more", || anew.numbers() == [0, 1, 2]);
}

/// Conformance: events - persistence by a stream - channels of several processes on one stream
#[test]
fn channels_on_one_stream_are_one_channel() {
    let Some(nats) = nats() else { return };
    let channels = [Served::new(config(&nats)), Served::new(config(&nats))];
    let (orb, logs) = (client(), [Log::default(), Log::default()]);
    let seen = [0, 1].map(|at| channels[at].seen_by(&orb));
    let names = ["north", "south"];
    let _consumers = [0, 1].map(|at| logs[at].connect(&orb, &seen[at], names[at]));
    for (number, at) in [(0, 0), (1, 1), (2, 0)] {
        let supplier = connect_supplier(&seen[at]).unwrap();
        supplier.push(&[numbered(number)]).unwrap();
    }
    for log in &logs {
        eventually("events of both", || log.numbers() == [0, 1, 2]);
        log.assert_stored_once();
    }
}

/// Conformance: events - persistence by a stream - an event that is pushed twice is stored once
#[test]
fn an_event_that_is_pushed_twice_is_stored_once() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let event = numbered(1);
    supplier.push(std::slice::from_ref(&event)).unwrap();
    // Its supplier does not know that the first push has succeeded, and tries another channel.
    let elsewhere = Served::new(config(&nats));
    let again = connect_supplier(&elsewhere.seen_by(&orb)).unwrap();
    again.push(&[event, numbered(2)]).unwrap();
    let _consumer = log.connect(&orb, &channel, "display");
    eventually("both events", || log.numbers() == [1, 2]);
    log.assert_stored_once();
    assert_eq!(elsewhere.channel.statistics().duplicates, 1);
}

/// Conformance: events - persistence by a stream - a failed delivery is repeated, and says so
#[test]
fn an_event_is_delivered_until_the_consumer_takes_it() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let failures = Arc::new(AtomicU32::new(0));
    let (all, counted) = (log.clone(), Arc::clone(&failures));
    let _consumer = connect(&orb, &channel, "display", move |event: &Event| {
        all.add(event);
        match counted.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err(SystemException::from(ExceptionKind::Transient)),
            _ => Ok(()),
        }
    });
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("three deliveries", || {
        log.deliveries().get(&1).is_some_and(|it| it.len() == 3)
    });
    let deliveries = log.deliveries().remove(&1).unwrap();
    let numbers: Vec<_> = deliveries.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(deliveries.iter().all(|it| it.id == deliveries[0].id));
    assert!(deliveries[1].is_repeated() && !deliveries[0].is_repeated());
}

#[test]
fn a_consumer_replaces_the_one_of_its_name() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (first, second) = (Log::default(), Log::default());
    let replaced = first.connect(&orb, &channel, "display");
    let current = second.connect(&orb, &channel, "display");
    assert!(!replaced.is_connected().unwrap() && current.is_connected().unwrap());
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("the event", || second.numbers() == [1]);
    assert!(first.numbers().is_empty());
}

/// Conformance: events - persistence by a stream - a suspended consumer gets its events later
#[test]
fn events_wait_for_a_suspended_consumer() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let consumer = log.connect(&orb, &channel, "display");
    consumer.suspend().unwrap();
    consumer.suspend().unwrap();
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    let monitored: MonitoredChannel = channel.as_object().narrow().unwrap();
    assert!(monitored.state().unwrap().consumers[0].is_suspended);
    assert!(log.numbers().is_empty());
    consumer.resume().unwrap();
    consumer.resume().unwrap();
    eventually("the event", || log.numbers() == [1]);
}

/// Conformance: events - persistence by a stream - consumers of TAO are named by their RT_Info
#[test]
fn the_rt_info_of_a_subscription_is_a_name() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let pattern = Pattern::of(16, 0);
    let connect = |rt_info| {
        let (send, received) = mpsc::channel();
        let on_events = move |events: &[Event]| {
            let _ = send.send(events[0].data.pad1);
        };
        let scheduled = (&pattern, rt_info);
        let consumer = connect_scheduled_consumer(&orb, &channel, scheduled, on_events);
        (consumer.unwrap(), received)
    };
    supplier.push(&[numbered(1)]).unwrap();
    let (consumer, received) = connect(3);
    assert_eq!(received.recv_timeout(PATIENCE).unwrap(), 1);
    consumer.disconnect().unwrap();
    supplier.push(&[numbered(2)]).unwrap();
    let (_named, received) = connect(3);
    assert_eq!(received.recv_timeout(PATIENCE).unwrap(), 2);
    // Without an RT_Info, what is stored from now on.
    let (_anonymous, received) = connect(0);
    supplier.push(&[numbered(3)]).unwrap();
    assert_eq!(received.recv_timeout(PATIENCE).unwrap(), 3);
}

#[test]
fn names_and_observers_that_are_none_are_refused() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let leaf = || Pattern::of(16, 0);
    let nothing = |_: &Event| Ok(());
    for (name, pattern) in [("", leaf()), ("a.b", leaf()), (&"x".repeat(65), leaf())] {
        let refused = connect_consumer(&orb, &channel, (name, &pattern), nothing);
        assert_eq!(
            refused.err(),
            Some(RemoteError::Refused),
            "{name} {pattern:?}"
        );
    }
    assert!(channel.append_observer(None).is_err());
    assert!(channel.remove_observer(1).is_err());
}

#[test]
fn proxies_are_bounded_and_end_with_the_channel() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        consumers: 1,
        suppliers: 1,
        ..config(&nats)
    };
    let (served, orb, log) = (Served::new(config), client(), Log::default());
    let channel = served.seen_by(&orb);
    let consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    let limit = Some(ExceptionKind::ImpLimit);
    let kind = |error: RemoteError| match error {
        RemoteError::System(exception) => Some(exception.kind),
        _ => None,
    };
    let second = connect_supplier(&channel);
    assert_eq!(second.err().and_then(kind), limit);
    let second = connect_consumer(&orb, &channel, ("other", &Pattern::Null), |_| Ok(()));
    assert_eq!(second.err().and_then(kind), limit);
    channel.destroy().unwrap();
    assert!(!consumer.is_connected().unwrap());
    assert!(supplier.push(&[numbered(1)]).is_err());
    assert!(channel.as_object().non_existent().unwrap());
}

#[test]
fn a_name_may_subscribe_to_something_else() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let patterns = [
        Pattern::of(16, 0),
        Pattern::Null,
        Pattern::Disjunction(vec![Pattern::of(16, 1), Pattern::of(17, 0)]),
        Pattern::of(0, 1),
        Pattern::of(0, 0),
    ];
    for (number, pattern) in (0..).zip(patterns) {
        let (send, received) = mpsc::channel();
        let display = ("display", &pattern);
        let consumer = connect_consumer(&orb, &channel, display, move |event: &Event| {
            let _ = send.send(event.data.pad1);
            Ok(())
        });
        let consumer = consumer.unwrap();
        supplier.push(&[numbered(number)]).unwrap();
        let pad = received.recv_timeout(PATIENCE).unwrap();
        assert_eq!(pad, i32::try_from(number).unwrap(), "{pattern:?}");
        consumer.disconnect().unwrap();
    }
}
