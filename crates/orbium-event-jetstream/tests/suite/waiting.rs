// SPDX-License-Identifier: MIT OR Apache-2.0
//! Subscriptions that wait for several events or for a time, and observers.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use orbium::{Call, ExceptionKind, Orb, SystemException};
use orbium_event::rtec::rtec_event_channel_admin::{
    ConsumerQos, EventChannel, Observer, ObserverServant, SupplierQos,
};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{DEADLINE_TIMEOUT, INTERVAL_TIMEOUT, Pattern, new_event};
use orbium_event_jetstream::{
    Delivery, JetStreamConfig, PersistentConsumer, connect_set_consumer, connect_supplier,
};
use orbium_testkit::{NatsServer, PATIENCE, eventually};

use crate::dead_letters::{stored, with_dead_letters};
use crate::stage::{Served, client, config, connect, nats, with_client};

fn pair() -> Pattern {
    Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)])
}

fn event(r#type: i32, number: i32) -> Event {
    let mut event = new_event(r#type, 1);
    event.data.pad1 = number;
    event
}

/// Type, number and delivery of each event that was received together.
type Set = Vec<(i32, i32, Delivery)>;

fn set_of(events: &[Event]) -> Set {
    let events = events.iter();
    events
        .map(|it| (it.header.r#type, it.data.pad1, Delivery::of(it)))
        .collect()
}

/// Types and numbers.
fn events_of(set: &Set) -> Vec<(i32, i32)> {
    set.iter().map(|it| (it.0, it.1)).collect()
}

fn connect_sets(
    orb: &Orb,
    channel: &EventChannel,
    pattern: &Pattern,
) -> (PersistentConsumer, mpsc::Receiver<Set>) {
    let (send, received) = mpsc::channel();
    let on_events = move |events: &[Event]| {
        let _ = send.send(set_of(events));
        Ok(())
    };
    let consumer = connect_set_consumer(orb, channel, ("display", pattern), on_events);
    (consumer.unwrap(), received)
}

/// Events that the server has delivered to the consumer and that are not acknowledged.
fn unacknowledged(nats: &NatsServer) -> usize {
    with_client(nats, |context| async move {
        let consumer = context.get_consumer_from_stream("display", "NAV").await;
        let mut consumer: PullConsumer = consumer.unwrap();
        consumer.info().await.unwrap().num_ack_pending
    })
}

/// Conformance: events - persistence by a stream - conjunctions: acknowledged when the set is delivered
#[test]
fn a_conjunction_is_acknowledged_when_it_is_delivered() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (_consumer, received) = connect_sets(&orb, &channel, &pair());
    let supplier = connect_supplier(&channel).unwrap();
    // The first of each counts.
    let events = [event(16, 1), event(16, 2), event(18, 3), event(16, 4)];
    supplier.push(&events).unwrap();
    eventually("the first one alone is retained", || {
        let state = served.channel.statistics();
        state.stored == 4 && unacknowledged(&nats) == 1
    });
    supplier.push(&[event(17, 5), event(17, 6)]).unwrap();
    let set = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(events_of(&set), [(16, 1), (17, 5)]);
    assert_eq!(set[0].2.id.sequence, 1);
    // The next conjunction has begun.
    eventually("the set is acknowledged", || unacknowledged(&nats) == 1);
    supplier.push(&[event(16, 7)]).unwrap();
    let set = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(events_of(&set), [(17, 6), (16, 7)]);
    eventually("all are acknowledged", || unacknowledged(&nats) == 0);
}

/// Conformance: events - persistence by a stream - conjunctions: completed by another channel, after the first one and the NATS server have ended
#[test]
fn a_conjunction_outlives_its_channel_and_the_nats_server() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (_consumer, _) = connect_sets(&orb, &channel, &pair());
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[event(16, 1)]).unwrap();
    eventually("the event is retained", || unacknowledged(&nats) == 1);
    channel.destroy().unwrap();
    drop(served);
    nats.kill();
    nats.start_again();
    let served = Served::new(config(&nats));
    let channel = served.seen_by(&orb);
    let (_consumer, received) = connect_sets(&orb, &channel, &pair());
    let supplier = connect_supplier(&channel).unwrap();
    // Before the event that the first channel has retained is delivered again, or behind it.
    supplier.push(&[event(16, 2), event(17, 3)]).unwrap();
    let set = received.recv_timeout(PATIENCE).unwrap();
    let (first, completed) = (events_of(&set)[0], events_of(&set)[1]);
    assert!([(16, 1), (16, 2)].contains(&first) && completed == (17, 3));
    if first == (16, 2) {
        supplier.push(&[event(17, 4)]).unwrap();
        let set = received.recv_timeout(PATIENCE).unwrap();
        assert!(events_of(&set).contains(&(16, 1)), "{set:?}");
    }
    eventually("all are acknowledged", || unacknowledged(&nats) == 0);
}

/// Conformance: events - persistence by a stream - conjunctions: a set that fails comes again as the same set
#[test]
fn a_set_that_fails_is_pushed_again_as_a_whole() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (send, received) = mpsc::channel();
    let pushes = AtomicU32::new(0);
    let on_events = move |events: &[Event]| {
        let _ = send.send(set_of(events));
        match pushes.fetch_add(1, Ordering::Relaxed) {
            0 => Err(SystemException::from(ExceptionKind::Transient)),
            1 => Err(SystemException::from(ExceptionKind::Internal)),
            _ => Ok(()),
        }
    };
    let named = ("display", &pair());
    let _consumer = connect_set_consumer(&orb, &channel, named, on_events).unwrap();
    let supplier = connect_supplier(&channel).unwrap();
    let events = [event(16, 1), event(17, 2), event(16, 3), event(17, 4)];
    supplier.push(&events).unwrap();
    for number in [1, 2, 3] {
        let set = received.recv_timeout(PATIENCE).unwrap();
        assert_eq!(events_of(&set), [(16, 1), (17, 2)]);
        assert!(set.iter().all(|it| it.2.number >= number), "{set:?}");
    }
    let set = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(events_of(&set), [(16, 3), (17, 4)]);
    eventually("all are acknowledged", || unacknowledged(&nats) == 0);
}

/// Conformance: events - persistence by a stream - dead letters: each event of a conjunction that is refused
#[test]
fn events_of_a_conjunction_that_is_refused_are_dead_letters() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(with_dead_letters(&nats, 2)), client());
    let channel = served.seen_by(&orb);
    let (send, received) = mpsc::channel();
    let on_events = move |events: &[Event]| {
        let set = set_of(events);
        let exception = match set[0].1 {
            1 => Some(ExceptionKind::BadParam),
            3 => Some(ExceptionKind::Internal),
            _ => None,
        };
        let _ = send.send(set);
        match exception {
            Some(kind) => Err(SystemException::from(kind)),
            None => Ok(()),
        }
    };
    let named = ("display", &pair());
    let _consumer = connect_set_consumer(&orb, &channel, named, on_events).unwrap();
    let supplier = connect_supplier(&channel).unwrap();
    for number in [1, 3, 5] {
        let set = [event(16, number), event(17, number + 1)];
        supplier.push(&set).unwrap();
    }
    // One push, two pushes, and one that is accepted.
    let numbers = [(); 4].map(|()| received.recv_timeout(PATIENCE).unwrap()[0].1);
    assert_eq!(numbers, [1, 3, 3, 5]);
    let subjects: Vec<_> = stored(&nats).into_iter().map(|it| it.0).collect();
    let of = |r#type| format!("orb.ev.NAV-DEAD.t{type}.s1");
    assert_eq!(subjects, [of(16), of(17), of(16), of(17)]);
    eventually("none comes again", || unacknowledged(&nats) == 0);
}

/// Pushes that had not reached the consumer counted: one failure after them made the set dead letters.
#[test]
fn a_set_may_fail_as_often_as_permitted_after_pushes_that_did_not_reach_its_consumer() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(with_dead_letters(&nats, 2)), client());
    let channel = served.seen_by(&orb);
    let (send, received) = mpsc::channel();
    let pushes = AtomicU32::new(0);
    let on_events = move |events: &[Event]| {
        let _ = send.send(events.len());
        match pushes.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err(SystemException::from(ExceptionKind::Transient)),
            2 => Err(SystemException::from(ExceptionKind::Internal)),
            _ => Ok(()),
        }
    };
    let named = ("display", &pair());
    let _consumer = connect_set_consumer(&orb, &channel, named, on_events).unwrap();
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[event(16, 1), event(17, 2)]).unwrap();
    for _ in 0..4 {
        assert_eq!(received.recv_timeout(PATIENCE), Ok(2));
    }
    eventually("the set is acknowledged", || unacknowledged(&nats) == 0);
    assert_eq!(served.channel.statistics().dead_letters, 0);
}

/// Conformance: events - persistence by a stream - timers run out at the channel, and are not stored
#[test]
fn timers_run_out_at_the_channel() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let period = Duration::from_millis(50);
    let guarded = Pattern::Disjunction(vec![Pattern::of(16, 0), Pattern::Deadline(period)]);
    let (consumer, received) = connect_sets(&orb, &channel, &guarded);
    let supplier = connect_supplier(&channel).unwrap();
    for _ in 0..2 {
        let (r#type, _, delivery) = received.recv_timeout(PATIENCE).unwrap()[0];
        assert_eq!((r#type, delivery.id.sequence), (DEADLINE_TIMEOUT, 0));
    }
    supplier.push(&[event(16, 1)]).unwrap();
    eventually("the event between timeouts", || {
        let set = received.recv_timeout(PATIENCE).unwrap();
        events_of(&set) == [(16, 1)]
    });
    consumer.disconnect().unwrap();

    let sampled = Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::Interval(period)]);
    let (_consumer, received) = connect_sets(&orb, &channel, &sampled);
    supplier.push(&[event(16, 2)]).unwrap();
    // The first one may come again: its consumer had disconnected before it was acknowledged.
    let mut types: Vec<_> = received.recv_timeout(PATIENCE).unwrap();
    types.sort_unstable_by_key(|it| it.0);
    let types: Vec<_> = types.iter().map(|it| it.0).collect();
    assert_eq!(types, [INTERVAL_TIMEOUT, 16]);
    assert_eq!(served.channel.statistics().stored, 2);
}

struct Reporter(mpsc::Sender<(usize, usize)>);

impl ObserverServant for Reporter {
    fn update_consumer(&self, _: &Call<'_>, sub: &ConsumerQos) -> Result<(), SystemException> {
        let _ = self.0.send((sub.dependencies.len() - 1, 0));
        Ok(())
    }

    fn update_supplier(&self, _: &Call<'_>, r#pub: &SupplierQos) -> Result<(), SystemException> {
        let _ = self.0.send((0, r#pub.publications.len()));
        Ok(())
    }
}

/// Conformance: events - observers get the sums of subscriptions and publications - a persistent channel
#[test]
fn observers_get_what_is_subscribed_to_and_published() {
    let Some(nats) = nats() else { return };
    let (served, orb) = (Served::new(config(&nats)), client());
    let channel = served.seen_by(&orb);
    let (send, received) = mpsc::channel();
    let next = || received.recv_timeout(PATIENCE).unwrap();
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let observer: Observer = root.activate(Reporter(send)).unwrap();
    let handle = channel.append_observer(Some(&observer)).unwrap();
    assert_eq!([next(), next()], [(0, 0), (0, 0)]);
    let consumer = connect(&orb, &channel, "display", |_| Ok(()));
    assert_eq!([next(), next()], [(1, 0), (0, 0)]);
    let published = orbium_event::connect_supplier(&channel, &[(16, 1), (17, 1)]).unwrap();
    assert_eq!([next(), next()], [(1, 0), (0, 2)]);
    consumer.disconnect().unwrap();
    assert_eq!([next(), next()], [(0, 0), (0, 2)]);
    channel.remove_observer(handle).unwrap();
    assert!(channel.remove_observer(handle).is_err());
    drop(published);
}

/// The set would be delivered after the time of an acknowledgement if the suspension did not give the event back.
///
/// It did not give back an event that was on its way, and gave back others while its request still waited at the server.
#[test]
fn a_suspended_subscription_gives_back_what_it_retains() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        ack_wait: PATIENCE * 2,
        ..config(&nats)
    };
    let (served, orb) = (Served::new(config), client());
    let channel = served.seen_by(&orb);
    let (consumer, received) = connect_sets(&orb, &channel, &pair());
    let supplier = connect_supplier(&channel).unwrap();
    supplier.push(&[event(16, 1)]).unwrap();
    eventually("the event is retained", || unacknowledged(&nats) == 1);
    consumer.suspend().unwrap();
    supplier.push(&[event(17, 2)]).unwrap();
    consumer.resume().unwrap();
    let set = received.recv_timeout(PATIENCE).unwrap();
    let mut numbers = events_of(&set);
    numbers.sort_unstable();
    assert_eq!(numbers, [(16, 1), (17, 2)]);
}
