// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that are delivered in sets, and sets of which one fails.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use orbium::{Call, ExceptionKind, Interface, Orb, SystemException};
use orbium_event::Pattern;
use orbium_event::rtec::orbium_event::set_consumer::EventFailed;
use orbium_event::rtec::orbium_event::{
    DurableConsumerAdmin, EventFailedError, SetConsumer, SetConsumerServant,
};
use orbium_event::rtec::rtec_event_channel_admin::{EventChannel, ProxyPushSupplier};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use orbium_event_jetstream::{
    DeadLetters, Delivery, JetStreamConfig, PersistentSupplier, connect_supplier,
};
use orbium_testkit::{NatsServer, PATIENCE, eventually};

use crate::stage::{Log, Served, client, config, connect, nats, numbered};

/// With which nothing is delivered twice on a loaded machine either.
fn patient(nats: &NatsServer) -> JetStreamConfig {
    JetStreamConfig {
        ack_wait: PATIENCE,
        push_timeout: PATIENCE,
        ..config(nats)
    }
}

fn with_dead_letters(config: JetStreamConfig, max_deliveries: u64) -> JetStreamConfig {
    JetStreamConfig {
        dead_letters: Some(DeadLetters::new("NAV-DEAD", max_deliveries)),
        ..config
    }
}

/// The sets that a consumer gets; an answer of its own to each.
struct Sets<A> {
    all: Arc<Mutex<Vec<Vec<Event>>>>,
    answer: A,
}

type Answer = Result<(), EventFailedError>;

impl<A: Fn(&[Event]) -> Answer + Send + Sync + 'static> Sets<A> {
    fn receive(&self, data: &[Event]) -> Answer {
        self.all.lock().unwrap().push(data.to_vec());
        (self.answer)(data)
    }
}

impl<A: Fn(&[Event]) -> Answer + Send + Sync + 'static> PushConsumerServant for Sets<A> {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        self.receive(data).map_err(|error| match error {
            EventFailedError::System(exception) => exception,
            EventFailedError::EventFailed(_) => ExceptionKind::Internal.into(),
        })
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

impl<A: Fn(&[Event]) -> Answer + Send + Sync + 'static> SetConsumerServant for Sets<A> {
    fn push_set(&self, _: &Call<'_>, data: &[Event]) -> Answer {
        self.receive(data)
    }
}

/// What a consumer has got.
#[derive(Clone, Default)]
struct Received(Arc<Mutex<Vec<Vec<Event>>>>);

impl Received {
    fn servant<A: Fn(&[Event]) -> Answer + Send + Sync + 'static>(&self, answer: A) -> Sets<A> {
        Sets {
            all: Arc::clone(&self.0),
            answer,
        }
    }

    fn largest(&self) -> usize {
        let all = self.0.lock().unwrap();
        all.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Number and delivery of each event, set by set.
    fn sets(&self) -> Vec<Vec<(i32, u64)>> {
        let marks = |event: &Event| (event.data.pad1, Delivery::of(event).number);
        let all = self.0.lock().unwrap();
        all.iter()
            .map(|it| it.iter().map(marks).collect())
            .collect()
    }

    fn numbers(&self) -> Vec<i32> {
        self.sets().into_iter().flatten().map(|it| it.0).collect()
    }
}

/// Connects a consumer of type 16 under a name.
fn connect_as(channel: &EventChannel, name: &str, consumer: &PushConsumer) -> ProxyPushSupplier {
    let admin = channel.for_consumers().unwrap().unwrap();
    let admin: DurableConsumerAdmin = admin.as_object().narrow().unwrap();
    let proxy = admin.obtain_durable_push_supplier(name).unwrap().unwrap();
    let subscription = Pattern::of(16, 0).to_qos();
    proxy
        .connect_push_consumer(Some(consumer), &subscription)
        .unwrap();
    proxy
}

/// A consumer that reports which event it has failed with.
fn set_consumer<S: SetConsumerServant>(orb: &Orb, servant: S) -> PushConsumer {
    orb.root_poa().manager().activate().unwrap();
    let consumer: SetConsumer = orb.root_poa().activate(servant).unwrap();
    consumer.into()
}

/// A consumer of any other ORB.
fn plain_consumer<S: PushConsumerServant>(orb: &Orb, servant: S) -> PushConsumer {
    orb.root_poa().manager().activate().unwrap();
    orb.root_poa().activate(servant).unwrap()
}

fn push(supplier: &PersistentSupplier, numbers: std::ops::Range<u32>) {
    let set: Vec<_> = numbers.map(numbered).collect();
    supplier.push(&set).unwrap();
}

/// Pushes events until each of these has got so many in one call; returns how many were pushed.
fn push_until(supplier: &PersistentSupplier, all: &[&Received], events: usize) -> i32 {
    let mut pushed = 0;
    eventually("a set", || {
        push(supplier, pushed..pushed + 50);
        pushed += 50;
        all.iter().all(|it| it.largest() >= events)
    });
    i32::try_from(pushed).unwrap()
}

/// Conformance: events - persistence by a stream - what has arrived is delivered in one call, in order and within bounds
#[test]
fn the_events_that_have_arrived_are_delivered_in_one_call() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        set_events: 7,
        ..patient(&nats)
    };
    let (served, orb) = (Served::new(config), client());
    let channel = served.seen_by(&orb);
    let (ours, other) = (Received::default(), Received::default());
    let servant = set_consumer(&orb, ours.servant(|_| Ok(())));
    let _ours = connect_as(&channel, "ours", &servant);
    let servant = plain_consumer(&orb, other.servant(|_| Ok(())));
    let _other = connect_as(&channel, "other", &servant);
    let supplier = connect_supplier(&channel).unwrap();
    let pushed = push_until(&supplier, &[&ours, &other], 7);
    for received in [ours, other] {
        eventually("all arrive", || received.numbers().len() >= pushed as usize);
        assert_eq!(received.numbers(), (0..pushed).collect::<Vec<_>>());
        assert_eq!(received.largest(), 7);
    }
}

/// Conformance: events - persistence by a stream - a set has no more bytes than permitted, but for one event
#[test]
fn a_set_is_bounded_by_bytes() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        set_bytes: 5000,
        ..patient(&nats)
    };
    let (served, orb, received) = (Served::new(config), client(), Received::default());
    let channel = served.seen_by(&orb);
    let servant = set_consumer(&orb, received.servant(|_| Ok(())));
    let _consumer = connect_as(&channel, "display", &servant);
    let supplier = connect_supplier(&channel).unwrap();
    let mut pushed = 0;
    eventually("a set", || {
        let mut events: Vec<_> = (pushed..pushed + 20).map(numbered).collect();
        events
            .iter_mut()
            .for_each(|it| it.data.payload = vec![0; 2000]);
        events[0].data.payload = vec![0; 9000];
        pushed += 20;
        supplier.push(&events).unwrap();
        received.largest() > 1
    });
    eventually("all arrive", || received.numbers().len() == pushed as usize);
    assert_eq!(received.largest(), 2);
    let sets = received.sets();
    assert!(
        sets.iter()
            .all(|it| it.len() == 1 || it.iter().all(|it| it.0 % 20 != 0))
    );
}

/// Conformance: events - persistence by a stream - dead letters: an event of a set that fails is one, the others are delivered once
#[test]
fn an_event_of_a_set_fails_alone() {
    let Some(nats) = nats() else { return };
    let served = Served::new(with_dead_letters(patient(&nats), 2));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    push(&supplier, 0..200);
    let delivered = log.clone();
    let _consumer = connect(&orb, &channel, "display", move |event| {
        delivered.add(event);
        match event.data.pad1 % 20 {
            7 => Err(ExceptionKind::Internal.into()),
            13 => Err(ExceptionKind::BadParam.into()),
            _ => Ok(()),
        }
    });
    eventually("the dead letters", || {
        served.channel.statistics().dead_letters == 20
    });
    eventually("the others", || log.numbers().len() == 200);
    for (number, deliveries) in log.deliveries() {
        let expected: &[u64] = match number % 20 {
            7 => &[1, 2],
            _ => &[1],
        };
        let numbers: Vec<_> = deliveries.iter().map(|it| it.number).collect();
        assert_eq!(numbers, expected, "{number}");
    }
    assert_eq!(served.channel.statistics().deferred, 0);
}

/// Conformance: events - persistence by a stream - an exception for a set that does not say which event failed: each comes again, by itself
#[test]
fn the_events_of_a_set_that_fails_come_again_by_themselves() {
    let Some(nats) = nats() else { return };
    let served = Served::new(with_dead_letters(patient(&nats), 1));
    let (orb, received) = (client(), Received::default());
    let channel = served.seen_by(&orb);
    let servant = plain_consumer(
        &orb,
        received.servant(|data| {
            if data.iter().any(|it| it.data.pad1 % 50 == 30) {
                Err(SystemException::from(ExceptionKind::Internal).into())
            } else {
                Ok(())
            }
        }),
    );
    let _consumer = connect_as(&channel, "display", &servant);
    let supplier = connect_supplier(&channel).unwrap();
    let is_bad = |number: i32| number % 50 == 30;
    let mut pushed = 0;
    eventually("a set fails", || {
        push(&supplier, pushed..pushed + 50);
        pushed += 50;
        let sets = received.sets();
        sets.iter()
            .any(|it| it.len() > 1 && it.iter().any(|it| is_bad(it.0)))
    });
    let letters = u64::from(pushed / 50);
    eventually("the dead letters", || {
        served.channel.statistics().dead_letters == letters
    });
    let mut accepted = BTreeMap::new();
    eventually("the others", || {
        accepted.clear();
        for set in received.sets() {
            if !set.iter().any(|it| is_bad(it.0)) {
                for (number, _) in set {
                    *accepted.entry(number).or_insert(0) += 1;
                }
            }
        }
        accepted.len() == pushed as usize - letters as usize
    });
    assert!(accepted.values().all(|times| *times == 1), "{accepted:?}");
    let repeated = |set: &Vec<(i32, u64)>| set.iter().any(|it| it.1 > 1);
    let sets = received.sets();
    assert!(
        sets.iter()
            .filter(|it| repeated(it))
            .all(|it| it.len() == 1)
    );
}

/// Conformance: events - persistence by a stream - dead letters: a consumer that dies with a set makes none of it
#[test]
fn a_set_of_a_consumer_that_does_not_return_goes_to_the_next_one() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        push_timeout: Duration::from_secs(3),
        ..patient(&nats)
    };
    let served = Served::new(with_dead_letters(config, 1));
    let (orb, received, log) = (client(), Received::default(), Log::default());
    let channel = served.seen_by(&orb);
    let (release, held) = mpsc::channel::<()>();
    let (held, processed) = (Mutex::new(held), log.clone());
    let servant = received.servant(move |data: &[Event]| {
        if data.len() > 3 {
            // It dies with the third of them.
            data[..3].iter().for_each(|it| processed.add(it));
            let _ = held.lock().unwrap().recv();
        } else {
            data.iter().for_each(|it| processed.add(it));
        }
        Ok(())
    });
    let _dies = connect_as(&channel, "display", &set_consumer(&orb, servant));
    let supplier = connect_supplier(&channel).unwrap();
    let pushed = push_until(&supplier, &[&received], 4);
    let _next = log.connect(&orb, &channel, "display");
    eventually("all arrive", || log.numbers().len() == pushed as usize);
    log.assert_stored_once();
    drop(release);
    assert_eq!(served.channel.statistics().dead_letters, 0);
    let set = received.sets().into_iter().find(|it| it.len() > 3).unwrap();
    let deliveries = log.deliveries();
    // Those that it had processed come twice, and say so.
    let times: Vec<_> = set.iter().map(|it| deliveries[&it.0].len()).collect();
    assert_eq!(times[..4], [2, 2, 2, 1], "{set:?}");
}

/// Conformance: events - persistence by a stream - a report of a set that cannot be is an exception for all of it
#[test]
fn a_report_of_an_event_that_the_set_does_not_have_is_an_exception_for_the_set() {
    let Some(nats) = nats() else { return };
    let served = Served::new(with_dead_letters(patient(&nats), 1));
    let (orb, received) = (client(), Received::default());
    let channel = served.seen_by(&orb);
    let has_lied = Arc::new(AtomicBool::new(false));
    let lied = Arc::clone(&has_lied);
    let servant = received.servant(move |data: &[Event]| {
        if data.len() < 2 {
            return Ok(());
        }
        lied.store(true, Ordering::Relaxed);
        Err(EventFailedError::EventFailed(EventFailed {
            processed: u32::MAX,
            id: "IDL:omg.org/CORBA/BAD_PARAM:1.0".to_owned(),
            minor_code: 0,
            completed: 9,
        }))
    });
    let _consumer = connect_as(&channel, "display", &set_consumer(&orb, servant));
    let supplier = connect_supplier(&channel).unwrap();
    let mut pushed = 0;
    eventually("a set", || {
        push(&supplier, pushed..pushed + 50);
        pushed += 50;
        has_lied.load(Ordering::Relaxed)
    });
    eventually("each by itself", || {
        let singles = received.sets().into_iter().filter(|it| it.len() == 1);
        let singles: std::collections::BTreeSet<_> = singles.map(|it| it[0].0).collect();
        singles.len() == pushed as usize
    });
    assert_eq!(served.channel.statistics().dead_letters, 0);
}
