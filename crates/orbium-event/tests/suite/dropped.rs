// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers get the number of events that were dropped.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use orbium::interceptor::{Interceptors, ReplyContexts};
use orbium::{Any, Call, Interface, Orb, SystemException};
use orbium_event::cos_event::cos_event_comm::{
    DisconnectedError, PushConsumer, PushConsumerServant,
};
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    ChannelConfig, ConsumerOptions, CosHeader, DeliveryError, DiscardPolicy, Pattern, Peer,
    QueueLimits, Rank, SharedEvent, Sink, Suspension, connect_counting_consumer, connect_supplier,
    dropped_before_reply, dropped_events, new_event,
};
use orbium_testkit::{PATIENCE, eventually};

use crate::served::Served;

/// A channel with queues of two sets that retain the newest.
fn config() -> ChannelConfig {
    ChannelConfig {
        queue: QueueLimits {
            sets: 2,
            discard: DiscardPolicy::Oldest,
            ..QueueLimits::default()
        },
        suspension: Suspension::Wait,
        ..ChannelConfig::default()
    }
}

/// What a consumer reports of a push: the source of the event, and what was dropped before.
type Report = (i32, u64);

/// A consumer's side, its reports, and what ends each push.
fn gate() -> (Reports, mpsc::Receiver<Report>, mpsc::Sender<()>) {
    let (permit, permitted) = mpsc::channel();
    let (send, received) = mpsc::channel();
    (Reports(Mutex::new((send, permitted))), received, permit)
}

struct Reports(Mutex<(mpsc::Sender<Report>, mpsc::Receiver<()>)>);

impl Reports {
    fn report(&self, source: i32, dropped: u64) {
        let both = self.0.lock().unwrap();
        let _ = both.0.send((source, dropped));
        let _ = both.1.recv();
    }
}

impl Peer for Reports {}

impl Sink for Reports {
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        self.push_after(0, events)
    }

    fn push_after(&self, dropped: u64, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        self.report(events[0].header.source, dropped);
        match events[0].header.source {
            6 => Err(DeliveryError::Refused),
            _ => Ok(()),
        }
    }
}

/// Conformance: events - a push carries the number of events dropped before - within a process
#[test]
fn a_consumer_of_the_process_gets_the_number_once() {
    let channel = orbium_event::Channel::new(config());
    let (sink, received, permit) = gate();
    let options = ConsumerOptions {
        waits_for_suspect: true,
        ..ConsumerOptions::default()
    };
    let subscription = channel.subscribe_with(&Pattern::Null, options, Arc::new(sink), || {});
    let subscription = subscription.unwrap();
    let supplier = channel.connect_supplier(&[]).unwrap();
    let next = || received.recv_timeout(PATIENCE).unwrap();
    supplier.push(&[new_event(16, 1)]);
    assert_eq!(next(), (1, 0));
    for source in 2..=7 {
        supplier.push(&[new_event(16, source)]);
    }
    // It refuses 6, and so has not been notified.
    permit.send(()).unwrap();
    assert_eq!(next(), (6, 4));
    permit.send(()).unwrap();
    eventually("the failure", || subscription.statistics().lost == 1);
    drop(permit);
    assert_eq!(next(), (7, 5));
    eventually("the delivery", || subscription.statistics().delivered == 2);
    supplier.push(&[new_event(16, 8)]);
    assert_eq!(next(), (8, 0));
}

/// Conformance: events - a push carries the number of events dropped before - on the wire
#[test]
fn a_consumer_of_another_process_gets_the_number_with_the_next_event() {
    let served = Served::new(config());
    // A oneway fills the buffers of a connection, not the queue of the channel: it is paused.
    let (reports, received, permit) = gate();
    drop(permit);
    let on_events = move |events: &[Event], dropped| {
        reports.report(events[0].header.source, dropped);
    };
    let all = (&Pattern::Null, 0);
    let consumer = connect_counting_consumer(&served.orb, &served.channel, all, on_events);
    let consumer = consumer.unwrap();
    let supplier = connect_supplier(&served.channel, &[(16, 0)]).unwrap();
    let push = |sources: std::ops::RangeInclusive<i32>| {
        for source in sources {
            supplier.push(&[new_event(16, source)]).unwrap();
        }
        supplier.flush().unwrap();
    };
    let next = || received.recv_timeout(PATIENCE).unwrap();
    push(1..=1);
    assert_eq!(next(), (1, 0));
    consumer.suspend().unwrap();
    push(2..=6);
    consumer.resume().unwrap();
    let discarded = served.local.statistics().consumers[0].discarded;
    assert_eq!(discarded, 3);
    assert_eq!(next(), (5, 3));
    assert_eq!(next(), (6, 0));
    push(7..=7);
    assert_eq!(next(), (7, 0));
}

/// A consumer of COS Event that reports what was dropped before each event.
struct Cos(Reports);

impl PushConsumerServant for Cos {
    fn push(&self, call: &Call<'_>, _: &Any) -> Result<(), DisconnectedError> {
        self.0.report(0, dropped_events(call));
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Conformance: events - a push carries the number of events dropped before - COS Event
#[test]
fn a_consumer_of_cos_event_gets_the_number_with_the_next_event() {
    let served = Served::new(config());
    let header = CosHeader {
        r#type: 16,
        source: 1,
    };
    let channel = served.local.serve_cos(&served.server, "Cos", header);
    let (reports, received, permit) = gate();
    let consumer: PushConsumer = served.orb.root_poa().activate(Cos(reports)).unwrap();
    let admin = channel.unwrap().for_consumers().unwrap().unwrap();
    let proxy = admin.obtain_push_supplier().unwrap().unwrap();
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    let supplier = served.local.connect_supplier(&[]).unwrap();
    let next = || received.recv_timeout(PATIENCE).unwrap();
    supplier.push(&[new_event(16, 1)]);
    assert_eq!(next(), (0, 0));
    for source in 2..=6 {
        supplier.push(&[new_event(16, source)]);
    }
    drop(permit);
    assert_eq!((next(), next()), ((0, 3), (0, 0)));
}

/// Conformance: events - a pull carries the number of events dropped before - within a process
#[test]
fn a_consumer_of_the_process_pulls_the_number_once() {
    let channel = orbium_event::Channel::new(config());
    let late = |event: &SharedEvent, now: Instant| {
        let expires = (event.header.source == 4).then(|| now - Duration::from_secs(1));
        let priority = 0;
        Some(Rank { priority, expires })
    };
    let options = ConsumerOptions {
        selection: Some(Arc::new(late)),
        ..ConsumerOptions::default()
    };
    let subscribed = channel.subscribe_pulled(&Pattern::Null, options, Arc::new(Silent), || {});
    let subscription = subscribed.unwrap();
    let supplier = channel.connect_supplier(&[]).unwrap();
    let next = || {
        let until = Instant::now() + PATIENCE;
        let (events, dropped) = subscription.pull_counting(1, until).unwrap();
        (events[0].header.source, dropped)
    };
    // The queue has place for two, and 4 expires.
    for source in 1..=5 {
        supplier.push(&[new_event(16, source)]);
    }
    assert_eq!((next(), next()), ((3, 3), (5, 0)));
}

struct Silent;

impl Peer for Silent {}

/// Conformance: events - a pull carries the number of events dropped before - COS Event, by an ORB with and without reply contexts
#[test]
fn a_consumer_of_cos_event_pulls_the_number_with_the_next_event() {
    for (interceptors, number) in [
        (Interceptors::new().with_reply_contexts(), 3),
        (Interceptors::new(), 0),
    ] {
        let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = builder.interceptors(interceptors).build().unwrap();
        server.root_poa().manager().activate().unwrap();
        let served = Served::by(server, config());
        let header = CosHeader {
            r#type: 16,
            source: 1,
        };
        let local = served.local.serve_cos(&served.server, "Cos", header);
        let url = served.server.object_to_string(&local.unwrap());
        let channel: orbium_event::cos_event::cos_event_channel_admin::EventChannel =
            served.orb.resolve(&url).unwrap();
        let admin = channel.for_consumers().unwrap().unwrap();
        let proxy = admin.obtain_pull_supplier().unwrap().unwrap();
        proxy.connect_pull_consumer(None).unwrap();
        let replied = ReplyContexts::default();
        let proxy = proxy.with_reply_contexts(&replied);
        let supplier = served.local.connect_supplier(&[]).unwrap();
        for source in 1..=5 {
            supplier.push(&[new_event(16, source)]);
        }
        proxy.pull().unwrap();
        assert_eq!(dropped_before_reply(&replied), number);
        assert!(proxy.try_pull().unwrap().has_event);
        assert_eq!(dropped_before_reply(&replied), 0);
    }
}
