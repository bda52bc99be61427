// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that their consumers do not accept: they become dead letters, and hold up no other one.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_nats::HeaderMap;
use async_nats::jetstream::stream::{Config, DiscardPolicy, Stream};
use orbium::{ExceptionKind, SystemException};
use orbium_event_jetstream::{
    DeadLetters, JetStreamConfig, JetStreamError, PersistentChannel, connect_supplier,
};
use orbium_testkit::{NatsServer, PATIENCE, dead_port, eventually};

use crate::stage::{Log, Served, client, config, connect, nats, numbered, with_client};

const DEAD: &str = "NAV-DEAD";

pub(crate) fn with_dead_letters(nats: &NatsServer, max_deliveries: u64) -> JetStreamConfig {
    JetStreamConfig {
        dead_letters: Some(DeadLetters::new(DEAD, max_deliveries)),
        // A loaded machine adds no deliveries.
        ack_wait: PATIENCE,
        ..config(nats)
    }
}

/// Subject and headers of the dead letters, in their order.
pub(crate) fn stored(nats: &NatsServer) -> Vec<(String, HeaderMap)> {
    with_client(nats, |context| async move {
        let mut stream: Stream = context.get_stream(DEAD).await.unwrap();
        let last = stream.info().await.unwrap().state.last_sequence;
        let mut all = Vec::new();
        for sequence in 1..=last {
            let message = stream.get_raw_message(sequence).await.unwrap();
            all.push((message.subject.to_string(), message.headers));
        }
        all
    })
}

/// Conformance: events - persistence by a stream - dead letters: an event that fails again and again, or is refused, is stored in another stream
#[test]
fn an_event_that_is_not_accepted_is_a_dead_letter() {
    let Some(nats) = nats() else { return };
    let served = Served::new(with_dead_letters(&nats, 2));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let accepted = log.clone();
    let _consumer = connect(&orb, &channel, "display", move |event| {
        let kind = match event.data.pad1 {
            1 => ExceptionKind::Internal,
            2 => ExceptionKind::BadParam,
            _ => {
                accepted.add(event);
                return Ok(());
            }
        };
        Err(SystemException::from(kind))
    });
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[0, 1, 2, 3].map(numbered)).unwrap();
    eventually("the others are delivered", || log.numbers() == [0, 3]);
    eventually("these are dead letters", || {
        served.channel.statistics().dead_letters == 2
    });
    let mut letters = Vec::new();
    for (subject, headers) in stored(&nats) {
        assert_eq!(subject, "orb.ev.NAV-DEAD.t16.s1");
        let header = |name| headers.get(name).unwrap().as_str().to_owned();
        assert_eq!(header("Orb-Stream"), "NAV");
        assert_eq!(header("Orb-Consumer"), "display");
        letters.push(["Orb-Sequence", "Orb-Deliveries", "Orb-Cause"].map(header));
    }
    letters.sort();
    let [failed, refused] = letters.try_into().unwrap();
    assert_eq!(failed[..2], ["2", "2"]);
    assert!(failed[2].contains("INTERNAL"), "{failed:?}");
    assert_eq!(refused[..2], ["3", "1"]);
    assert!(refused[2].contains("BAD_PARAM"), "{refused:?}");
    // A channel on that stream delivers them as the events that they were.
    let letters_channel = Served::new(JetStreamConfig {
        stream: DEAD.to_owned(),
        ..config(&nats)
    });
    let dead = Log::default();
    let _operator = dead.connect(&orb, &letters_channel.seen_by(&orb), "operator");
    eventually("the dead letters", || dead.numbers() == [1, 2]);
    dead.assert_stored_once();
}

/// Conformance: events - persistence by a stream - dead letters: without a stream for them, an event that fails is delivered until it is accepted
#[test]
fn without_dead_letters_an_event_is_delivered_until_it_is_accepted() {
    let Some(nats) = nats() else { return };
    accepts_after(config(&nats), [ExceptionKind::Internal; 3]);
}

/// Conformance: events - persistence by a stream - dead letters: none while the consumer cannot be reached
#[test]
fn an_event_waits_for_a_consumer_that_cannot_be_reached() {
    let Some(nats) = nats() else { return };
    accepts_after(with_dead_letters(&nats, 1), [ExceptionKind::Transient; 3]);
}

/// Conformance: events - persistence by a stream - dead letters: deliveries that do not reach the consumer do not count
#[test]
fn an_event_may_fail_as_often_as_permitted_after_deliveries_that_did_not_reach_its_consumer() {
    use ExceptionKind::{Internal, Transient};
    let Some(nats) = nats() else { return };
    accepts_after(with_dead_letters(&nats, 2), [Transient, Internal]);
}

/// Conformance: events - persistence by a stream - dead letters: failures count for a name, across its connections
#[test]
fn an_event_fails_as_often_with_several_consumers_of_a_name() {
    let Some(nats) = nats() else { return };
    let served = Served::new(with_dead_letters(&nats, 2));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let connect = || {
        let delivered = log.clone();
        connect(&orb, &channel, "display", move |event| {
            delivered.add(event);
            Err(ExceptionKind::Internal.into())
        })
    };
    let first = connect();
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("a delivery", || log.numbers() == [1]);
    first.disconnect().unwrap();
    let _second = connect();
    eventually("the dead letter", || {
        served.channel.statistics().dead_letters == 1
    });
    assert_eq!(log.deliveries()[&1].len(), 2);
}

/// Deliveries raise these exceptions, the one after them succeeds.
fn accepts_after<const N: usize>(config: JetStreamConfig, exceptions: [ExceptionKind; N]) {
    let served = Served::new(config);
    let (orb, log, deliveries) = (client(), Log::default(), AtomicUsize::new(0));
    let channel = served.seen_by(&orb);
    let accepted = log.clone();
    let _consumer = connect(&orb, &channel, "display", move |event| {
        let delivery = deliveries.fetch_add(1, Ordering::SeqCst);
        if let Some(exception) = exceptions.get(delivery) {
            return Err((*exception).into());
        }
        accepted.add(event);
        Ok(())
    });
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(7)]).unwrap();
    eventually("the event", || log.numbers() == [7]);
    assert_eq!(served.channel.statistics().dead_letters, 0);
}

/// Conformance: events - persistence by a stream - dead letters: messages that are no events, with headers that the other stream would refuse
#[test]
fn a_message_that_is_no_event_is_a_dead_letter() {
    let Some(nats) = nats() else { return };
    let served = Served::new(with_dead_letters(&nats, 5));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    with_client(&nats, |context| async move {
        let mut headers = HeaderMap::new();
        headers.insert("Orb-Ver", "1");
        headers.insert("Nats-Expected-Stream", "NAV");
        let strange = context.publish_with_headers("orb.ev.NAV.t16.s9", headers, "{}".into());
        strange.await.unwrap().await.unwrap();
    });
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("the event behind it", || log.numbers() == [1]);
    let statistics = served.channel.statistics();
    assert_eq!((statistics.unreadable, statistics.dead_letters), (1, 1));
    let [(subject, headers)] = stored(&nats).try_into().unwrap();
    assert_eq!(subject, "orb.ev.NAV-DEAD.t16.s9");
    assert_eq!(headers.get("Orb-Ver").unwrap().as_str(), "1");
    assert_eq!(
        headers.get("Orb-Cause").unwrap().as_str(),
        "it is of another kind"
    );
}

/// Conformance: events - persistence by a stream - dead letters: one that cannot be stored is delivered again
#[test]
fn an_event_is_delivered_until_its_dead_letter_is_stored() {
    let Some(nats) = nats() else { return };
    with_client(&nats, |context| async move {
        let full = Config {
            name: DEAD.to_owned(),
            subjects: vec![format!("orb.ev.{DEAD}.>")],
            max_messages: 1,
            discard: DiscardPolicy::New,
            ..Config::default()
        };
        context.create_stream(full).await.unwrap();
        let stored = context.publish(format!("orb.ev.{DEAD}.x"), "full".into());
        stored.await.unwrap().await.unwrap();
    });
    let served = Served::new(with_dead_letters(&nats, 1));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let delivered = log.clone();
    let _consumer = connect(&orb, &channel, "display", move |event| {
        delivered.add(event);
        Err(ExceptionKind::BadParam.into())
    });
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("a further delivery", || {
        log.deliveries().get(&1).is_some_and(|it| it.len() > 1)
    });
    assert_eq!(served.channel.statistics().dead_letters, 0);
    with_client(&nats, |context| async move {
        let stream: Stream = context.get_stream(DEAD).await.unwrap();
        stream.purge().await.unwrap();
    });
    eventually("the dead letter", || {
        served.channel.statistics().dead_letters == 1
    });
}

/// Conformance: events - persistence by a stream - dead letters: a stream that cannot be theirs is refused
#[test]
fn a_stream_is_not_that_of_its_own_dead_letters() {
    // Nothing is asked of a server.
    let url = format!("nats://127.0.0.1:{}", dead_port());
    let open = |stream, max_deliveries| {
        PersistentChannel::open(JetStreamConfig {
            dead_letters: Some(DeadLetters::new(stream, max_deliveries)),
            ..JetStreamConfig::new(&url, "NAV")
        })
        .unwrap_err()
    };
    assert_eq!(open("NAV", 2), JetStreamError::DeadLetters);
    assert_eq!(open(DEAD, 0), JetStreamError::DeadLetters);
    assert_eq!(open("a.b", 2), JetStreamError::Name("a.b".to_owned()));
}
