// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams with other bytes than events, servers that do not answer, consumers that stall.

use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use orbium::{ExceptionKind, SystemException};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event_jetstream::{
    Awaited, JetStreamConfig, JetStreamError, PersistentChannel, connect_supplier,
};
use orbium_testkit::{NatsServer, PATIENCE, dead_port, eventually};

use crate::stage::{Log, Served, client, config, connect, nats, numbered, with_client};

/// Conformance: events - persistence by a stream - messages that are no events are passed over and counted
#[test]
fn messages_that_are_no_events_reach_no_consumer() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let mut strange: Vec<Vec<u8>> =
        vec![vec![], vec![1], vec![0xFF; 64], b"{\"type\": 16}".to_vec()];
    // A count of payload bytes that no message has.
    strange.push([&[1, 0, 0, 0][..], &[0xFF; 60]].concat());
    publish_raw(&nats, &strange);
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("the event behind them", || log.numbers() == [1]);
    assert_eq!(served.channel.statistics().unreadable, 10);
}

/// Publishes messages with and without the headers of events.
fn publish_raw(nats: &NatsServer, messages: &[Vec<u8>]) {
    with_client(nats, |context| async move {
        for message in messages {
            let subject = "orb.ev.NAV.t16.s1";
            let mut headers = async_nats::HeaderMap::new();
            headers.insert("Orb-Ver", "1");
            headers.insert("Orb-Kind", "rt");
            let stored = context.publish_with_headers(subject, headers, message.clone().into());
            stored.await.unwrap().await.unwrap();
            let stored = context.publish(subject, message.clone().into());
            stored.await.unwrap().await.unwrap();
        }
    });
}

/// Conformance: events - persistence by a stream - a server that never answers: a typed error in time
#[test]
fn a_server_that_never_answers_is_an_error() {
    // Connections wait in its backlog.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", silent.local_addr().unwrap());
    let config = JetStreamConfig {
        connect_timeout: Duration::from_millis(100),
        ..JetStreamConfig::new(&url, "NAV")
    };
    let error = PersistentChannel::open(config).unwrap_err();
    assert_eq!(error, JetStreamError::Timeout(Awaited::Connection));

    let gone = format!("nats://127.0.0.1:{}", dead_port());
    let error = PersistentChannel::open(JetStreamConfig::new(&gone, "NAV")).unwrap_err();
    assert!(matches!(error, JetStreamError::Unreachable(_)), "{error}");
    let error = PersistentChannel::open(JetStreamConfig::new("nats://[", "NAV")).unwrap_err();
    assert!(matches!(error, JetStreamError::Connect(_)), "{error}");
    for name in ["", "a.b", "a b", "a>", "*"] {
        let error = PersistentChannel::open(JetStreamConfig::new(&gone, name)).unwrap_err();
        assert_eq!(error, JetStreamError::Name(name.to_owned()));
    }
}

/// Conformance: events - persistence by a stream - a supplier gets TIMEOUT while nothing can be stored
#[test]
fn a_supplier_gets_an_exception_if_its_events_cannot_be_stored() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        publish_timeout: Duration::from_millis(300),
        attempt_timeout: Duration::from_millis(100),
        ..config(&nats)
    };
    let (served, orb, log) = (Served::new(config), client(), Log::default());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let event = numbered(1);
    nats.kill();
    let refused = supplier.push(std::slice::from_ref(&event)).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Timeout);
    assert_eq!(served.channel.statistics().refused, 1);
    nats.start_again();
    eventually("the same event is stored", || {
        supplier.push(std::slice::from_ref(&event)).is_ok()
    });
    let _consumer = log.connect(&orb, &channel, "display");
    eventually("the event", || log.numbers() == [1]);
    let deliveries = log.deliveries();
    assert!(
        deliveries[&1]
            .iter()
            .all(|it| it.id == deliveries[&1][0].id)
    );
}

#[test]
fn events_beyond_a_limit_of_the_stream_are_refused() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        max_bytes: Some(1 << 20),
        publish_timeout: PATIENCE,
        ..config(&nats)
    };
    let (served, orb) = (Served::new(config), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    let mut event = numbered(0);
    // The server's limit for a message is 1 MiB.
    event.data.payload = vec![0; 1 << 20];
    let refused = supplier.push(std::slice::from_ref(&event)).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ImpLimit);
    // A full stream deletes nothing that a consumer may not have got.
    let full = (1..100).find_map(|number| {
        let mut event = numbered(number);
        event.data.payload = vec![0; 100_000];
        supplier.push(&[event]).err()
    });
    assert_eq!(full.map(|it| it.kind), Some(ExceptionKind::NoResources));
    let log = Log::default();
    let _consumer = log.connect(&orb, &channel, "display");
    eventually("the first events", || log.numbers().first() == Some(&1));
}

#[test]
fn another_streams_subjects_are_not_taken() {
    let Some(nats) = nats() else { return };
    with_client(&nats, |context| async move {
        let stream = async_nats::jetstream::stream::Config {
            name: "NAV".to_owned(),
            subjects: vec!["other.>".to_owned()],
            ..Default::default()
        };
        context.create_stream(stream).await.unwrap();
    });
    let error = PersistentChannel::open(config(&nats)).unwrap_err();
    assert_eq!(error, JetStreamError::OtherSubjects("NAV".to_owned()));
}

/// Conformance: events - persistence by a stream - a consumer that stalls occupies bounded memory and delays no other one
#[test]
fn a_consumer_that_stalls_gets_no_more_than_its_window() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        window: 4,
        push_timeout: PATIENCE,
        ..config(&nats)
    };
    let (served, orb, log) = (Served::new(config), client(), Log::default());
    let channel = served.seen_by(&orb);
    let (release, held) = mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let (begun, stalled) = mpsc::channel();
    let stalls = connect(&orb, &channel, "stalls", move |_: &Event| {
        let _ = begun.send(());
        let _ = held.lock().unwrap().recv();
        Ok(())
    });
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    let mut all = Vec::new();
    for number in 0..200 {
        let mut event = numbered(number);
        event.data.payload = vec![0; 10_000];
        supplier.push(&[event]).unwrap();
        all.push(i32::try_from(number).unwrap());
    }
    eventually("the other consumer gets all", || log.numbers() == all);
    stalled.recv_timeout(PATIENCE).unwrap();
    // The push is still open, far beyond the time after which the server would redeliver: the event is
    // not delivered a second time.
    assert!(stalled.try_recv().is_err());
    drop(release);
    eventually("the rest", || {
        stalled.try_iter().count() > 0 && stalls.is_connected().unwrap()
    });
}

#[test]
fn a_consumer_that_is_gone_is_disconnected_and_its_events_wait() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let gone = connect(&orb, &channel, "display", |_: &Event| {
        Err(SystemException::from(ExceptionKind::ObjectNotExist))
    });
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("the channel disconnects it", || {
        !gone.is_connected().unwrap()
    });
    let _consumer = log.connect(&orb, &channel, "display");
    eventually("the event", || log.numbers() == [1]);

    // One refuses an event for good: the next one comes.
    let picky = Log::default();
    let kept = picky.clone();
    let _picky = connect(&orb, &channel, "picky", move |event: &Event| {
        kept.add(event);
        match event.data.pad1 {
            1 => Err(SystemException::from(ExceptionKind::BadParam)),
            _ => Ok(()),
        }
    });
    supplier.push(&[numbered(2)]).unwrap();
    eventually("the next event", || picky.numbers() == [1, 2]);
    assert_eq!(picky.deliveries()[&1].len(), 1);
}

#[test]
fn a_supplier_that_is_not_connected_is_refused() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    supplier.disconnect().unwrap();
    let refused = supplier.push(&[numbered(1)]).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::ObjectNotExist);
}
